#include "core/rules/rewrite/cleanup.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "core/graph/constants.h"
#include "core/graph/derived_dims.h"
#include "core/graph/evaluate.h"
#include "core/graph/order.h"
#include "core/graph/taken_elements.h"
#include "core/rules/rewrite/cleanup_rules.h"
#include "core/rules/rewrite/same_value.h"

namespace regraft::rules {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::Element;
using graph::Graph;
using graph::GraphError;
using graph::Node;
using graph::NodeId;
using graph::OpKind;
using graph::Value;
using graph::WeightId;

constexpr std::int64_t kSmallElements = 4096;
constexpr std::size_t kMostPlaces = 64;  // that are taken out of a shape at once

std::string_view name_of(CleanupPass pass) {
  switch (pass) {
    case CleanupPass::dead:
      return "dead";
    case CleanupPass::fold:
      return "fold";
    case CleanupPass::operands:
      return "operands";
    case CleanupPass::no_op:
      return "no-op";
    case CleanupPass::cast:
      return "cast";
    case CleanupPass::rule:
      return "rule";
    case CleanupPass::common:
      return "common";
  }
  return "";
}

class Cleaner {
 public:
  Cleaner(Graph& graph, const RuleSet* rules, std::size_t limit, bool follows_symbols = true)
      : graph_(graph), tables_(graph.tables()), limit_(limit), follows_symbols_(follows_symbols) {
    if (rules) rules_.emplace(graph, *rules);
  }

  std::vector<CleanupStep> run() {
    const std::vector<NodeId> order = graph::topological_order(graph_);
    remove_dead(order);
    for (const NodeId id : order) enter(id);
    for (; !waiting_.empty() && open(); waiting_.pop_front()) {
      const NodeId id = waiting_.front();
      waits_[id] = 0;
      if (graph_.alive(id)) visit(id);
    }
    return std::move(steps_);
  }

 private:
  static bool is_rewritable(const Node& node) {
    return node.kind != OpKind::input && node.kind != OpKind::weight && node.kind != OpKind::opaque;
  }

  bool open() const { return steps_.size() < limit_; }

  void enter(NodeId id) {
    if (waits_.size() < graph_.id_bound()) waits_.resize(graph_.id_bound(), 0);
    if (waits_[id] == 0) waiting_.push_back(id);
    waits_[id] = 1;
  }

  void visit(NodeId id) {
    if (fold(id) || !is_rewritable(graph_.node(id))) return;
    const NodeId settled = absorb_operands(id);
    if (!open() || drop_no_op(settled) || (follows_symbols_ && shorten_cast(settled)) || apply_rule(settled))
      return;
    merge(settled);
  }

  void note(CleanupPass pass, NodeId id, std::string_view name) {
    steps_.push_back({pass, id, "clean-up:" + std::string(name)});
  }

  void replace(CleanupPass pass, NodeId id, std::span<const Value> by) {
    const Graph::Mark mark = graph_.mark();
    for (std::uint32_t i = 0; i < by.size(); ++i) graph_.replace_uses({id, i}, by[i]);
    graph_.remove_dead(std::array{id});
    steps_.push_back({pass, id, "clean-up:" + std::string(name_of(pass)), by[0]});
    look_again_since(mark);
  }

  /// What a step may have opened: what it made, what reads other values now, the only user of what is used
  /// once, and what lies below them as far as patterns look up.
  void look_again_since(Graph::Mark mark) {
    for (const NodeId id : graph_.touched_since(mark)) {
      if (!graph_.alive(id)) continue;
      enter(id);
      const auto uses = graph_.uses(id);
      if (uses.size() == 1 && uses[0].user != graph::kGraphOutput) enter(uses[0].user);
    }
  }

  // --- dead

