#pragma once

// Internal to core/rules: the right side of a rule.

#include <set>
#include <vector>

#include "core/rules/compile/expression_compiler.h"
#include "core/rules/compile/op_signature.h"

namespace regraft::rules {

/// Compiles what replaces the pattern to the steps that build it, and finds out what they read. Keeps
/// references to what it is made of.
class ReplacementCompiler {
 public:
  /// `left` has the names of the left side, `constants` its tensors that must be constants.
  ReplacementCompiler(CompiledRule& rule, const RuleScope& left, const std::set<Slot>& constants)
      : rule_(rule), left_(left), constants_(constants) {}
  ReplacementCompiler(const ReplacementCompiler&) = delete;  // its parts refer to each other
  ReplacementCompiler& operator=(const ReplacementCompiler&) = delete;

  /// Once for a rule, whose left side is planned.
  void compile(const RuleText& text);

 private:
  void compile_clause(const Clause& clause);
  void compile_sole_root(const Clause& clause);
  void compile_let(const Clause& clause, std::int16_t member_set);
  void compile_outputs(const Clause& clause, std::int16_t member_set);
  Slot tensor(const Expr& e, std::int16_t member_set);
  Slot operation(const Expr& e, std::int16_t member_set, std::vector<Slot> outputs, bool sequence);
  Slot infix(const Expr& e, std::int16_t member_set);
  Slot constant(const Expr& e, std::int16_t member_set);
  RightOperand operand(const Expr& e, std::int16_t member_set);
  RightOperand single_operand(const Expr& e, std::int16_t member_set);
  void attributes(const Expr& e, RightStep& step);
  void replace(Slot before, Slot after, Position at);
  void bind(const Target& target, Slot slot);
  void check_replacements() const;
  void collect_reads(Position at);
  bool never_makes_cycle() const;

  CompiledRule& rule_;
  const RuleScope& left_;
  const std::set<Slot>& constants_;
  RuleScope scope_{&left_};
  const RuleReporter& reporter_ = scope_.reporter();
  OpSignature signature_{scope_};
  ExpressionCompiler expressions_{scope_};
};

}
