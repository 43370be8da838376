#include "core/rules/lang/diagnostics.h"

#include <vector>

#include "core/base/text.h"

namespace regraft::rules {

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kLongestCharacter = 4;
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = 1;
    while (length < kLongestCharacter && !is_utf8(text.substr(i, length))) ++length;
    const std::string_view character = text.substr(i, length);
    const auto lead = static_cast<unsigned char>(character[0]);
    const bool control = lead < 0x20 || lead == 0x7F || (character >= "\xC2\x80" && character < "\xC2\xA0");
    if (is_utf8(character) && !control) {
      out += character;
      i += character.size();
    } else {
      out += "\\x";
      out += kDigits[lead >> 4];
      out += kDigits[lead & 0xF];
      ++i;
    }
  }
  return out;
}

void fail(std::string_view file, Position at, const std::string& what, const std::string& remedy) {
  throw RuleError(printable(what),
                  std::string(file) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column),
                  printable(remedy));
}

std::string nearest(std::string_view name, std::span<const std::string_view> known, std::string otherwise) {
  constexpr std::size_t kLongest = 48;  // what is longer was not meant to be a name; distances are quadratic
  if (name.size() > kLongest) return otherwise;
  const auto best = regraft::nearest(name, std::vector<std::string>(known.begin(), known.end()));
  return best ? "did you mean '" + *best + "'?" : otherwise;
}

}
