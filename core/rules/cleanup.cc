#include "core/rules/cleanup.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "core/graph/evaluate.h"
#include "core/graph/order.h"

namespace regraft::rules {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::Graph;
using graph::GraphError;
using graph::Node;
using graph::NodeId;
using graph::OpKind;
using graph::Value;
using graph::WeightId;

constexpr std::int64_t kSmallElements = 4096;

class Cleaner {
 public:
  Cleaner(Graph& graph, std::size_t limit) : graph_(graph), tables_(graph.tables()), limit_(limit) {}

  std::vector<CleanupStep> run() {
    for (const NodeId id : graph::topological_order(graph_)) visit(id);
    if (!open()) return std::move(steps_);
    std::vector<NodeId> before;
    for (NodeId id = 0; id < graph_.id_bound(); ++id)
      if (graph_.alive(id)) before.push_back(id);
    graph_.remove_all_dead();
    for (const NodeId id : before) {
      const bool counted = graph_.node(id).kind != OpKind::weight;  // a constant is no node to a user
      const bool known =
          std::any_of(steps_.begin(), steps_.end(), [id](const CleanupStep& s) { return s.node == id; });
      if (!graph_.alive(id) && counted && !known) steps_.push_back({CleanupPass::dead, id});
    }
    return std::move(steps_);
  }

 private:
  static bool is_rewritable(const Node& node) {
    return node.kind != OpKind::input && node.kind != OpKind::weight && node.kind != OpKind::opaque;
  }

  bool open() const { return steps_.size() < limit_; }

  void visit(NodeId id) {
    if (!open() || !is_rewritable(graph_.node(id)) || fold(id)) return;
    const NodeId settled = absorb_operands(id);
    if (!open() || drop_no_op(settled)) return;
    merge(settled);
  }

  void replace(CleanupPass pass, NodeId id, std::span<const Value> by) {
    for (std::uint32_t i = 0; i < by.size(); ++i) graph_.replace_uses({id, i}, by[i]);
    steps_.push_back({pass, id});
  }

  // --- fold

  bool fold(NodeId id) {
    try {
      const std::optional<std::vector<WeightId>> folded = fold_to(graph_.node(id));
      if (!folded) return false;
      std::vector<Value> values;
      for (const WeightId weight : *folded) values.push_back(graph_.weight_value(weight));
      replace(CleanupPass::fold, id, values);
      return true;
    } catch (const GraphError&) {  // what cannot be evaluated stays
      return false;
    }
  }

  std::optional<std::vector<WeightId>> fold_to(const Node& node) {
    if (node.kind == OpKind::shape) return fold_shape(node);
    std::vector<WeightId> args;
    std::vector<graph::TypeId> types;
    for (const Value input : node.inputs) {
      const bool type_only =
          node.kind == OpKind::cast_like && !args.empty();  // its second input gives a dtype
      if (!type_only && graph_.weight_of(input) == WeightId::none) return std::nullopt;
      if (type_only) continue;
      args.push_back(graph_.weight_of(input));
      types.push_back(graph_.type_id(input));
    }
    OpKind kind = node.kind;
    graph::AttrId attrs = node.attrs;
    if (kind == OpKind::cast_like) {
      kind = OpKind::cast;
      attrs =
          tables_.intern(AttrBlock{{Attr::to, static_cast<std::int64_t>(graph_.type(node.inputs[1]).dtype)}});
    }
    if (!graph::op_info(kind).operand_attrs.empty()) {  // a shape or axes that just became constant
      InlineVector<graph::Operand, 4> operands;
      for (std::size_t i = 0; i < args.size(); ++i) operands.push_back({types[i], args[i], true});
      attrs = tables_.intern(graph::canonical_attrs(tables_, kind, tables_.attrs(attrs), operands));
      args.resize(operands.size());
      types.resize(operands.size());
    }
    const bool known = graph::op_info(kind).is(graph::kFoldable) && graph::can_evaluate(tables_, kind, types);
    if (args.empty() || !known || grows_too_much(node)) return std::nullopt;
    std::vector<WeightId> folded;
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
      folded.push_back(tables_.weights().operation(kind, attrs, args, i));
    // What some integers or casts make refuse does so now, not when the model is written.
    const bool may_refuse = kind == OpKind::pow || kind == OpKind::div || kind == OpKind::cast;
    if (may_refuse && graph::is_integer(tables_.type(tables_.weights()[folded[0]].type).dtype))
      for (const WeightId weight : folded) graph::evaluate(tables_, weight);
    if (!graph::op_info(kind).is(graph::kMovement))
      for (WeightId& weight : folded) weight = rounded(weight);
    return folded;
  }

  /// The runtime rounds after each op, and what follows may jump (a size that is rounded down, say). Half
  /// types it may compute in float32 throughout, where less overflows.
  WeightId rounded(WeightId weight) {
    const graph::DType dtype = tables_.type(tables_.weights()[weight].type).dtype;
    if (dtype != graph::DType::float32) return weight;
    const graph::AttrId to = tables_.intern(AttrBlock{{Attr::to, static_cast<std::int64_t>(dtype)}});
    return tables_.weights().operation(OpKind::cast, to, std::array{weight}, 0);
  }

