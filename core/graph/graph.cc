#include "core/graph/graph.h"

#include <algorithm>

namespace regraft::graph {
namespace {

[[noreturn]] void broken(NodeId id, const std::string& problem) {
  throw GraphError(problem, "node " + std::to_string(id), "this is a bug in the edit that was made");
}

}  // namespace

// --- reading

Graph::Graph(const Graph& other, Tables& tables)
    : tables_(&tables),
      hold_(tables.holds(), other.hold_.bound()),
      base_(other.base_),
      nodes_(other.nodes_),
      alive_(other.alive_),
      uses_(other.uses_),
      outputs_(other.outputs_),
      weight_nodes_(other.weight_nodes_),
      log_(other.log_),
      live_count_(other.live_count_),
      operation_count_(other.operation_count_) {}

std::size_t Graph::use_count(Value value) const {
  return static_cast<std::size_t>(
      std::count_if(uses_[value.node].begin(), uses_[value.node].end(), [&](const Use& use) {
        return (use.user == kGraphOutput ? outputs_[use.slot] : nodes_[use.user].inputs[use.slot]) == value;
      }));
}

bool Graph::is_graph_output(Value value) const {
  return std::find(outputs_.begin(), outputs_.end(), value) != outputs_.end();
}

WeightId Graph::weight_of(Value value) const {
  return value.present() ? nodes_[value.node].weight : WeightId::none;
}

// --- use lists and primitives

void Graph::link(Value value, Use use) {
  auto& list = uses_[value.node];
  const auto at = std::lower_bound(list.begin(), list.end(), use);
  list.insert(static_cast<std::size_t>(at - list.begin()), use);
}

void Graph::unlink(Value value, Use use) {
  auto& list = uses_[value.node];
  const auto at = std::lower_bound(list.begin(), list.end(), use);
  if (at == list.end() || *at != use) broken(value.node, "a use is not in its list");
  list.erase(static_cast<std::size_t>(at - list.begin()));
}

void Graph::attach(NodeId id) {
  const Node& node = nodes_[id];
  alive_[id] = 1;
  ++live_count_;
  if (is_operation(node.kind)) ++operation_count_;
  if (node.kind == OpKind::weight) {
    if (weight_nodes_.size() <= index(node.weight)) weight_nodes_.resize(index(node.weight) + 1, kNoNode);
    weight_nodes_[index(node.weight)] = id;
  }
  for (std::uint32_t slot = 0; slot < node.inputs.size(); ++slot)
    if (node.inputs[slot].present()) link(node.inputs[slot], {id, slot});
}

void Graph::detach(NodeId id) {
  const Node& node = nodes_[id];
  if (!uses_[id].empty()) broken(id, "is removed while it is used");
  for (std::uint32_t slot = 0; slot < node.inputs.size(); ++slot)
    if (node.inputs[slot].present()) unlink(node.inputs[slot], {id, slot});
  if (node.kind == OpKind::weight) weight_nodes_[index(node.weight)] = kNoNode;
  if (is_operation(node.kind)) --operation_count_;
  --live_count_;
  alive_[id] = 0;
}

NodeId Graph::place(Node node) {
  const auto id = static_cast<NodeId>(nodes_.size());
  if (node.weight != WeightId::none) hold_weight(node.weight);
  name(node);
  nodes_.push_back(std::move(node));
  alive_.push_back(0);
  uses_.emplace_back();
  attach(id);
  log_.push_back({Edit::Form::add, id, 0, {}, {}, {}});
  return id;
}

SignatureId Graph::signature_of(const Node& node) const {
  Signature signature{node.kind, node.attrs, node.outputs, {}, {}};
  for (const Value value : node.inputs) {
    signature.inputs.push_back(value.present() ? type_id(value) : tables_->type_none());
    signature.constant.push_back(weight_of(value) != WeightId::none ? 1 : 0);
  }
  return tables_->intern(signature);
}

// Everything that the node refers to has been named by then.
void Graph::name(Node& node) {
  node.signature = signature_of(node);
  hold_.bound().cover_names(tables_->bound());
}

// --- editing

NodeId Graph::add(OpKind kind, AttrId attrs, std::span<const Value> inputs, std::span<const TypeId> outputs,
                  std::int32_t origin) {
  for (const Value value : inputs) {
    const bool known =
        !value.present() || (alive(value.node) && value.output < nodes_[value.node].outputs.size());
    if (!known) throw GraphError("an input does not exist", std::string(op_info(kind).name), "");
  }
  Node node;
  node.kind = kind;
  node.attrs = attrs;
  node.origin = origin;
  node.inputs = InlineVector<Value, 4>(inputs);
  node.outputs = outputs.empty()
                     ? infer_types(*tables_, kind, tables_->attrs(attrs), operands_of(*this, inputs))
                     : TypeList(outputs);
  return place(std::move(node));
}

NodeId Graph::add_input(TypeId type, std::int32_t origin) {
  Node node;
  node.kind = OpKind::input;
  node.origin = origin;
  node.outputs = TypeList{type};
  return place(std::move(node));
}

Value Graph::weight_value(WeightId weight) {
  if (index(weight) < weight_nodes_.size() && weight_nodes_[index(weight)] != kNoNode)
    return {weight_nodes_[index(weight)], 0};
  Node node;
  node.kind = OpKind::weight;
  node.weight = weight;
  node.outputs = TypeList{tables_->weights()[weight].type};
  return {place(std::move(node)), 0};
}

void Graph::remove(NodeId id) {
  detach(id);
  log_.push_back({Edit::Form::remove, id, 0, {}, {}, nodes_[id]});
}

void Graph::set_input(NodeId user, std::uint32_t slot, Value value) {
  Value& held = nodes_[user].inputs[slot];
  if (held == value) return;
  log_.push_back({Edit::Form::input, user, slot, held, value, {}});
  if (held.present()) unlink(held, {user, slot});
  held = value;
  if (held.present()) link(held, {user, slot});
  name(nodes_[user]);
}

void Graph::set_output(std::uint32_t slot, Value value) {
  if (outputs_[slot] == value) return;
  log_.push_back({Edit::Form::output, kGraphOutput, slot, outputs_[slot], value, {}});
  unlink(outputs_[slot], {kGraphOutput, slot});
  outputs_[slot] = value;
  link(value, {kGraphOutput, slot});
}

void Graph::add_output(Value value) {
  outputs_.push_back(value);
  link(value, {kGraphOutput, static_cast<std::uint32_t>(outputs_.size() - 1)});
}

void Graph::replace_uses(Value from, Value to) {
  if (from == to) return;
  if (!may_be_equal(type(from), type(to)))
    throw GraphError(
        "cannot replace " + tables_->describe(type_id(from)) + " by " + tables_->describe(type_id(to)),
        "node " + std::to_string(from.node), "");
  const InlineVector<Use, 4> uses = uses_[from.node];
  for (const Use use : uses) {
    if (use.user == kGraphOutput) {
      if (outputs_[use.slot] == from) set_output(use.slot, to);
    } else if (nodes_[use.user].inputs[use.slot] == from) {
      set_input(use.user, use.slot, to);
    }
  }
}

void Graph::remove_dead(std::span<const NodeId> candidates) {
  InlineVector<NodeId, 32> pending(candidates);
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (!alive(id) || !uses_[id].empty() || nodes_[id].kind == OpKind::input) continue;
    const InlineVector<Value, 4> inputs = nodes_[id].inputs;
    remove(id);
    for (const Value value : inputs)
      if (value.present()) pending.push_back(value.node);
  }
}

