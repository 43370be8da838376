#include "core/onnx/known_values.h"

#include <algorithm>

#include "core/graph/constants.h"
#include "core/graph/evaluate.h"
#include "core/graph/taken_elements.h"

namespace regraft::onnx {
namespace {

using graph::OpKind;
using graph::Value;
using graph::WeightId;

// Values of up to so many elements are computed at once and kept as literals.
constexpr std::size_t kComputedElements = 4096;

std::uint64_t key_of(Value value) {
  return (std::uint64_t{value.node} << 32) | value.output;
}

}  // namespace

WeightId KnownValues::find(Value value) const {
  const auto found = by_value_.find(key_of(value));
  return found == by_value_.end() ? WeightId::none : found->second;
}

std::vector<KnownValue> KnownValues::take() {
  return std::move(found_);
}

void KnownValues::note(Value value, WeightId weight) {
  if (weight == WeightId::none) return;
  by_value_.emplace(key_of(value), weight);
  found_.push_back({value, weight});
}

void KnownValues::note(Value value, graph::TypeId id, Elements elements) {
  const graph::TensorType& type = tables_.type(id);
  const auto count = type.element_count();
  if (!count || static_cast<std::size_t>(*count) != elements.size()) return;
  if (std::ranges::none_of(elements, &graph::Element::known)) return;
  graph::HostTensor constant{type.dtype, {type.dims.begin(), type.dims.end()}, {}, {}};
  for (const graph::Element& element : elements)
    if (element.is_number()) constant.integer.push_back(element.value);
  if (constant.integer.size() == elements.size())
    return note(value, tables_.weights().literal(id, constant.to_bytes()));
  elements_.emplace(key_of(value), std::move(elements));
}

std::span<const graph::Element> KnownValues::elements(Value value) const {
  const auto found = elements_.find(key_of(value));
  return found == elements_.end() ? std::span<const graph::Element>{} : found->second;
}

WeightId KnownValues::value_of(const ::onnx::NodeProto& node,
                               std::span<const graph::Operand> operands) const {
  const bool slices = node.op_type() == "Slice" && !operands.empty() && operands[0].present;
  return slices ? graph::known_slice(tables_, operands) : WeightId::none;
}

void KnownValues::learn(const graph::Graph& graph, graph::NodeId id, OpKind kind,
                        const graph::AttrBlock& attrs, std::span<const graph::Operand> operands) {
  const bool constant = std::ranges::all_of(operands, [](const graph::Operand& operand) {
    return operand.present && operand.value != WeightId::none;
  });
  try {
    if (constant && kind != OpKind::shape)
      fold(graph, id, kind, attrs, operands);
    else
      note({id, 0}, graph.type_id({id, 0}),
           computed_elements(tables_, kind, attrs, operands, graph.type_id({id, 0})));
  } catch (const graph::GraphError&) {
    // The node would fail at run time as well (an index out of range, say): its value stays unknown.
  }
}

void KnownValues::fold(const graph::Graph& graph, graph::NodeId id, OpKind kind,
                       const graph::AttrBlock& attrs, std::span<const graph::Operand> operands) {
  InlineVector<WeightId, 4> args;
  InlineVector<graph::TypeId, 4> types;
  for (const graph::Operand& operand : operands) {
    args.push_back(operand.value);
    types.push_back(operand.type);
  }
  if (!graph::can_evaluate(tables_, kind, types)) return;
  if (!fold_small(graph, id, attrs, args)) fold_large(graph, id, attrs, args);
}

bool KnownValues::fold_small(const graph::Graph& graph, graph::NodeId id, const graph::AttrBlock& attrs,
                             std::span<const WeightId> args) {
  const graph::Node& node = graph.node(id);
  const auto small = [&](graph::TypeId type) {
    const auto count = tables_.type(type).element_count();
    return count && static_cast<std::uint64_t>(*count) <= kComputedElements;
  };
  for (const WeightId arg : args)
    if (!small(tables_.weights()[arg].type)) return false;
  for (const graph::TypeId type : node.outputs)
    if (!small(type)) return false;
  std::vector<graph::HostTensor> values;
  std::vector<const graph::HostTensor*> inputs;
  for (const WeightId arg : args) values.push_back(graph::evaluate(tables_, arg));
  for (const graph::HostTensor& value : values) inputs.push_back(&value);
  const auto results = graph::evaluate_op(node.kind, attrs, inputs);
  for (std::uint32_t k = 0; k < results.size() && k < node.outputs.size(); ++k) {
    const graph::TensorType& type = tables_.type(node.outputs[k]);
    const bool as_typed =
        results[k].dtype == type.dtype &&
        std::equal(type.dims.begin(), type.dims.end(), results[k].dims.begin(), results[k].dims.end());
    if (as_typed) note({id, k}, tables_.weights().literal(node.outputs[k], results[k].to_bytes()));
  }
  return true;
}

void KnownValues::fold_large(const graph::Graph& graph, graph::NodeId id, const graph::AttrBlock& attrs,
                             std::span<const WeightId> args) {
  const graph::Node& node = graph.node(id);
  const auto bytes_of = [&](graph::TypeId type) {
    return tables_.type(type).element_count().value_or(0) *
           static_cast<std::int64_t>(dtype_bytes(tables_.type(type).dtype));
  };
  std::int64_t in = 0, out = 0;
  for (const WeightId arg : args) in += bytes_of(tables_.weights()[arg].type);
  for (const graph::TypeId type : node.outputs) {
    if (!tables_.type(type).is_static()) return;
    out += bytes_of(type);
  }
  if (out > in) return;  // folding must not grow the model
  for (std::uint32_t k = 0; k < node.outputs.size(); ++k)
    note({id, k}, graph::constant_operation(tables_, node.kind, tables_.intern(attrs), args, k));
}

}
