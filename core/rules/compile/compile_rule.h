#pragma once

// Internal to core/rules: from the syntax of a rule to the rule itself.

#include <string>
#include <string_view>
#include <vector>

#include "core/rules/compile/compiled_rule.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/lang/syntax.h"

namespace regraft::rules {

/// One rule for each choice of its finite sets, named "rule" or "rule/k=3".
struct NamedRule {
  std::string name;
  CompiledRule rule;
};

/// Checks and compiles. Throws RuleError.
std::vector<NamedRule> compile_rule(const RuleText& text, std::string_view file);

}
