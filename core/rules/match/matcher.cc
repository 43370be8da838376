#include "core/rules/match/matcher.h"

#include <algorithm>
#include <array>

#include "core/rules/instantiate/passes.h"

namespace regraft::rules {

using graph::NodeId;
using graph::Value;

bool Matcher::run(NodeId anchor, std::span<const NodeId> expected, const Found& found) {
  undo_to(0);  // what an error left bound
  trace_.clear();
  expected_ = expected;
  found_ = &found;
  anchor_ = anchor;
  sized_.assign(rule_.member_sets.size(), false);
  for (Quantity& quantity : bindings_.plain.quantities) quantity.kind = Quantity::Kind::none;
  for (std::size_t member_set = 0; member_set < bindings_.members.size(); ++member_set)
    empty_member_set(member_set);
  if (rule_.is_siblings()) size_member_set(rule_.sibling_member_set, 1);
  const bool stopped = step(0, 0);
  undo_to(0);
  trace_.clear();
  return stopped;
}

bool Matcher::step(std::size_t number, std::size_t member) {
  if (number == rule_.steps.size()) return (*found_)(bindings_, trace_);
  const Step& s = rule_.steps[number];
  const PatternNode& pattern = rule_.nodes[s.node];
  const std::size_t count = pattern.member_set < 0 ? 1 : bindings_.count(pattern.member_set);
  if (member == count) {
    for (const Check& check : s.checks) {
      if (!passes(check, graph_, bindings_)) return false;
    }
    return step(number + 1, 0);
  }
  switch (s.via) {
    case Step::Via::anchor:
      return node(number, member, anchor_);
    case Step::Via::producer: {
      if (s.from.member_set >= 0 && bindings_.count(s.from.member_set) == 0) return false;
      const Tensor& made = bindings_.tensor(s.from, s.from.member_set == pattern.member_set ? member : 0);
      if (!made.present() || made.constant()) return false;
      return node(number, member, made.value.node);
    }
    case Step::Via::consumer:
      return consumers(number, member);
  }
  return false;
}

bool Matcher::consumers(std::size_t number, std::size_t member) {
  const Step& s = rule_.steps[number];
  const Tensor made = bindings_.tensor(s.from, member);
  if (!made.present()) return false;
  NodeId last = graph::kNoNode;
  for (const graph::Use& use : graph_.uses(made.value.node)) {
    if (use.user == graph::kGraphOutput || use.user == last) continue;
    if (graph_.node(use.user).inputs[use.slot] != made.value) continue;
    last = use.user;
    if (std::find(trace_.begin(), trace_.end(), use.user) != trace_.end()) continue;
    if (node(number, member, use.user)) return true;
  }
  return false;
}

bool Matcher::node(std::size_t number, std::size_t member, NodeId id) {
  const PatternNode& pattern = rule_.nodes[rule_.steps[number].node];
  const graph::Node& held = graph_.node(id);
  if (!pattern.kinds.test(static_cast<std::size_t>(held.kind))) return false;
  if (trace_.size() < expected_.size() && expected_[trace_.size()] != id) return false;
  const std::size_t mark = trail_.size();
  bool stopped = false;
  if (bind_node(pattern, held, member) && bind_outputs(pattern, id, member)) {
    trace_.push_back(id);
    bindings_.frame(pattern.member_set, member).nodes[pattern.index] = id;
    stopped = operands(number, member, held.inputs, 0, 0);
    if (!stopped && pattern.commutative && held.inputs.size() == 2 && held.inputs[0] != held.inputs[1]) {
      const std::array<Value, 2> swapped = {held.inputs[1], held.inputs[0]};
      stopped = operands(number, member, swapped, 0, 0);
    }
    if (!stopped) trace_.pop_back();
  }
  if (!stopped) undo_to(mark);
  return stopped;
}

bool Matcher::bind_node(const PatternNode& pattern, const graph::Node& node, std::size_t member) {
  if (pattern.op) {
    OpBinding& held = bindings_.frame(pattern.op->member_set, member).ops[pattern.op->index];
    const OpBinding now{node.kind, node.attrs};
    if (held.kind != graph::OpKind::opaque && !(held == now)) return false;
    if (held.kind == graph::OpKind::opaque) {
      held = now;
      trail_.push_back({Undo::Form::op, *pattern.op, member});
    }
  }
  const graph::AttrBlock& attrs = graph_.tables().attrs(node.attrs);
  for (const auto& [attr, value] : pattern.required) {
    const graph::AttrValue* held = attrs.find(attr);
    if (!held || *held != value) return false;
  }
  for (graph::Attr attr : pattern.absent) {
    if (attrs.has(attr)) return false;
  }
  for (const auto& [attr, slot] : pattern.attrs) {
    const graph::AttrValue* held = attrs.find(attr);
    if (!held || !bind_quantity(slot, member, *held)) return false;
  }
  return true;
}

bool Matcher::bind_outputs(const PatternNode& pattern, NodeId id, std::size_t member) {
  const std::size_t count = graph_.node(id).outputs.size();
  const auto output = [&](std::size_t i) { return Value{id, static_cast<std::uint32_t>(i)}; };
  if (pattern.outputs[0].sequence) {
    const Slot slot = pattern.outputs[0].slot;
    if (!size_member_set(slot.member_set, count)) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!bind_tensor(slot, i, output(i))) return false;
    }
    return true;
  }
  if (pattern.outputs.size() != count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (!bind_tensor(pattern.outputs[i].slot, member, output(i))) return false;
  }
  return true;
}

