#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/rules/lang/tokenize.h"

namespace regraft::rules {

/// Names of rules and of parts: lower case letters, digits and '-'.
bool rule_name_char(char c);

/// Rule text with its parts in place of their names.
struct Expanded {
  std::string text;
  std::vector<Token> tokens;  // each says where it is written; the last is of kind end
};

/// Text that rules of a file share: `$name = text` defines a part, and `$name` stands for its text from there
/// on. Names in it are the rule's own. All throw RuleError.
class Parts {
 public:
  explicit Parts(std::string_view file) : file_(file) {}

  /// A definition, whose first line is `line`.
  void define(std::string_view body, std::uint32_t line);
  Expanded expand(std::string_view body, std::uint32_t line) const;

 private:
  std::string_view file_;
  std::map<std::string, Expanded, std::less<>> parts_;
  std::size_t total_ = 0;  // characters and tokens of all parts
};

}
