#pragma once

#include <string_view>
#include <vector>

#include "core/rules/lang/rule_error.h"
#include "core/rules/lang/syntax.h"
#include "core/rules/lang/tokenize.h"

namespace regraft::rules {

/// Parses the two sides of one rule, without its name. Throws RuleError.
void parse_rule(std::vector<Token> tokens, std::string_view file, RuleText& out);

}
