#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/rules/lang/rule_error.h"

namespace regraft::rules {

/// A place in a rules file, from 1.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// The text with control characters, and bytes that are no UTF-8, as \x00: what a message may quote.
std::string printable(std::string_view text);

/// Throws RuleError at "file:line:column"; `what` and `remedy` are made printable.
[[noreturn]] void fail(std::string_view file, Position at, const std::string& what,
                       const std::string& remedy);

/// "did you mean 'Conv'?" for the name nearest to `name` by edit distance, or `otherwise` when none is near.
std::string nearest(std::string_view name, std::span<const std::string_view> known, std::string otherwise);

}
