#pragma once

#include <cctype>
#include <string>

#include "core/rules/set/rule_set.h"

namespace regraft::rules {

/// The rules of configs/rules.
inline const RuleSet& shipped() {
  static const RuleSet rules = RuleSet::load(std::string(REGRAFT_SOURCE_DIR) + "/configs/rules");
  return rules;
}

/// With those that must be asked for.
inline const RuleSet& all_shipped() {
  static const RuleSet rules =
      RuleSet::load(std::string(REGRAFT_SOURCE_DIR) + "/configs/rules", RuleChoice::all());
  return rules;
}

/// What a test of a rule is called.
inline std::string test_name(const RuleSet& rules, std::uint32_t rule) {
  std::string name = rules.info(rule).name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

}
