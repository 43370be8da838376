#pragma once

// Internal to core/rules: makes the right side of a rule for one match.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/rules/instantiate/bindings.h"
#include "core/rules/instantiate/operation_memo.h"

namespace regraft::rules {

/// Carries out the right side on bindings, into a graph or only as types.
///
/// Operations on constants alone become weight expressions. An operation that the graph already holds is used
/// instead of a second one with the same attributes, operands and types. Operations of the match come first.
/// Where only types are made, only the match's operations are looked at, so that the match alone decides what
/// is legal.
class Builder {
 public:
  using Tensors = InlineVector<Tensor, 12>;

  /// Types only; the graph is not changed.
  Builder(const CompiledRule& rule, const graph::Graph& graph, Bindings& bindings, OperationMemo& memo)
      : rule_(rule), graph_(graph), bindings_(bindings), memo_(memo) {}
  /// Adds nodes to `target`.
  Builder(const CompiledRule& rule, graph::Graph& target, Bindings& bindings, OperationMemo& memo,
          std::vector<graph::NodeId>& added)
      : rule_(rule), graph_(target), bindings_(bindings), memo_(memo), target_(&target), added_(&added) {}

  /// Binds all slots of the right side. Empty, or why it cannot be made here, which lives until
  /// the memo is used again.
  std::string_view run();

  /// The value of a tensor on the target graph: constants get their node.
  graph::Value materialise(Tensor& tensor);

 private:
  std::string_view step(const RightStep& step, std::size_t member);
  std::string_view operation(const RightStep& step, std::size_t member);
  Hash128 key_of(const RightStep& step, std::size_t member, graph::OpKind kind, const Tensors& operands);
  Operation resolved(const RightStep& step, std::size_t member, graph::OpKind kind, const Tensors& operands);
  std::string resolve(const RightStep& step, std::size_t member, graph::OpKind kind, Tensors operands,
                      Operation& out);
  std::string_view constant(const RightStep& step, std::size_t member);
  std::string_view literal_values(const RightStep& step, std::size_t member, const List& elements,
                                  const Quantity& dims, const Tensor& like);
  std::string_view gather_operands(const RightStep& step, std::size_t member, Tensors& out);
  std::string attributes(const RightStep& step, std::size_t member, graph::OpKind kind,
                         const Tensors& operands, graph::AttrBlock& out);
  std::string_view bind_outputs(const RightStep& step, std::size_t member, std::span<const Tensor> outputs);
  Tensors fold(graph::OpKind kind, graph::AttrId attrs, const Tensors& operands);
  Tensors make(graph::OpKind kind, Operation& operation, Tensors& operands);
  graph::TypeList infer(graph::OpKind kind, Operation& operation, const Tensors& operands);
  bool is_operation(graph::NodeId id, graph::OpKind kind, graph::AttrId attrs, const Tensors& operands) const;
  graph::NodeId find_matched(graph::OpKind kind, graph::AttrId attrs, const Tensors& operands) const;
  graph::NodeId find_existing(graph::OpKind kind, graph::AttrId attrs, const Tensors& operands,
                              std::span<const graph::TypeId> types) const;
  Tensor of_weight(graph::WeightId weight) const;
  /// An operation that is made anew may be one that is there, a replaced one too: Relu(x) => Relu(Relu(x)).
  bool reads_what_it_replaces();

  const CompiledRule& rule_;
  const graph::Graph& graph_;
  Bindings& bindings_;
  OperationMemo& memo_;
  graph::Graph* target_ = nullptr;
  std::vector<graph::NodeId>* added_ = nullptr;
  InlineVector<graph::NodeId, 4> reused_;  // operations of the right side that the graph has
  InlineVector<graph::Value, 4> read_;     // of their values, those that others of the right side take
};

/// Calls visit(before, after) for each replaced value, with each member's.
template <typename Visit>
void for_each_replacement(const CompiledRule& rule, Bindings& bindings, Visit visit) {
  for (const Replacement& r : rule.replacements) {
    const std::size_t count = r.before.member_set < 0 ? 1 : bindings.count(r.before.member_set);
    for (std::size_t member = 0; member < count; ++member) {
      visit(bindings.tensor(r.before, member), bindings.tensor(r.after, member));
    }
  }
}

}