bool Matcher::operands(std::size_t number, std::size_t member, std::span<const Value> inputs,
                       std::size_t pattern_at, std::size_t input_at) {
  const PatternNode& pattern = rule_.nodes[rule_.steps[number].node];
  if (pattern_at == pattern.operands.size()) {
    return input_at == inputs.size() && step(number, member + 1);
  }
  const OperandPattern& operand = pattern.operands[pattern_at];
  if (operand.sequence) return sequence(number, member, inputs, pattern_at, input_at);
  const Value value = input_at < inputs.size() ? inputs[input_at] : Value{};
  if (!value.present() && !operand.optional) return false;
  const std::size_t mark = trail_.size();
  if (bind_tensor(operand.slot, member, value) &&
      operands(number, member, inputs, pattern_at + 1, std::min(input_at + 1, inputs.size()))) {
    return true;
  }
  undo_to(mark);
  return false;
}

// All lengths of the list that leave enough inputs for the operands behind it.
bool Matcher::sequence(std::size_t number, std::size_t member, std::span<const Value> inputs,
                       std::size_t pattern_at, std::size_t input_at) {
  const PatternNode& pattern = rule_.nodes[rule_.steps[number].node];
  const Slot slot = pattern.operands[pattern_at].slot;
  std::size_t behind = 0;
  bool more_lists = false;
  for (std::size_t k = pattern_at + 1; k < pattern.operands.size(); ++k) {
    more_lists = more_lists || pattern.operands[k].sequence;
    behind += pattern.operands[k].sequence ? 0 : 1;
  }
  if (inputs.size() < input_at + behind) return false;
  const std::size_t longest = inputs.size() - input_at - behind;
  for (std::size_t count = more_lists ? 0 : longest; count <= longest; ++count) {
    const std::size_t mark = trail_.size();
    bool fits = size_member_set(slot.member_set, count);
    for (std::size_t i = 0; fits && i < count; ++i) fits = bind_tensor(slot, i, inputs[input_at + i]);
    if (fits && operands(number, member, inputs, pattern_at + 1, input_at + count)) return true;
    undo_to(mark);
  }
  return false;
}

bool Matcher::bind_tensor(Slot slot, std::size_t member, Value value) {
  Tensor& held = bindings_.tensor(slot, member);
  if (held.bound()) return value.present() ? held.present() && held.value == value : !held.present();
  held = Tensor::of(graph_, value);
  trail_.push_back({Undo::Form::tensor, slot, member});
  return true;
}

bool Matcher::bind_quantity(Slot slot, std::size_t member, const graph::AttrValue& value) {
  Quantity& held = bindings_.quantity(slot, member);
  if (held.known()) return held.equals(value);
  held.assign(value);
  trail_.push_back({Undo::Form::quantity, slot, member});
  return true;
}

bool Matcher::size_member_set(std::int16_t member_set, std::size_t count) {
  const auto d = static_cast<std::size_t>(member_set);
  if (sized_[d]) return bindings_.members[d].size() == count;
  auto& members = bindings_.members[d];
  while (members.size() < count) members.extend(rule_.frames[d + 1]);
  sized_[d] = true;
  trail_.push_back({Undo::Form::member_set, Slot{member_set, 0}, 0});
  return true;
}

// What was bound in the frames has been undone; their quantities may be those of bindings by name.
void Matcher::empty_member_set(std::size_t member_set) {
  auto& members = bindings_.members[member_set];
  for (Frame& frame : members) {
    for (Quantity& quantity : frame.quantities) quantity.kind = Quantity::Kind::none;
  }
  members.clear();
}

void Matcher::undo_to(std::size_t mark) {
  while (trail_.size() > mark) {
    const Undo undo = trail_.back();
    trail_.pop_back();
    switch (undo.form) {
      case Undo::Form::tensor:
        bindings_.tensor(undo.slot, undo.member) = Tensor{};
        break;
      case Undo::Form::quantity:
        bindings_.quantity(undo.slot, undo.member).kind = Quantity::Kind::none;
        break;
      case Undo::Form::op:
        bindings_.frame(undo.slot.member_set, undo.member).ops[undo.slot.index] = OpBinding{};
        break;
      case Undo::Form::member_set:
        empty_member_set(static_cast<std::size_t>(undo.slot.member_set));
        sized_[static_cast<std::size_t>(undo.slot.member_set)] = false;
        break;
    }
  }
}

}
