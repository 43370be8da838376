#pragma once

// Internal to core/rules: the left side of a rule.

#include <vector>

#include "core/rules/compile/attribute_patterns.h"

namespace regraft::rules {

/// Compiles patterns and guards to the nodes of a rule. Keeps references to what it is made of.
class PatternCompiler {
 public:
  PatternCompiler(CompiledRule& rule, RuleScope& scope) : rule_(rule), scope_(scope) {}
  PatternCompiler(const PatternCompiler&) = delete;  // its parts refer to each other
  PatternCompiler& operator=(const PatternCompiler&) = delete;

  /// Once for a rule.
  PatternConditions compile(const RuleText& text);

 private:
  void declare_values(const RuleText& text);
  void compile_clause(const Clause& clause);
  void compile_root(const Clause& clause);
  void refuse_two_makers(const std::vector<OperandPattern>& outputs, Position at) const;
  void compile_node(const Expr& e, std::int16_t member_set, std::vector<OperandPattern> outputs);
  void compile_label(const Expr& e, PatternNode& node);
  OperandPattern operand(const Expr& e, std::int16_t member_set);
  OperandPattern literal_operand(const Expr& e, double value, std::int16_t member_set);
  void guard(const Expr& e);

  CompiledRule& rule_;
  RuleScope& scope_;
  const RuleReporter& reporter_ = scope_.reporter();
  OpSignature signature_{scope_};
  ExpressionCompiler expressions_{scope_};
  PatternConditions conditions_;
  AttributePatterns attributes_{scope_, expressions_, conditions_};
  bool has_unnamed_root_ = false;
};

}
