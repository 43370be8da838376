#pragma once

// Internal to core/rules: rules that are well formed, but cannot be meant.

#include "core/rules/compile/rule_scope.h"

namespace regraft::rules {

/// Reports the first of each: a value that no graph has (check_values.h), a guard that is the same for every
/// graph, a right side that is the left side, a value that is made and never used. `left` has the left side's
/// names.
void lint(const RuleText& text, const CompiledRule& rule, const RuleScope& left);

}
