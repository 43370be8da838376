#pragma once

// Internal to core/rules: what operations take, and whether a rule writes them so.

#include <set>

#include "core/rules/compile/rule_scope.h"

namespace regraft::rules {

/// Reads what either side of a rule says of one operation. Keeps a reference to the scope.
class OpSignature {
 public:
  explicit OpSignature(const RuleScope& scope) : scope_(scope), reporter_(scope.reporter()) {}

  /// The kinds of its names; an error where one is unknown.
  KindSet kinds(const Expr& operation) const;
  /// Refuses too few or too many operands for one of the kinds.
  void check_arity(const Expr& e, const KindSet& kinds) const;
  /// The attribute that is given at a position between the braces, which must not be among those seen.
  graph::Attr attr(const Expr& e, graph::OpKind kind, std::size_t position,
                   std::set<graph::Attr>& seen) const;

 private:
  const RuleScope& scope_;
  const RuleReporter& reporter_;
};

}
