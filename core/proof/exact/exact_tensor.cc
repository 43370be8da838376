#include "core/proof/exact/exact_tensor.h"

#include <cmath>

#include "core/graph/evaluate.h"
#include "core/graph/op.h"

namespace regraft::proof {

using graph::OpKind;

ExactTensor ExactTensor::zeros(graph::DType dtype, graph::Ints dims) {
  std::size_t count = 1;
  for (std::int64_t d : dims) count *= static_cast<std::size_t>(d);
  return {dtype, std::move(dims), std::vector<Exact>(count)};
}

std::size_t ExactTensor::flat(std::span<const std::int64_t> index) const {
  std::int64_t k = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) k = k * dims[d] + index[d];
  return static_cast<std::size_t>(k);
}

const Exact& ExactTensor::broadcast_at(std::span<const std::int64_t> index) const {
  std::int64_t k = 0;
  const std::size_t shift = index.size() - dims.size();
  for (std::size_t d = 0; d < dims.size(); ++d) k = k * dims[d] + (dims[d] == 1 ? 0 : index[d + shift]);
  return values[static_cast<std::size_t>(k)];
}

bool next_index(graph::Ints& index, std::span<const std::int64_t> dims) {
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (++index[d] < dims[d]) return true;
    index[d] = 0;
  }
  return false;
}

namespace {

// What only moves elements is done by graph/evaluate.h on their numbers; 0 stands for what padding adds.
std::vector<ExactTensor> moved(OpKind kind, graph::AttrBlock attrs, ExactInputs inputs) {
  for (const graph::OperandAttr& operand : graph::op_info(kind).operand_attrs) {
    if (operand.input < inputs.size() && inputs[operand.input])
      throw Undecided(std::string(graph::op_info(kind).name) + " of what is not constant is not known",
                      "exact evaluation", "");
  }
  std::vector<graph::HostTensor> numbers(inputs.size());
  std::vector<const graph::HostTensor*> operands;
  std::vector<Exact> pool(1);
  if (kind == OpKind::pad) {
    if (attrs.has(graph::Attr::value)) pool[0] = Exact::of(attrs.real(graph::Attr::value));
    attrs.set(graph::Attr::value, 0.0);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(inputs[i] ? &numbers[i] : nullptr);
    if (!inputs[i]) continue;
    numbers[i].dtype = graph::DType::int64;
    numbers[i].dims = inputs[i]->dims;
    const bool indices = (kind == OpKind::gather || kind == OpKind::gather_elements) && i == 1;
    for (const Exact& value : inputs[i]->values) {
      numbers[i].integer.push_back(indices ? std::llround(value.rough)
                                           : static_cast<std::int64_t>(pool.size()));
      if (!indices) pool.push_back(value);
    }
  }
  std::vector<ExactTensor> out;
  for (const graph::HostTensor& result : graph::evaluate_op(kind, attrs, operands)) {
    ExactTensor tensor{inputs[0]->dtype, result.dims, {}};
    for (std::int64_t n : result.integer) tensor.values.push_back(pool[static_cast<std::size_t>(n)]);
    out.push_back(std::move(tensor));
  }
  return out;
}

}  // namespace

std::vector<ExactTensor> evaluate_exactly(OpKind kind, const graph::AttrBlock& attrs, ExactInputs inputs,
                                          const graph::TensorType& type) {
  const graph::OpInfo& op = graph::op_info(kind);
  if (op.is(graph::kMovement) || kind == OpKind::pad) return moved(kind, attrs, inputs);
  ExactTensor out = ExactTensor::zeros(type.dtype, graph::Ints(type.dims.begin(), type.dims.end()));
  if (op.is(graph::kElementwise)) return {exact_elementwise(kind, attrs, inputs, std::move(out))};
  switch (kind) {
    case OpKind::matmul:
    case OpKind::gemm:
    case OpKind::einsum:
    case OpKind::conv:
    case OpKind::quantize_linear:
    case OpKind::dequantize_linear:
      return {exact_linear(kind, attrs, inputs, std::move(out))};
    case OpKind::multi_head_attention:
      return {exact_attention(attrs, inputs, std::move(out))};
    case OpKind::lstm:
    case OpKind::gru:
      return exact_recurrence(kind, inputs);
    case OpKind::batch_norm:
    case OpKind::layer_norm:
    case OpKind::softmax:
    case OpKind::log_softmax:
      return {exact_normalisation(kind, attrs, inputs, std::move(out))};
    default:
      return {exact_reduction(kind, attrs, inputs, std::move(out))};
  }
}

}
