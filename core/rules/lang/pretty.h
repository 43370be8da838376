#pragma once

#include <string>
#include <string_view>

#include "core/rules/lang/rule_error.h"

namespace regraft::rules {

struct RuleText;

/// A rule as a .rules file would have it, from its syntax: single blanks, as few parentheses as its meaning
/// allows, lines of at most 110 columns where clauses can be parted. Reading it again gives the same syntax.
std::string pretty(const RuleText& rule);
/// The same of one rule's text, as RuleInfo holds it. Throws RuleError.
std::string pretty(std::string_view rule_text);

}
