#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/rulegen/enumerate/generate_term.h"
#include "core/rulegen/taso/taso_file.h"
#include "core/rules/set/rule_set.h"

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

/// A rule of the file as a pair of terms. TASO's convolutions have no group: it is the number of channels of
/// the input over that of the weight. Ops that TASO fuses (convolution with Relu) are their parts. Throws
/// RulegenError for what terms cannot say.
TermRule taso_term(const TasoRule& rule, std::vector<Form>& forms);

struct TasoOptions {
  std::size_t examples = 100;  // of each rule, on equal shapes and on others each
  std::uint64_t seed = 1;
  std::size_t derivation_steps = 3;  // of known rules that count as the same
};

/// Imports each rule: written in the rule language, tried on exact examples, guarded or refused by what they
/// say, compared with the rules of `known`.
TasoImport import_taso(const std::vector<TasoRule>& rules, const rules::RuleSet& known,
                       const TasoOptions& options);

const char* to_string(TasoOutcome::Status status);

}  // namespace regraft::rulegen
