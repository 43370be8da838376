#pragma once

// Internal to core/rules: values that are written out in a rule and that no graph has.

#include <functional>
#include <optional>

#include "core/rules/compile/compiled_rule.h"
#include "core/rules/compile/rule_reporter.h"
#include "core/rules/lang/syntax.h"

namespace regraft::rules {

/// The one op that an operation, or a call of an op variable, stands for; nothing where there are several.
using KindOf = std::function<std::optional<graph::OpKind>(const Expr& e)>;

/// Reports the first of each: a division by a written zero, an axis or dim beyond the rank that a left side's
/// guard allows, a negative axis of a pattern. (An axis of a graph counts from the front.) Also a text that
/// an attribute does not know, a perm that is no permutation, and a type that is none.
void check_values(const RuleText& text, const KindOf& kind_of, const RuleReporter& reporter);

}
