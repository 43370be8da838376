#pragma once

// Internal to core/rules: errors of one rule.

#include <string>
#include <string_view>

#include "core/rules/lang/diagnostics.h"

namespace regraft::rules {

/// Knows which rule is compiled. Keeps views: file and name must live as long.
class RuleReporter {
 public:
  RuleReporter(std::string_view file, std::string_view name, Position at)
      : file_(file), name_(name), at_(at) {}

  /// Throws RuleError at that place of the file; `what` follows the rule's name.
  [[noreturn]] void fail(Position at, const std::string& what, const std::string& remedy) const {
    rules::fail(file_, at, "rule '" + std::string(name_) + "': " + what, remedy);
  }
  /// At the rule's beginning: for what is wrong with all of it.
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const {
    fail(at_, what, remedy);
  }

 private:
  std::string_view file_, name_;
  Position at_;
};

}
