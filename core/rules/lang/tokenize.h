#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/rules/lang/diagnostics.h"

namespace regraft::rules {

struct Token {
  enum class Kind : std::uint8_t { end, name, integer, real, text, symbol };
  Kind kind = Kind::end;
  std::string text;        // the name, the symbol, or the contents of a string
  std::string member_set;  // names: what stands after '@'
  bool member = false;     // names: followed by '@'
  std::int64_t integer = 0;
  double real = 0;
  Position at;
};

/// Splits rule text, which starts at line `first_line`, into tokens; the last is of kind end. '#' begins a
/// comment.
std::vector<Token> tokenize(std::string_view text, std::uint32_t first_line, std::string_view file);

}
