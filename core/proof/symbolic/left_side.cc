#include "core/proof/symbolic/left_side.h"

#include <algorithm>

#include "core/rules/examples/example_attributes.h"
#include "core/rules/instantiate/evaluate.h"

namespace regraft::proof {
namespace {

using graph::Attr;
using graph::OpKind;
using rules::Code;
using Kind = SymbolicQuantity::Kind;

constexpr std::size_t kMostMembers = 3;

}  // namespace

bool LeftSide::run() {
  for (std::size_t d = 0; d < rule_.member_sets.size(); ++d) {
    const std::size_t least = rule_.member_sets[d].siblings ? 2 : 1;
    const std::size_t count = least + state_.choices().below(kMostMembers + 1 - least);
    b_.members[d].assign(count, SymbolicFrame(rule_.frames[d + 1]));
  }
  for (const rules::Step& step : rule_.steps) {
    for (const rules::Check& check : step.checks) pending_.push_back(&check);
  }
  for (const rules::Check& check : rule_.set_checks) pending_.push_back(&check);
  for (std::size_t n : rules::pattern_order(rule_)) {
    const rules::PatternNode& node = rule_.nodes[n];
    const std::size_t members = node.member_set < 0 ? 1 : b_.count(node.member_set);
    for (std::size_t m = 0; m < members; ++m) add(node, m);
    if (!check_what_is_ready(false) || !state_.possible()) return false;
  }
  return check_what_is_ready(true) && siblings_agree() && state_.possible();
}

OpCase LeftSide::op_of(const rules::PatternNode& node) {
  if (node.op && b_.plain.ops[node.op->index]) return *b_.plain.ops[node.op->index];
  std::vector<OpKind> kinds;
  bool elementwise = true;
  for (std::size_t k = 0; k < node.kinds.size(); ++k) {
    if (!node.kinds.test(k)) continue;
    kinds.push_back(static_cast<OpKind>(k));
    elementwise = elementwise && graph::op_info(kinds.back()).is(graph::kElementwise);
  }
  if (kinds.size() == 1) return {kinds[0], "", {}};
  if (elementwise) return {kinds[0], "f" + std::to_string(node.op->index), {}};
  return {kinds[state_.choices().below(kinds.size())], "", {}};
}

void LeftSide::add(const rules::PatternNode& node, std::size_t member) {
  OpCase op = op_of(node);
  SymbolicInputs inputs;
  for (const rules::OperandPattern& operand : node.operands) {
    const std::size_t count = operand.sequence ? b_.count(operand.slot.member_set) : 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t m = operand.sequence ? i : operand.slot.member_set < 0 ? 0 : member;
      auto& tensor = b_.tensor(operand.slot, m);
      if (!tensor) {
        const bool absent = operand.optional && state_.choices().below(2) == 0;
        tensor = absent ? SymbolicTensor::absent() : leaf(op.kind, inputs, operand.slot, m);
      }
      inputs.push_back(*tensor);
    }
  }
  const std::size_t outputs =
      node.outputs[0].sequence ? b_.count(node.outputs[0].slot.member_set) : node.outputs.size();
  const bool known = node.op && b_.plain.ops[node.op->index];
  if (!known && op.generic.empty()) op.attrs = attributes(op.kind, node, member, inputs, outputs);
  if (node.op) b_.plain.ops[node.op->index] = op;
  const auto made = apply_symbolically(state_, op.kind, op.generic, op.attrs, inputs, outputs);
  for (std::size_t i = 0; i < made.size() && i < outputs; ++i) {
    const rules::OperandPattern& output = node.outputs[node.outputs[0].sequence ? 0 : i];
    for (const z3::expr& d : made[i].dims) state_.assume(d >= 1);
    b_.tensor(output.slot, node.outputs[0].sequence ? i : output.slot.member_set < 0 ? 0 : member) = made[i];
  }
}

// The ranks that an operand may have.
std::size_t LeftSide::rank_of(OpKind kind, std::size_t position, const SymbolicInputs& before) {
  rules::Choices& choices = state_.choices();
  const std::size_t most = state_.most_rank();  // at least 3
  switch (kind) {
    case OpKind::conv:
      return position == 0 ? 3 + choices.below(most - 2) : position == 1 ? before[0].dims.size() : 1;
    case OpKind::gemm:
      return position < 2 ? 2 : choices.below(3);
    case OpKind::global_average_pool:
      return 3 + choices.below(most - 2);
    case OpKind::batch_norm:
      return position == 0 ? 2 + choices.below(most - 1) : 1;
    case OpKind::gather:
      return position == 1 ? choices.below(most + 1) : 1 + choices.below(most);
    case OpKind::concat:
      return position == 0 ? 1 + choices.below(most) : before[0].dims.size();
    case OpKind::matmul:
    case OpKind::softmax:
      return 1 + choices.below(most);
    case OpKind::layer_norm:
      return position == 0 ? 1 + choices.below(most) : choices.below(most + 1);
    default:
      return choices.below(most + 1);
  }
}