  void remove_dead(const std::vector<NodeId>& order) {
    for (auto at = order.rbegin(); at != order.rend() && open(); ++at) {
      const OpKind kind = graph_.node(*at).kind;
      if (kind == OpKind::input || !graph_.uses(*at).empty()) continue;
      graph_.remove(*at);
      if (kind != OpKind::weight)  // a constant is no node to a user
        note(CleanupPass::dead, *at, name_of(CleanupPass::dead));
    }
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
    if (node.kind == OpKind::opaque) return fold_slice(node);
    if (!is_rewritable(node)) return std::nullopt;
    if (node.kind == OpKind::shape) return fold_shape(node);
    if (auto part = follows_symbols_ ? fold_part_of_shape(node) : std::nullopt) return part;
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
      folded.push_back(graph::constant_operation(tables_, kind, attrs, args, i));
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
    return graph::constant_operation(tables_, OpKind::cast, to, std::array{weight}, 0);
  }

  /// A Slice that has no canonical form, as it goes backwards.
  std::optional<std::vector<WeightId>> fold_slice(const Node& node) {
    const AttrBlock& attrs = tables_.attrs(node.attrs);
    if (!attrs.has(Attr::op_type) || attrs.text(Attr::op_type) != "Slice") return std::nullopt;
    std::vector<graph::Operand> operands;
    for (const Value input : node.inputs)
      operands.push_back({input.present() ? graph_.type_id(input) : graph::TypeId{},
                          input.present() ? graph_.weight_of(input) : WeightId::none, input.present()});
    const WeightId known = graph::known_slice(tables_, operands);
    return known == WeightId::none ? std::nullopt : std::optional(std::vector{known});
  }

  std::optional<std::vector<WeightId>> fold_shape(const Node& node) {
    const graph::TensorType& type = graph_.type(node.inputs[0]);
    if (!type.is_static()) return std::nullopt;
    const std::vector<std::int64_t> dims(type.dims.begin(), type.dims.end());
    return std::vector{tables_.weights().integers(dims)};
  }

  /// Dims that are static, taken out of a shape with others that are not.
  std::optional<std::vector<WeightId>> fold_part_of_shape(const Node& node) {
    if (node.inputs.empty() || graph_.node(node.inputs[0].node).kind != OpKind::shape) return std::nullopt;
    const graph::TensorType& type = graph_.type(graph_.node(node.inputs[0].node).inputs[0]);
    if (!type.ranked) return std::nullopt;
    std::vector<Element> dims, indices;
    std::ranges::transform(type.dims, std::back_inserter(dims), &Element::of);
    if (node.kind == OpKind::gather && graph_.weight_of(node.inputs[1]) != WeightId::none)
      if (const auto places = graph::integer_values(tables_, graph_.weight_of(node.inputs[1]), kMostPlaces))
        std::ranges::transform(*places, std::back_inserter(indices), &Element::number);
    std::vector<std::int64_t> taken;
    for (const Element& dim : graph::taken_elements(node.kind, tables_.attrs(node.attrs), dims, indices)) {
      if (!dim.is_number()) return std::nullopt;
      taken.push_back(dim.value);
    }
    const auto count = tables_.type(node.outputs[0]).element_count();
    if (taken.empty() || !count || static_cast<std::size_t>(*count) != taken.size()) return std::nullopt;
    return std::vector{tables_.weights().literal(node.outputs[0], std::as_bytes(std::span(taken)))};
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

  /// The shape of a Reshape or Expand that is computed, where types say that a constant does the same.
  std::optional<graph::Ints> constant_shape(const Node& node) const {
    const bool reshapes = node.kind == OpKind::reshape;
    if (!follows_symbols_ || (!reshapes && node.kind != OpKind::expand)) return std::nullopt;
    const graph::TensorType &from = graph_.type(node.inputs[0]), &to = tables_.type(node.outputs[0]);
    if (!from.ranked || !to.ranked || graph_.weight_of(node.inputs[1]) != WeightId::none) return std::nullopt;
    return reshapes ? graph::reshape_target(from.dims, to.dims) : graph::expand_target(from.dims, to.dims);
  }

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
      AttrBlock attrs = tables_.attrs(node.attrs);
      const auto shape = constant_shape(node);
      if (shape) attrs.set(Attr::shape, *shape);
      if (shape) operands.resize(1);
      attrs = graph::canonical_attrs(tables_, node.kind, std::move(attrs), operands);
      if (operands.size() == node.inputs.size()) return id;
      const std::span<const Value> kept(node.inputs.data(), operands.size());
      const std::span<const graph::TypeId> types(node.outputs.data(), shape ? 1 : 0);
      const NodeId made = graph_.add(node.kind, tables_.intern(attrs), kept, types);
      std::vector<Value> values;
      for (std::uint32_t i = 0; i < node.outputs.size(); ++i) values.push_back({made, i});
      replace(CleanupPass::operands, id, values);
      return made;
    } catch (const GraphError&) {  // a form without canonical attributes stays as it is
      return id;
    }
  }

