#pragma once

// Internal to core/rules: what sort of value each expression of a rule has.

#include "core/rules/compile/compiled_rule.h"
#include "core/rules/compile/rule_reporter.h"

namespace regraft::rules {

/// Reports the first expression whose value could never be of the sort that its place takes: a guard that is
/// no condition, arithmetic on a text, a comparison of a list with a real number. What cannot be told
/// is not reported.
void check_kinds(const CompiledRule& rule, const RuleReporter& reporter);

}