SymbolicTensor LeftSide::leaf(OpKind kind, const SymbolicInputs& before, rules::Slot slot,
                              std::size_t member) {
  const std::string name = "t" + std::to_string(slot.member_set + 1) + "_" + std::to_string(slot.index) +
                           "_" + std::to_string(member);
  SymbolicTensor out;
  const std::size_t rank = rank_of(kind, before.size(), before);
  for (std::size_t d = 0; d < rank; ++d) {
    out.dims.push_back(state_.fresh_dim(name + "_d"));
    state_.assume(out.dims.back() >= 1);
  }
  if (kind == OpKind::gather && before.size() == 1) {
    out.integer_at = [&state = state_, name](const Index& index) {
      z3::sort_vector sorts(state.context());
      z3::expr_vector args(state.context());
      for (const z3::expr& i : index) {
        sorts.push_back(state.context().int_sort());
        args.push_back(i);
      }
      if (index.empty()) return state.context().int_const(name.c_str());
      return state.context().function(name.c_str(), sorts, state.context().int_sort())(args);
    };
    return out;
  }
  LeafFacts* facts = state_.facts();
  out.facts = facts;
  out.at = [name, facts](const Index& index) {
    if (facts->value) return *facts->value;
    return Poly::atom({name, facts->same_everywhere ? Index{} : index, {}});
  };
  return out;
}

// The symbolic value of an attribute that nothing says anything about.
SymbolicQuantity LeftSide::some_attribute(OpKind kind, const graph::AttrSpec& spec, const SymbolicInputs& in,
                                          std::size_t outputs, std::size_t& axes) {
  rules::Choices& choices = state_.choices();
  const std::size_t rank = in[0].dims.size(), spatial = rank > 2 ? rank - 2 : 0;
  const std::string name(graph::attr_name(spec.attr));
  const auto integers = [&](std::size_t count, int least) {
    Index list;
    for (std::size_t i = 0; i < count; ++i) {
      list.push_back(state_.fresh(name));
      state_.assume(list.back() >= least);
    }
    return quantity_of(std::move(list));
  };
  switch (spec.attr) {
    case Attr::axis:
      if (rank == 0) throw IllTyped("an axis of a scalar");
      return quantity_of(state_.number(static_cast<std::int64_t>(choices.below(rank))));
    case Attr::perm:
      return quantity_of(state_, graph::AttrValue(rules::some_permutation(rank, choices)));
    case Attr::axes: {
      if (kind == OpKind::slice) return distinct_axes(axes, rank);
      const bool grows = kind == OpKind::unsqueeze;
      const std::size_t most = grows ? state_.most_rank() - std::min(state_.most_rank(), rank) : rank;
      if (most == 0) return distinct_axes(0, rank);
      const std::size_t count = 1 + choices.below(most);
      return distinct_axes(count, grows ? rank + count : rank);
    }
    case Attr::keepdims:
    case Attr::trans_a:
    case Attr::trans_b:
      return quantity_of(state_.number(static_cast<std::int64_t>(choices.below(2))));
    case Attr::shape:
      return integers(choices.below(state_.most_rank() + 1), 1);
    case Attr::split:
      return integers(outputs, 1);
    case Attr::starts:
      axes = rank == 0 ? 0 : 1 + choices.below(rank);
      return integers(axes, 0);
    case Attr::ends:
      return integers(axes, 0);
    case Attr::steps:
      return integers(axes, 1);
    case Attr::kernel_shape:
    case Attr::strides:
    case Attr::dilations:
      return integers(spatial, 1);
    case Attr::pads:
      return integers(2 * spatial, 0);
    case Attr::group:
      return quantity_of(integers(1, 1).items[0]);
    case Attr::alpha:
    case Attr::beta:
    case Attr::epsilon: {
      SymbolicQuantity q;
      q.kind = Kind::real;
      q.real = Poly::atom({state_.fresh(name).to_string(), {}, {}});
      return q;
    }
    default:
      if (spec.optional && !spec.fallback) return {};
      if (!spec.fallback) throw Unprovable("no values of the attribute " + name + " are known");
      return quantity_of(state_, spec.fallback.value());
  }
}

SymbolicQuantity LeftSide::distinct_axes(std::size_t count, std::size_t rank) {
  if (count > rank) throw IllTyped("more axes than dims");
  Index list;
  std::size_t first = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t axis = first + state_.choices().below(rank - first - (count - i - 1));
    list.push_back(state_.number(static_cast<std::int64_t>(axis)));
    first = axis + 1;
  }
  return quantity_of(std::move(list));
}

