#pragma once

// Internal to core/rules: what sort of value each expression of a rule has.

#include <functional>
#include <string>

#include "core/rules/compile/compiled_rule.h"

namespace regraft::rules {

/// Called with the place, what is wrong there and what to do; does not return.
using ReportKind = std::function<void(Position at, const std::string& what, const std::string& remedy)>;

/// Reports the first expression whose value could never be of the sort that its place takes: a guard that is
/// no condition, arithmetic on a text, a comparison of a list with a real number. What cannot be told
/// is not reported.
void check_kinds(const CompiledRule& rule, const ReportKind& report);

}  // namespace regraft::rules