  std::optional<std::vector<WeightId>> fold_shape(const Node& node) {
    const graph::TensorType& type = graph_.type(node.inputs[0]);
    if (!type.is_static()) return std::nullopt;
    const std::vector<std::int64_t> dims(type.dims.begin(), type.dims.end());
    return std::vector{tables_.weights().integers(dims)};
  }

  bool grows_too_much(const Node& node) const {
    std::int64_t in = 0, out = 0;
    for (const Value input : node.inputs) in += graph_.type(input).element_count().value_or(0);
    for (const graph::TypeId type : node.outputs) {
      const auto count = tables_.type(type).element_count();
      if (!count) return true;
      out += *count;
    }
    return out > kSmallElements && out > kFoldGrowth * in;
  }

  // --- operands

  NodeId absorb_operands(NodeId id) {
    const Node node = graph_.node(id);  // a copy: adding nodes moves the original
    const auto& rows = graph::op_info(node.kind).operand_attrs;
    const bool has_operands = std::any_of(rows.begin(), rows.end(), [&](const graph::OperandAttr& row) {
      return row.input < node.inputs.size() && node.inputs[row.input].present();
    });
    if (!has_operands) return id;
    InlineVector<graph::Operand, 4> operands;
    for (const Value input : node.inputs)
      operands.push_back(input.present()
                             ? graph::Operand{graph_.type_id(input), graph_.weight_of(input), true}
                             : graph::Operand{tables_.type_none(), WeightId::none, false});
    try {
      const AttrBlock attrs = graph::canonical_attrs(tables_, node.kind, tables_.attrs(node.attrs), operands);
      if (operands.size() == node.inputs.size()) return id;
      const std::span<const Value> kept(node.inputs.data(), operands.size());
      const NodeId made = graph_.add(node.kind, tables_.intern(attrs), kept);
      std::vector<Value> values;
      for (std::uint32_t i = 0; i < node.outputs.size(); ++i) values.push_back({made, i});
      replace(CleanupPass::operands, id, values);
      return made;
    } catch (const GraphError&) {  // a form without canonical attributes stays as it is
      return id;
    }
  }

  // --- no-op

  bool drop_no_op(NodeId id) {
    const Node& node = graph_.node(id);
    if (!is_no_op(node)) return false;
    const Value input = node.inputs[0];
    replace(CleanupPass::no_op, id, std::array{input});
    return true;
  }

  bool is_no_op(const Node& node) const {
    if (node.inputs.empty() || !node.inputs[0].present() || node.outputs.size() != 1) return false;
    const graph::TensorType& in = graph_.type(node.inputs[0]);
    const bool same_type = graph_.type_id(node.inputs[0]) == node.outputs[0];
    const AttrBlock& attrs = tables_.attrs(node.attrs);
    switch (node.kind) {
      case OpKind::identity:
        return true;
      case OpKind::cast:
      case OpKind::cast_like:
        return same_type && in.dtype != graph::DType::undefined;
      case OpKind::reshape:
      case OpKind::flatten:
      case OpKind::expand:
      case OpKind::squeeze:
      case OpKind::unsqueeze:
        return same_type && in.ranked;
      case OpKind::slice:
        return same_type && in.is_static() && attrs.has(Attr::steps) &&
               std::all_of(attrs.ints(Attr::steps).begin(), attrs.ints(Attr::steps).end(),
                           [](std::int64_t step) { return step == 1; });
      case OpKind::transpose:
        return std::is_sorted(attrs.ints(Attr::perm).begin(), attrs.ints(Attr::perm).end());
      case OpKind::concat:
        return node.inputs.size() == 1;
      default:
        return false;
    }
  }

  // --- common

  void merge(NodeId id) {
    const Node& node = graph_.node(id);
    const std::vector<Value> inputs(node.inputs.begin(), node.inputs.end());
    const auto [first, fresh] = seen_.try_emplace({node.kind, node.attrs, inputs, node.outputs.size()}, id);
    if (fresh) return;
    std::vector<Value> values;
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i) values.push_back({first->second, i});
    replace(CleanupPass::common, id, values);
  }

  using Key = std::tuple<OpKind, graph::AttrId, std::vector<Value>, std::size_t>;

  Graph& graph_;
  graph::Tables& tables_;
  std::size_t limit_;
  std::map<Key, NodeId> seen_;
  std::vector<CleanupStep> steps_;
};

}  // namespace

std::string_view name_of(CleanupPass pass) {
  switch (pass) {
    case CleanupPass::fold:
      return "clean-up:fold";
    case CleanupPass::operands:
      return "clean-up:operands";
    case CleanupPass::no_op:
      return "clean-up:no-op";
    case CleanupPass::common:
      return "clean-up:common";
    case CleanupPass::dead:
      return "clean-up:dead";
  }
  return "clean-up";
}

std::vector<CleanupStep> clean_up(Graph& graph, std::size_t limit) {
  return Cleaner(graph, limit).run();
}

}  // namespace regraft::rules
