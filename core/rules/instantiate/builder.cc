#include "core/rules/instantiate/builder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/graph/constants.h"
#include "core/graph/evaluate.h"
#include "core/graph/opset.h"
#include "core/rules/compile/op_domain.h"
#include "core/rules/instantiate/evaluate.h"
#include "core/rules/instantiate/fits_for_all_sizes.h"
#include "core/rules/instantiate/list_functions.h"

namespace regraft::rules {

using graph::AttrBlock;
using graph::AttrId;
using graph::NodeId;
using graph::OpKind;
using graph::Value;
using graph::WeightId;

namespace {

InlineVector<graph::Operand, 4> as_operands(const graph::Tables& tables, const Builder::Tensors& tensors) {
  InlineVector<graph::Operand, 4> out;
  for (const Tensor& t : tensors) {
    out.push_back({t.present() ? t.type : tables.type_none(), t.weight, t.present()});
  }
  return out;
}

Tensor virtual_tensor(graph::TypeId type) {
  return {{}, type, WeightId::none, Tensor::State::present};
}

Tensor absent_tensor() {
  return {{}, {}, WeightId::none, Tensor::State::absent};
}

enum class Presence : std::uint8_t { all, some, none };

// What is made from an absent operand is absent: a bias that is not there stays so through arithmetic.
Presence presence(OpKind kind, const Builder::Tensors& operands) {
  const graph::OpInfo& op = graph::op_info(kind);
  const bool list = op.is(graph::kVariadic);
  const std::size_t needed = list ? operands.size() : std::min<std::size_t>(op.min_inputs, operands.size());
  std::size_t absent = 0;
  for (std::size_t i = 0; i < needed; ++i) absent += operands[i].present() ? 0 : 1;
  if (absent == 0) return Presence::all;
  return !list || absent == needed ? Presence::none : Presence::some;
}

}  // namespace

std::string_view Builder::run() {
  for (const RightStep& s : rule_.right) {
    const std::size_t count = s.member_set < 0 ? 1 : bindings_.count(s.member_set);
    for (std::size_t member = 0; member < count; ++member) {
      if (const auto problem = step(s, member); !problem.empty()) return problem;
    }
  }
  return reads_what_it_replaces() ? "the right side reads what it replaces" : std::string_view{};
}

Tensor Builder::of_weight(WeightId weight) const {
  return {{}, graph_.tables().weights()[weight].type, weight, Tensor::State::present};
}

Value Builder::materialise(Tensor& tensor) {
  if (tensor.present() && !tensor.value.present() && tensor.constant())
    tensor.value = target_->weight_value(tensor.weight);
  return tensor.value;
}

std::string_view Builder::step(const RightStep& s, std::size_t member) {
  switch (s.form) {
    case RightStep::Form::let: {
      const Quantity value = evaluate(s.codes[0], {graph_, bindings_, s.member_set, member});
      if (!value.known()) return "a number on the right side cannot be computed";
      bindings_.quantity(*s.target, member) = value;
      return {};
    }
    case RightStep::Form::first_present: {
      Tensors options;
      if (const auto problem = gather_operands(s, member, options); !problem.empty()) return problem;
      const auto first =
          std::find_if(options.begin(), options.end(), [](const Tensor& t) { return t.present(); });
      return bind_outputs(s, member, Tensors{first == options.end() ? options.back() : *first});
    }
    case RightStep::Form::operation:
      return operation(s, member);
    default:
      return constant(s, member);
  }
}

std::string_view Builder::constant(const RightStep& s, std::size_t member) {
  graph::WeightTable& weights = graph_.tables().weights();
  const Quantity first = evaluate(s.codes[0], {graph_, bindings_, s.member_set, member});
  const bool whole = s.form == RightStep::Form::integer
                         ? first.kind == Quantity::Kind::integer && !is_symbolic(first.integer)
                         : first.kind == Quantity::Kind::list &&
                               std::none_of(first.list.begin(), first.list.end(), is_symbolic);
  if (!whole) return "a constant of the right side cannot be computed";
  if (s.form == RightStep::Form::integers)
    return bind_outputs(s, member, Tensors{of_weight(weights.integers(first.list))});
  if (s.form == RightStep::Form::integer) {
    return bind_outputs(
        s, member,
        Tensors{of_weight(weights.scalar(graph::DType::int64, static_cast<double>(first.integer)))});
  }
  const Quantity value = evaluate(s.codes[1], {graph_, bindings_, s.member_set, member});
  Tensors like;
  if (const auto problem = gather_operands(s, member, like); !problem.empty()) return problem;
  if (s.form == RightStep::Form::values) return literal_values(s, member, first.list, value, like[0]);
  const bool number = (value.kind == Quantity::Kind::integer && !is_symbolic(value.integer)) ||
                      value.kind == Quantity::Kind::real;
  if (!number || !like[0].present() || !are_dims(first.list))
    return "a constant of the right side cannot be computed";
  const auto dtype = graph_.tables().type(like[0].type).dtype;
  const double filler = value.kind == Quantity::Kind::real ? value.real : static_cast<double>(value.integer);
  Hasher key(~std::uint64_t{0});  // apart from the keys of key_of(), which begin with an operation
  key.add(std::bit_cast<std::uint64_t>(filler));
  key.add(static_cast<std::uint64_t>(dtype));
  const Hash128 hash = key.finish();
  const Operation* known = memo_.find(hash);
  if (!known) {
    Operation fresh;
    fresh.attrs = graph_.tables().intern(
        AttrBlock{{graph::Attr::value, filler}, {graph::Attr::to, static_cast<std::int64_t>(dtype)}});
    known = &memo_.add(hash, fresh);
  }
  const Tensors dims{of_weight(weights.integers(first.list))};
  return bind_outputs(s, member, fold(OpKind::constant_of_shape, known->attrs, dims));
}

std::string_view Builder::literal_values(const RightStep& s, std::size_t member, const List& elements,
                                         const Quantity& dims, const Tensor& like) {
  const bool fits = dims.kind == Quantity::Kind::list && like.present() && are_dims(dims.list);
  if (!fits) return "a constant of the right side cannot be computed";
  const graph::DType dtype = graph_.tables().type(like.type).dtype;
  const graph::TypeId type = graph_.tables().intern(dtype, dims.list);
  if (graph_.tables().type(type).element_count() != static_cast<std::int64_t>(elements.size())) {
    return "a constant of the right side has more or fewer elements than its dims say";
  }
  return bind_outputs(
      s, member, Tensors{of_weight(graph_.tables().weights().literal(type, memo_.bytes(dtype, elements)))});
}

std::string_view Builder::gather_operands(const RightStep& s, std::size_t member, Tensors& out) {
  graph::TypeId like{};
  for (const RightOperand& operand : s.operands) {
    if (operand.absent) {
      out.push_back(absent_tensor());
    } else if (!operand.slot) {
      out.push_back({});
    } else if (operand.spread) {
      for (std::size_t i = 0; i < bindings_.count(operand.slot->member_set); ++i) {
        out.push_back(bindings_.tensor(*operand.slot, i));
      }
    } else {
      out.push_back(bindings_.tensor(*operand.slot, member));
    }
    if (!out.empty() && out.back().present() && like == graph::TypeId{}) like = out.back().type;
  }
  std::size_t i = 0;
  for (const RightOperand& operand : s.operands) {
    if (!operand.slot && !operand.absent) {
      const auto dtype = graph_.tables().type(like).dtype;
      if (dtype == graph::DType::undefined)
        return "a number on the right side has no tensor to take its type from";
      const Quantity value = evaluate(operand.number, {graph_, bindings_, s.member_set, member});
      const bool whole = value.kind == Quantity::Kind::integer && !is_symbolic(value.integer);
      if (!whole && value.kind != Quantity::Kind::real)
        return "a number on the right side cannot be computed";
      out[i] = of_weight(
          graph_.tables().weights().scalar(dtype, whole ? static_cast<double>(value.integer) : value.real));
    }
    i += operand.spread ? bindings_.count(operand.slot->member_set) : 1;
  }
  return {};
}

std::string Builder::attributes(const RightStep& s, std::size_t member, OpKind kind, const Tensors& operands,
                                AttrBlock& out) {
  if (s.op) out = graph_.tables().attrs(bindings_.frame(s.op->member_set, member).ops[s.op->index].attrs);
  for (const auto& [attr, code] : s.attrs) {
    const Quantity given = evaluate(code, {graph_, bindings_, s.member_set, member});
    auto value = given.as_attr(attr);
    if (!value && kind == OpKind::reshape && !operands.empty() && operands[0].present())
      value = shape_for_all_sizes(graph_.tables().type(operands[0].type), given);
    if (!value)
      return "attribute " + std::string(graph::attr_name(attr)) + " of the right side cannot be computed";
    out.set(attr, std::move(*value));
  }
  return {};
}

std::string_view Builder::operation(const RightStep& s, std::size_t member) {
  Tensors tensors;
  if (const auto problem = gather_operands(s, member, tensors); !problem.empty()) return problem;
  const OpKind kind = s.op ? bindings_.frame(s.op->member_set, member).ops[s.op->index].kind : s.kind;
  const Hash128 key = key_of(s, member, kind, tensors);
  Operation* known = memo_.find(key);
  if (!known) known = &memo_.add(key, resolved(s, member, kind, tensors));
  if (!known->problem.empty()) return known->problem;
  if (known->absent) return bind_outputs(s, member, Tensors(s.outputs.size(), absent_tensor()));
  tensors.resize(known->operands);
  if (known->idle) return bind_outputs(s, member, Tensors{tensors[0]});
  for (const std::uint8_t slot : known->dropped) tensors[slot] = absent_tensor();
  return bind_outputs(s, member,
                      known->folds ? fold(kind, known->attrs, tensors) : make(kind, *known, tensors));
}

Operation Builder::resolved(const RightStep& s, std::size_t member, OpKind kind, const Tensors& operands) {
  Operation out;
  std::string problem;
  try {
    problem = resolve(s, member, kind, operands, out);
  } catch (const graph::GraphError& e) {
    problem = e.what();
  }
  if (problem.empty()) return out;
  out = {};
  out.problem = std::move(problem);
  return out;
}

// All that resolve() looks at.
Hash128 Builder::key_of(const RightStep& s, std::size_t member, OpKind kind, const Tensors& operands) {
  Hasher key(static_cast<std::uint64_t>(kind));
  key.add(s.op ? graph::index(bindings_.frame(s.op->member_set, member).ops[s.op->index].attrs) + 1 : 0);
  key.add(s.outputs.size());
  for (const auto& [attr, code] : s.attrs) {
    key.add(static_cast<std::uint64_t>(attr));
    evaluate(code, {graph_, bindings_, s.member_set, member}).add_to(key);
  }
  const graph::Tables& tables = graph_.tables();
  const bool absorbs = !graph::op_info(kind).operand_attrs.empty();
  for (const Tensor& t : operands) {
    key.add(static_cast<std::uint64_t>(t.state) | (t.constant() ? 4u : 0u));
    if (!t.present()) continue;
    key.add(graph::index(t.type));
    const bool is_read = t.constant() && (absorbs || !graph::is_float(tables.type(t.type).dtype));
    if (is_read) key.add(tables.weights()[t.weight].hash);
  }
  return key.finish();
}

std::string Builder::resolve(const RightStep& s, std::size_t member, OpKind kind, Tensors tensors,
                             Operation& out) {
  AttrBlock attrs;
  if (std::string problem = attributes(s, member, kind, tensors, attrs); !problem.empty()) return problem;
  const Presence present = presence(kind, tensors);
  out.absent = present == Presence::none;
  if (out.absent) return {};
  if (present == Presence::some) return "an operand of the right side is absent";
  if (tensors.empty()) return "an operation of the right side has no operands";
  graph::Tables& tables = graph_.tables();
  auto operands = as_operands(tables, tensors);
  out.attrs = tables.intern(graph::canonical_attrs(tables, kind, std::move(attrs), operands));
  out.operands = operands.size();
  tensors.resize(operands.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (operands[i].present) continue;
    tensors[i] = absent_tensor();
    out.dropped.push_back(static_cast<std::uint8_t>(i));
  }
  if (needs_floats(s) && !graph::is_float(tables.type(tensors[0].type).dtype))
    return "the right side computes with integers, of which the rule says nothing";
  const bool all_constant = std::ranges::all_of(tensors, &Tensor::constant);
  InlineVector<graph::TypeId, 6> types;
  for (const Tensor& t : tensors) types.push_back(t.type);
  const AttrBlock& canonical = tables.attrs(out.attrs);
  if (!fits_for_all_sizes(tables, kind, canonical, types))
    return "the right side would fit some sizes of a symbol only";
  out.idle = moves_nothing(tables, kind, canonical, operands);
  out.folds = all_constant && !tensors.empty() && graph::can_evaluate(tables, kind, types);
  if (out.folds || out.idle) return {};
  std::string problem = graph::missing_form(tables, kind, canonical, types);
  return problem.empty() ? graph::missing_kernel(tables, kind, types) : problem;
}

Builder::Tensors Builder::fold(OpKind kind, AttrId attrs, const Tensors& operands) {
  InlineVector<WeightId, 6> args;
  for (const Tensor& t : operands) args.push_back(t.weight);
  Tensors out;
  for (std::size_t i = 0; i < graph::output_count(kind, graph_.tables().attrs(attrs)); ++i) {
    out.push_back(of_weight(
        graph::constant_operation(graph_.tables(), kind, attrs, args, static_cast<std::uint32_t>(i))));
  }
  return out;
}

Builder::Tensors Builder::make(OpKind kind, Operation& operation, Tensors& operands) {
  for (const Tensor& t : operands) {
    const bool reused = std::find(reused_.begin(), reused_.end(), t.value.node) != reused_.end();
    if (reused && t.present() && t.value.present() && !t.constant()) read_.push_back(t.value);
  }
  Tensors out;
  NodeId id = find_matched(kind, operation.attrs, operands);
  if (id != graph::kNoNode) {
    reused_.push_back(id);
  } else {
    const graph::TypeList types = infer(kind, operation, operands);
    if (!target_) {
      for (graph::TypeId type : types) out.push_back(virtual_tensor(type));
      return out;
    }
    id = find_existing(kind, operation.attrs, operands, types);
    if (id != graph::kNoNode) {
      reused_.push_back(id);
    } else {
      InlineVector<Value, 12> inputs;
      for (Tensor& t : operands) inputs.push_back(materialise(t));
      id = target_->add(kind, operation.attrs, inputs, types);
      added_->push_back(id);
    }
  }
  for (std::uint32_t i = 0; i < graph_.node(id).outputs.size(); ++i)
    out.push_back(Tensor::of(graph_, {id, i}));
  return out;
}

// Where a new symbol was named, another operation of this kind must get one of its own.
graph::TypeList Builder::infer(OpKind kind, Operation& operation, const Tensors& operands) {
  if (!operation.types.empty()) return operation.types;
  graph::Tables& tables = graph_.tables();
  const std::size_t symbols = tables.symbol_count();
  const graph::TypeList types =
      graph::infer_types(tables, kind, tables.attrs(operation.attrs), as_operands(tables, operands));
  if (tables.symbol_count() == symbols) operation.types = types;
  return types;
}

bool Builder::is_operation(NodeId id, OpKind kind, AttrId attrs, const Builder::Tensors& operands) const {
  const graph::Node& node = graph_.node(id);
  if (node.kind != kind || node.attrs != attrs) return false;
  return std::equal(operands.begin(), operands.end(), node.inputs.begin(), node.inputs.end(),
                    [&](const Tensor& t, Value input) {
                      if (!t.present() || !input.present()) return t.present() == input.present();
                      return t.constant() ? graph_.weight_of(input) == t.weight : t.value == input;
                    });
}

NodeId Builder::find_matched(OpKind kind, AttrId attrs, const Builder::Tensors& operands) const {
  const auto among = [&](const std::vector<NodeId>& nodes) {
    const auto found = std::find_if(nodes.begin(), nodes.end(), [&](NodeId id) {
      return id != graph::kNoNode && is_operation(id, kind, attrs, operands);
    });
    return found == nodes.end() ? graph::kNoNode : *found;
  };
  NodeId found = among(bindings_.plain.nodes);
  for (const auto& members : bindings_.members) {
    for (std::size_t i = 0; found == graph::kNoNode && i < members.size(); ++i)
      found = among(members[i].nodes);
  }
  return found;
}

NodeId Builder::find_existing(OpKind kind, AttrId attrs, const Builder::Tensors& operands,
                              std::span<const graph::TypeId> types) const {
  const auto real = [](const Tensor& t) { return t.value.present() && !t.constant(); };
  const auto first = std::find_if(operands.begin(), operands.end(), real);
  if (first == operands.end()) return graph::kNoNode;
  for (const graph::Use& use : graph_.uses(first->value.node)) {
    if (use.user == graph::kGraphOutput || !is_operation(use.user, kind, attrs, operands)) continue;
    const auto& outputs = graph_.node(use.user).outputs;
    if (std::equal(types.begin(), types.end(), outputs.begin(), outputs.end())) return use.user;
  }
  return graph::kNoNode;
}

std::string_view Builder::bind_outputs(const RightStep& s, std::size_t member,
                                       std::span<const Tensor> outputs) {
  if (s.sequence_output) {
    const Slot slot = s.outputs[0];
    if (bindings_.count(slot.member_set) != outputs.size())
      return "the number of outputs is not that of the members";
    for (std::size_t i = 0; i < outputs.size(); ++i) bindings_.tensor(slot, i) = outputs[i];
    return {};
  }
  if (s.outputs.size() != outputs.size()) return "the number of outputs is not that of the names";
  for (std::size_t i = 0; i < outputs.size(); ++i) bindings_.tensor(s.outputs[i], member) = outputs[i];
  return {};
}

bool Builder::reads_what_it_replaces() {
  bool reads = false;
  if (read_.empty()) return reads;
  for_each_replacement(rule_, bindings_, [&](const Tensor& before, const Tensor& after) {
    const bool read = std::find(read_.begin(), read_.end(), before.value) != read_.end();
    reads = reads || (read && after.value != before.value);
  });
  return reads;
}

}
