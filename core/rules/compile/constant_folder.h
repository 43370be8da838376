#pragma once

// Internal to core/rules: what the expressions of a rule come to that depend on no graph.

#include <map>
#include <set>
#include <string>

#include "core/rules/compile/quantity.h"
#include "core/rules/lang/syntax.h"

namespace regraft::rules {

/// Numbers, lists and texts that are written out in a rule, arithmetic on them, and names for such values,
/// used after they were given. Takes time linear in the text.
class ConstantFolder {
 public:
  /// `text` must live as long.
  explicit ConstantFolder(const RuleText& text);

  /// `none` where the graph decides.
  Quantity value(const Expr& e) const;
  /// Whether it is a zero, or a list or constant tensor with a zero among its elements.
  bool has_zero(const Expr& e) const;
  bool names(const std::string& name) const { return values_.contains(name) || zeros_.contains(name); }

 private:
  std::map<std::string, Quantity> values_;
  std::set<std::string> zeros_;  // constant tensors
};

}
