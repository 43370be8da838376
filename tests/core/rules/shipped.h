#pragma once

#include <string>

#include "core/rules/set/rule_set.h"

namespace regraft::rules {

/// The rules of configs/rules.
inline const RuleSet& shipped() {
  static const RuleSet rules = RuleSet::load(std::string(REGRAFT_SOURCE_DIR) + "/configs/rules");
  return rules;
}

}  // namespace regraft::rules
