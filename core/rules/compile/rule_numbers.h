#pragma once

// Internal to core/rules, core/proof and core/rulegen: the numbers that a rule names.

#include <vector>

#include "core/rules/compile/compiled_rule.h"

namespace regraft::rules {

/// Numbers, each once, in order of appearance: in guards, attributes and operands of either side. A rule may
/// be wrong on one side of a number alone (if b < 10.0 then ...). Examples show that whose attributes, dims
/// and sets lie on the number, beside it and beyond.
struct RuleNumbers {
  std::vector<double> reals;        // all of them
  std::vector<std::int64_t> whole;  // those that may be sizes: 2 and more
  bool computes = false;            // elements of the right side's constants, from others

  static RuleNumbers of(const CompiledRule& rule);
  /// Whether half floats hold all of them, and all that is computed from them: a rounded number is not the
  /// rule's.
  bool in_half_floats() const;
};

}