SymbolicAttrs LeftSide::attributes(OpKind kind, const rules::PatternNode& node, std::size_t member,
                                   const SymbolicInputs& in, std::size_t outputs) {
  SymbolicAttrs attrs;
  std::size_t axes = 1;
  for (const graph::AttrSpec& spec : graph::op_info(kind).attrs) {
    const auto required = std::find_if(node.required.begin(), node.required.end(),
                                       [&](const auto& r) { return r.first == spec.attr; });
    const auto bound = std::find_if(node.attrs.begin(), node.attrs.end(),
                                    [&](const auto& a) { return a.first == spec.attr; });
    if (std::find(node.absent.begin(), node.absent.end(), spec.attr) != node.absent.end()) continue;
    if (required != node.required.end()) {
      attrs[spec.attr] = quantity_of(state_, required->second);
      continue;
    }
    SymbolicQuantity* held = bound == node.attrs.end()
                                 ? nullptr
                                 : &b_.quantity(bound->second, bound->second.member_set < 0 ? 0 : member);
    const bool given = held && held->kind != Kind::none;
    SymbolicQuantity value = given ? *held : some_attribute(kind, spec, in, outputs, axes);
    if (value.kind == Kind::list && spec.attr == Attr::starts) axes = value.items.size();
    if (held) *held = value;
    if (value.kind != Kind::none) attrs[spec.attr] = std::move(value);
  }
  return attrs;
}

namespace {

bool ready(const Code& code, SymbolicBindings& b, std::int16_t member_set, std::vector<rules::Slot> local) {
  const auto here = [&](rules::Slot slot) { return slot.member_set < 0 || slot.member_set == member_set; };
  for (rules::Slot slot : code.tensors) {
    for (std::size_t m = 0; m < (here(slot) && slot.member_set < 0 ? 1 : b.count(slot.member_set)); ++m) {
      if (!b.tensor(slot, m)) return false;
    }
  }
  if (code.form == Code::Form::comprehension) local.push_back(code.slot);
  if (code.form == Code::Form::variable && std::find(local.begin(), local.end(), code.slot) == local.end()) {
    for (std::size_t m = 0; m < (code.slot.member_set < 0 ? 1 : b.count(code.slot.member_set)); ++m) {
      if (b.quantity(code.slot, m).kind == Kind::none) return false;
    }
  }
  return std::all_of(code.args.begin(), code.args.end(),
                     [&](const Code& arg) { return ready(arg, b, member_set, local); });
}

}  // namespace

bool LeftSide::check_what_is_ready(bool all) {
  for (const rules::Check*& check : pending_) {
    if (!check || (!all && !ready(check->code, b_, check->member_set, {}))) continue;
    const std::size_t count = check->member_set < 0 ? 1 : b_.count(check->member_set);
    for (std::size_t m = 0; m < count; ++m) {
      const SymbolicScope scope{state_, b_, check->member_set, m};
      if (!check->target && take_fact(check->code, scope)) continue;
      SymbolicQuantity value = check->target ? evaluate(check->code, scope) : assumed(check->code, scope);
      if (value.kind == Kind::none) return false;
      if (check->target) {
        b_.quantity(*check->target, m) = std::move(value);
      } else {
        if (value.kind != Kind::boolean) return false;
        state_.assume(value.items[0]);
      }
    }
    check = nullptr;
  }
  return state_.possible();
}

// scalar(c) and value(c) == number, which say what the elements of a leaf are.
bool LeftSide::take_fact(const Code& code, const SymbolicScope& scope) {
  const auto leaf_at = [&](const Code& c) -> LeafFacts* {
    auto& tensor = b_.tensor(c.tensors[0], c.tensors[0].member_set == scope.member_set ? scope.member : 0);
    return tensor && tensor->present ? tensor->facts : nullptr;
  };
  if (code.form == Code::Form::call && code.function == rules::Function::scalar && code.tensors.size() == 1) {
    LeafFacts* facts = leaf_at(code);
    if (facts) facts->same_everywhere = true;
    return facts != nullptr;
  }
  const bool compares = code.form == Code::Form::compare && code.symbol == "==" &&
                        code.args[0].form == Code::Form::call &&
                        code.args[0].function == rules::Function::value;
  if (!compares) return false;
  LeafFacts* facts = leaf_at(code.args[0]);
  const SymbolicQuantity wanted = evaluate(code.args[1], scope);
  if (!facts || (!wanted.literal && wanted.kind != Kind::integer)) return false;
  facts->value =
      wanted.literal ? wanted.real : real_of(static_cast<double>(state_.literal(wanted.items[0]))).real;
  return true;
}

bool LeftSide::siblings_agree() {
  if (!rule_.is_siblings()) return true;
  const std::int16_t member_set = rule_.sibling_member_set;
  const auto each = [&](const Code& code, const char* relation) {
    for (std::size_t m = 1; m < b_.count(member_set); ++m) {
      const auto a = evaluate(code, {state_, b_, member_set, m - 1}),
                 b = evaluate(code, {state_, b_, member_set, m});
      if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
      for (std::size_t i = 0; i < a.items.size(); ++i)
        state_.assume(*relation == '=' ? a.items[i] == b.items[i] : a.items[i] <= b.items[i]);
    }
    return true;
  };
  for (const Code& code : rule_.same) {
    if (!each(code, "=")) return false;
  }
  for (const Code& code : rule_.order) {
    if (!each(code, "<")) return false;
  }
  return true;
}

}