  // --- no-op, cast, rule

  bool drop_no_op(NodeId id) {
    try {
      const std::optional<Value> same = same_value(graph_, id, !follows_symbols_);
      if (same) replace(CleanupPass::no_op, id, std::array{*same});
      return same.has_value();
    } catch (const GraphError&) {  // a constant that cannot be evaluated
      return false;
    }
  }

  bool shorten_cast(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.kind != OpKind::cast) return false;
    const Node& inner = graph_.node(node.inputs[0].node);
    if (inner.kind != OpKind::cast || !inner.inputs[0].present()) return false;
    const Value x = inner.inputs[0];
    const graph::DType from = graph_.type(x).dtype, between = tables_.type(inner.outputs[0]).dtype,
                       to = tables_.type(node.outputs[0]).dtype;
    if (!holds_all(between, from)) return false;
    if (from == to) {
      replace(CleanupPass::cast, id, std::array{x});
      return true;
    }
    if (!holds_all(to, from) || graph_.uses(node.inputs[0].node).size() > 1) return false;
    const graph::AttrId attrs = node.attrs;
    const NodeId made = graph_.add(OpKind::cast, attrs, std::array{x});
    replace(CleanupPass::cast, id, std::array{Value{made, 0}});
    return true;
  }

  bool apply_rule(NodeId id) {
    if (!rules_) return false;
    const Graph::Mark mark = graph_.mark();
    const std::optional<std::string_view> name = rules_->apply(id);
    if (!name) return false;
    note(CleanupPass::rule, id, *name);
    look_again_since(mark);
    return true;
  }

  // --- common

  void merge(NodeId id) {
    const Node& node = graph_.node(id);
    const std::vector<Value> inputs(node.inputs.begin(), node.inputs.end());
    NodeId& first = seen_.try_emplace({node.kind, node.attrs, inputs, node.outputs.size()}, id).first->second;
    if (first == id) return;
    const Node& other = graph_.node(first);
    const bool equal = graph_.alive(first) && other.kind == node.kind && other.attrs == node.attrs &&
                       other.inputs == node.inputs;
    if (!equal) {  // it is another by now
      first = id;
      return;
    }
    std::vector<Value> values;
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i) values.push_back({first, i});
    replace(CleanupPass::common, id, values);
  }

  using Key = std::tuple<OpKind, graph::AttrId, std::vector<Value>, std::size_t>;

  Graph& graph_;
  graph::Tables& tables_;
  std::optional<CleanupRules> rules_;
  std::size_t limit_;
  bool follows_symbols_;  // what is computed of sizes may be known, and more is known than runtimes look for
  std::deque<NodeId> waiting_;
  std::vector<std::uint8_t> waits_;  // by node: is in waiting_
  std::map<Key, NodeId> seen_;
  std::vector<CleanupStep> steps_;
};

}  // namespace

std::vector<CleanupStep> clean_up(Graph& graph, const RuleSet& rules, std::size_t limit) {
  return Cleaner(graph, &rules, limit).run();
}

std::vector<CleanupStep> clean_up(Graph& graph, std::size_t limit) {
  return Cleaner(graph, nullptr, limit).run();
}

std::vector<CleanupStep> clean_up_as_runtimes(Graph& graph) {
  return Cleaner(graph, nullptr, SIZE_MAX, false).run();
}

}
