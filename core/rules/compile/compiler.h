#pragma once

// Internal to core/rules: the state shared by the steps of compiling one rule.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/rules/compile/compile_kinds.h"
#include "core/rules/compile/compiled_rule.h"
#include "core/rules/lang/syntax.h"

namespace regraft::rules {

enum class Sort : std::uint8_t { tensor, quantity, op, constant };

struct Symbol {
  Sort sort = Sort::tensor;
  Slot slot;
  Quantity constant;  // a value of a finite set
  Position at;
};

using Constants = std::map<std::string, Quantity>;

/// Compiles one rule for one choice of its finite sets: left side, plan, right side.
class Compiler {
 public:
  Compiler(const RuleText& text, std::string_view file, const Constants& constants);

  CompiledRule run();

 private:
  // --- compiler.cc: names, slots, errors
  [[noreturn]] void error(Position at, const std::string& what, const std::string& remedy) const;
  ReportKind reporter() const;
  std::int16_t domain_of(const std::string& name);
  Slot fresh(Sort sort, std::int16_t domain);
  const Symbol* find(const std::string& name) const;
  [[noreturn]] void unknown_name(const Expr& name, std::string_view expected) const;
  /// The set that an expression's member variables belong to, outside of spreads; -1: none. Errors when there
  /// are two.
  std::int16_t member_domain(const Expr& e);
  bool is_tensor(const Expr& e) const;
  graph::OpKind some_kind(const KindSet& kinds) const;
  KindSet kinds_of_operation(const Expr& e) const;
  void check_arity(const Expr& e, const KindSet& kinds) const;
  graph::Attr attr_of_item(const Expr& e, graph::OpKind kind, const AttrItem& item, std::size_t position,
                           std::set<graph::Attr>& seen) const;

  // --- compile_expr.cc: attribute expressions
  Code code(const Expr& e);
  Code code_of_name(const Expr& e);
  Code code_of_call(const Expr& e);
  Code code_of_infix(const Expr& e);
  void check_type_name(const Expr& name) const;
  Code code_of_comprehension(const Expr& e);
  Code code_of_spread(const Expr& e);
  Slot tensor_argument(const Expr& e);

  // --- compile_attrs.cc: attributes of patterns
  void pattern_label(const Expr& e, PatternNode& node);
  void pattern_attrs(const Expr& e, PatternNode& node);
  bool binds_attribute(const Expr& e) const;
  Slot declare_quantity(const Expr& name);
  void take_apart(const Expr& list, Slot hidden, std::int16_t domain);
  void defer_equality(Code held, const Expr& wanted, std::int16_t domain);
  void require_defaults(const Expr& e, graph::OpKind kind, const std::set<graph::Attr>& seen,
                        PatternNode& node);

  // --- compile_left.cc: patterns, guards
  void left();
  void collect_lets();
  void left_clause(const Clause& clause);
  void root_operation(const Clause& clause);
  std::size_t pattern_node(const Expr& e, std::int16_t domain, std::vector<OperandPattern> outputs);
  OperandPattern operand(const Expr& e, std::int16_t domain);
  OperandPattern literal_operand(const Expr& e, double value, std::int16_t domain);
  Slot declare_tensor(const std::string& name, bool member, const std::string& domain, Position at);
  void guard(const Expr& e);

  // --- plan.cc: how matching walks
  void plan();
  void classify_domains();
  std::size_t choose_anchor() const;
  void walk(std::size_t node, Step::Via via, Slot from, std::uint32_t distance);
  bool walk_to_consumer();
  void schedule_checks();
  void finish_siblings();
  void find_locality();
  bool is_interior(std::size_t node) const;
  std::optional<std::size_t> bound_at(const Code& code) const;

  // --- compile_sense.cc: what is well formed, and could never be meant
  void check_sense() const;
  void check_used() const;
  std::optional<graph::OpKind> only_kind(const Expr& e) const;

  // --- compile_right.cc: replacements
  void right();
  void right_clause(const Clause& clause);
  Slot right_tensor(const Expr& e, std::int16_t domain);
  Slot right_operation(const Expr& e, std::int16_t domain, std::vector<Slot> outputs, bool sequence);
  Slot right_infix(const Expr& e, std::int16_t domain);
  Slot right_constant(const Expr& e, std::int16_t domain);
  RightOperand right_operand(const Expr& e, std::int16_t domain);
  RightOperand single_operand(const Expr& e, std::int16_t domain);
  void right_attrs(const Expr& e, RightStep& step);
  void replace(Slot before, Slot after, Position at);
  void bind_right(const Target& target, Slot slot);
  void check_replacements();
  void collect_reads();

  struct PendingCheck {
    Check check;
    bool scheduled = false;
  };
  struct DeferredAttr {
    Check check;  // its second argument is still to come
    const Expr* value;
  };

  const RuleText& text_;
  std::string_view file_;
  CompiledRule rule_;
  std::map<std::string, Symbol> names_;
  std::map<std::string, Symbol> right_names_;
  std::set<std::string> let_names_;
  std::vector<PendingCheck> checks_;
  std::vector<DeferredAttr> deferred_attrs_;
  std::set<std::pair<std::int16_t, std::uint16_t>> constant_slots_;  // const(...) among the guards
  std::map<std::pair<int, std::pair<std::int16_t, std::uint16_t>>, std::size_t> bound_step_;  // (sort, slot)
  std::vector<std::uint32_t> distances_;  // of nodes from the anchor
  std::vector<bool> planned_;
  std::optional<Slot> unnamed_root_;
  bool on_right_ = false;
};

}  // namespace regraft::rules
