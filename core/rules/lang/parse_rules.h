#pragma once

#include <string_view>
#include <vector>

#include "core/rules/lang/rule_error.h"
#include "core/rules/lang/syntax.h"

namespace regraft::rules {

/// Reads a whole file. Throws RuleError with file:line:column.
std::vector<RuleText> parse_rules(std::string_view text, std::string_view file);

}
