#include "core/rules/lang/parts.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <utility>

#include "core/rules/lang/diagnostics.h"

namespace regraft::rules {
namespace {

// Longer than any rule needs. They keep hostile input from nesting deeper than the stack, and parts of parts
// from filling the memory.
constexpr std::size_t kMostTokens = 2000, kMostBytes = 1 << 20;

/// The name behind the '$' at `at`.
std::string_view name_at(std::string_view body, std::size_t at) {
  std::size_t end = at + 1;
  while (end < body.size() && rule_name_char(body[end])) ++end;
  return body.substr(at + 1, end - at - 1);
}

/// The next '$' that is not between quotes, or the end.
std::size_t find_part(std::string_view body, std::size_t from) {
  bool quoted = false;
  for (; from < body.size() && (quoted || body[from] != '$'); ++from)
    quoted = body[from] != '\n' && quoted != (body[from] == '"');
  return from;
}

Position position(std::string_view body, std::size_t at, std::uint32_t line) {
  Position position{line, 1};
  for (const char c : body.substr(0, at)) {
    ++position.column;
    if (c == '\n') position = {position.line + 1, 1};
  }
  return position;
}

/// The tokens of a piece of the body, which say where they stand in it.
std::vector<Token> tokens_between(std::string_view body, std::size_t from, std::size_t to, std::uint32_t line,
                                  std::string_view file) {
  const std::size_t begins = body.substr(0, from).rfind('\n') + 1;  // of its line
  const auto lines = std::ranges::count(body.substr(0, begins), '\n');
  std::string piece(body.substr(begins, to - begins));
  std::fill_n(piece.begin(), from - begins, ' ');
  return tokenize(piece, line + static_cast<std::uint32_t>(lines), file);
}

}  // namespace

bool rule_name_char(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0 || (c >= '0' && c <= '9') || c == '-';
}

void Parts::define(std::string_view body, std::uint32_t line) {
  const std::string name(name_at(body, 0));
  std::size_t equals = 1 + name.size();
  while (equals < body.size() && (body[equals] == ' ' || body[equals] == '\t')) ++equals;
  if (name.empty() || body.substr(equals, 1) != "=" || body.substr(equals, 2) == "==") {
    fail(file_, {line, 1}, "a part is written $name = text",
         "names are lower case letters, digits and '-'; a rule begins with its own name");
  }
  std::string text(body);
  for (std::size_t i = 0; i <= equals; ++i) text[i] = ' ';
  Expanded part = expand(text, line);
  if (part.tokens.size() == 1)
    fail(file_, {line, 1}, "the part $" + name + " is empty", "write $name = text");
  const std::size_t first = part.text.find_first_not_of(" \t\r\n");
  part.text = part.text.substr(first, part.text.find_last_not_of(" \t\r\n") + 1 - first);
  total_ += part.text.size() + part.tokens.size();
  if (total_ > kMostBytes)
    fail(file_, {line, 1}, "the parts of this file are too long", "write shorter ones");
  if (!parts_.emplace(name, std::move(part)).second)
    fail(file_, {line, 1}, "the part $" + name + " is defined twice", "rename one");
}

Expanded Parts::expand(std::string_view body, std::uint32_t line) const {
  Expanded out;
  for (std::size_t from = 0;;) {
    const std::size_t to = find_part(body, from);
    const std::vector<Token> own = tokens_between(body, from, to, line, file_);
    out.text += body.substr(from, to - from);
    out.tokens.insert(out.tokens.end(), own.begin(), own.end());
    if (to < body.size()) {
      const std::string_view name = name_at(body, to);
      const auto part = parts_.find(name);
      if (part == parts_.end()) {
        fail(file_, position(body, to, line), "unknown part '$" + std::string(name) + "'",
             "define it above: $name = text");
      }
      out.text += part->second.text;
      out.tokens.pop_back();
      out.tokens.insert(out.tokens.end(), part->second.tokens.begin(), part->second.tokens.end() - 1);
      from = to + 1 + name.size();
    }
    if (out.tokens.size() > kMostTokens || out.text.size() > kMostBytes) {
      fail(file_, {line, 1},
           "a rule of more than " + std::to_string(kMostTokens) + " tokens or " + std::to_string(kMostBytes) +
               " bytes",
           "split it");
    }
    if (to == body.size()) return out;
  }
}

}