// --- edit log

void Graph::hold_weight(WeightId weight) {
  std::size_t& held = hold_.bound().weights;
  held = std::max<std::size_t>(held, index(weight) + 1);
}

void Graph::hold_live_weights() {
  hold_.bound().weights = 0;
  for (NodeId id = 0; id < nodes_.size(); ++id)
    if (alive_[id] && nodes_[id].weight != WeightId::none) hold_weight(nodes_[id].weight);
}

void Graph::undo_to(Mark mark) {
  while (log_.size() > mark) {
    Edit edit = std::move(log_.back());
    log_.pop_back();
    switch (edit.form) {
      case Edit::Form::add:
        detach(edit.node);
        if (edit.node + 1 == nodes_.size()) {
          nodes_.pop_back();
          alive_.pop_back();
          uses_.pop_back();
        }
        break;
      case Edit::Form::remove:
        nodes_[edit.node] = std::move(edit.removed);
        attach(edit.node);
        break;
      case Edit::Form::input:
        if (edit.after.present()) unlink(edit.after, {edit.node, edit.slot});
        nodes_[edit.node].inputs[edit.slot] = edit.before;
        if (edit.before.present()) link(edit.before, {edit.node, edit.slot});
        nodes_[edit.node].signature = signature_of(nodes_[edit.node]);
        break;
      case Edit::Form::output:
        unlink(edit.after, {kGraphOutput, edit.slot});
        outputs_[edit.slot] = edit.before;
        link(edit.before, {kGraphOutput, edit.slot});
        break;
    }
  }
  if (log_.empty()) hold_.bound() = base_;  // no dead node comes back
}

std::vector<NodeId> Graph::touched_since(Mark mark) const {
  std::vector<NodeId> ids;
  touched_since(mark, ids);
  return ids;
}

void Graph::touched_since(Mark mark, std::vector<NodeId>& ids) const {
  ids.clear();
  const auto touch_inputs = [&](const Node& node) {
    for (const Value value : node.inputs)
      if (value.present()) ids.push_back(value.node);
  };
  for (std::size_t i = mark; i < log_.size(); ++i) {
    const Edit& edit = log_[i];
    if (edit.node != kGraphOutput) ids.push_back(edit.node);
    if (edit.before.present()) ids.push_back(edit.before.node);
    if (edit.after.present()) ids.push_back(edit.after.node);
    if (edit.form == Edit::Form::add && edit.node < nodes_.size()) touch_inputs(nodes_[edit.node]);
    if (edit.form == Edit::Form::remove) touch_inputs(edit.removed);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

void Graph::commit() {
  log_.clear();
  hold_live_weights();
  base_ = hold_.bound();
}

InlineVector<Operand, 4> operands_of(const Graph& graph, std::span<const Value> inputs) {
  InlineVector<Operand, 4> operands;
  for (const Value value : inputs) {
    if (value.present())
      operands.push_back({graph.type_id(value), graph.weight_of(value), true});
    else
      operands.push_back({graph.tables().type_none(), WeightId::none, false});
  }
  return operands;
}

}
