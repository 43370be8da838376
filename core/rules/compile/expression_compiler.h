#pragma once

// Internal to core/rules: numbers, lists and conditions of a rule.

#include "core/rules/compile/rule_scope.h"

namespace regraft::rules {

/// Compiles attribute expressions, bindings and guards. Keeps a reference to the scope, in which variables of
/// comprehensions get slots.
class ExpressionCompiler {
 public:
  explicit ExpressionCompiler(RuleScope& scope) : scope_(scope), reporter_(scope.reporter()) {}

  Code compile(const Expr& e);

 private:
  std::vector<Code> compile_all(const std::vector<Expr>& list);
  Code name(const Expr& e);
  Code call(const Expr& e);
  Code infix(const Expr& e);
  void check_type_name(const Expr& name) const;
  Code comprehension(const Expr& e);
  Code spread(const Expr& e);

  RuleScope& scope_;
  const RuleReporter& reporter_;
};

}
