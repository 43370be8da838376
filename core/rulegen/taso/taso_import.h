#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regraft::rulegen {

/// What became of one rule of the file.
struct TasoOutcome {
  enum class Status : std::uint8_t { imported, guarded, refused };

  std::size_t number = 0;  // in the file, from 0
  Status status = Status::refused;
  std::string text;                  // the line, where it is not refused
  std::string reason;                // why it is guarded or refused
  std::string counterexample;        // where the rule as TASO has it is unsound
  std::size_t examples = 0;          // exact examples that agree
  std::vector<std::string> known;    // names of the rules of the given set that do the same, if there are any
  bool known_for_constants = false;  // they do so only where the second operands of products are constants
};

const char* to_string(TasoOutcome::Status status);

/// What became of the rules of a file.
struct TasoImport {
  std::vector<TasoOutcome> outcomes;

  std::size_t count(TasoOutcome::Status status) const;
  std::size_t unsound() const;                         // as TASO has them
  std::size_t known() const;                           // among those not refused
  std::vector<std::size_t> sound_but_unknown() const;  // numbers of those imported that no known rules make
  /// The lines, with what was found in comments: a rules file.
  std::string rules_text(const std::string& source) const;
  std::string json() const;
};

}
