#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/rules/lang/rule_marks.h"

namespace regraft::rules {

/// How well a rule is known to be an identity over the reals, from best to least (core/proof): it follows
/// from the axioms, for all dims; it holds exactly on all small examples; random examples agree.
enum class RuleStatus : std::uint8_t { proved, bounded_checked, tested };

/// What others may know of a rule.
struct RuleInfo {
  std::string name;            // "conv-bn"
  std::string family;          // the file or section it stands in
  bool together = false;       // a move over a whole class: it is taken with the others of its family
  std::string text;            // the rule's own line without its marks, white space normalised
  std::filesystem::path file;  // that it was read from; its statuses and proofs lie beside it
  std::uint32_t line = 0;      // where it begins there
  RuleStatus status = RuleStatus::tested;
  /// The domain of a runtime's own op that the right side makes; empty: it makes standard ops alone.
  std::string domain = {};
  std::vector<RuleMark> marks = {};

  bool has(RuleMark mark) const;
};

/// Which rules of a file or folder are wanted.
struct RuleChoice {
  RuleStatus least = RuleStatus::bounded_checked;
  /// Domains of a runtime's own ops that rules may make; others are left out.
  std::vector<std::string> domains = {};

  RuleChoice(RuleStatus worst = RuleStatus::bounded_checked, std::vector<std::string> allowed = {})  // NOLINT
      : least(worst), domains(std::move(allowed)) {}
  /// Every rule that there is.
  static RuleChoice all();
};

}
