#pragma once

// Internal to core/rules: what a match must fulfil besides its operations.

#include <set>
#include <vector>

#include "core/rules/compile/compiled_rule.h"

namespace regraft::rules {

struct PatternConditions {
  std::vector<Check> checks;  // in any order: MatchPlanner says when each is done
  std::set<Slot> constants;   // tensors that must be constants
};

}
