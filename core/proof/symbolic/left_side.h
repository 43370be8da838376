#pragma once

// Internal to core/proof: a rule's left side in one case.

#include "core/proof/symbolic/symbolic_rule.h"

namespace regraft::proof {

/// Binds what the pattern names and assumes what its types and guards say.
class LeftSide {
 public:
  LeftSide(const rules::CompiledRule& rule, ProofCase& state, SymbolicBindings& bindings)
      : rule_(rule), state_(state), b_(bindings) {}

  /// False where the case is impossible.
  bool run();

 private:
  OpCase op_of(const rules::PatternNode& node);
  void add(const rules::PatternNode& node, std::size_t member);
  std::size_t rank_of(graph::OpKind kind, std::size_t position, const SymbolicInputs& before);
  SymbolicTensor leaf(graph::OpKind kind, const SymbolicInputs& before, rules::Slot slot, std::size_t member);
  SymbolicAttrs attributes(graph::OpKind kind, const rules::PatternNode& node, std::size_t member,
                           const SymbolicInputs& in, std::size_t outputs);
  SymbolicQuantity some_attribute(graph::OpKind kind, const graph::AttrSpec& spec, const SymbolicInputs& in,
                                  std::size_t outputs, std::size_t& axes);
  SymbolicQuantity distinct_axes(std::size_t count, std::size_t rank);
  bool check_what_is_ready(bool all);
  bool take_fact(const rules::Code& code, const SymbolicScope& scope);
  bool siblings_agree();

  const rules::CompiledRule& rule_;
  ProofCase& state_;
  SymbolicBindings& b_;
  std::vector<const rules::Check*> pending_;
};

}
