#pragma once

// Internal to core/rules: attributes of operations on the left side.

#include <set>
#include <string>
#include <vector>

#include "core/rules/compile/expression_compiler.h"
#include "core/rules/compile/op_signature.h"
#include "core/rules/compile/pattern_conditions.h"

namespace regraft::rules {

/// What stands between the braces of a pattern binds attributes to names, or compares them; what is not
/// mentioned has its default. Keeps references to what it is made of.
class AttributePatterns {
 public:
  AttributePatterns(RuleScope& scope, ExpressionCompiler& expressions, PatternConditions& conditions)
      : scope_(scope), expressions_(expressions), conditions_(conditions) {}

  /// The name has a value of its own: between braces it is compared.
  void never_bind(const std::string& name) { valued_.insert(name); }
  void compile(const Expr& operation, PatternNode& node);
  /// Compiles what is compared: its names may be bound by any pattern, so that all must be read before.
  void compile_comparisons();

 private:
  bool binds(const Expr& e) const;
  void take_apart(const Expr& list, Slot hidden, std::int16_t member_set);
  void compare_later(Code held, const Expr& wanted, std::int16_t member_set);
  void require_defaults(const Expr& e, graph::OpKind kind, const std::set<graph::Attr>& seen,
                        PatternNode& node) const;

  struct Comparison {
    Check check;  // its second argument is still to come
    const Expr* wanted;
  };

  RuleScope& scope_;
  ExpressionCompiler& expressions_;
  PatternConditions& conditions_;
  const RuleReporter& reporter_ = scope_.reporter();
  OpSignature signature_{scope_};
  std::set<std::string> valued_;
  std::vector<Comparison> comparisons_;
};

}
