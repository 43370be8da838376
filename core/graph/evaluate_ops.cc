#include "core/graph/evaluate_ops.h"

#include "core/graph/tables.h"

namespace regraft::graph {

void refuse(OpKind kind, const std::string& problem) {
  throw GraphError(problem, "folding " + std::string(op_info(kind).name), "");
}

std::int64_t element_count(std::span<const std::int64_t> dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      throw GraphError("has more than 2^63 elements", "constant", "");
  return count;
}

std::vector<std::int64_t> strides_of(std::span<const std::int64_t> dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

std::vector<std::int64_t> broadcast_dims(OpKind kind, Inputs inputs) {
  std::vector<std::int64_t> out;
  for (const HostTensor* input : inputs) {
    if (input->dims.size() > out.size()) out.insert(out.begin(), input->dims.size() - out.size(), 1);
    const std::size_t shift = out.size() - input->dims.size();
    for (std::size_t i = 0; i < input->dims.size(); ++i) {
      std::int64_t& dim = out[i + shift];
      if (dim != input->dims[i] && dim != 1 && input->dims[i] != 1) refuse(kind, "cannot broadcast");
      if (dim == 1) dim = input->dims[i];
    }
  }
  return out;
}

std::vector<std::int64_t> broadcast_strides(std::span<const std::int64_t> dims,
                                            std::span<const std::int64_t> out) {
  std::vector<std::int64_t> result(out.size(), 0);
  const auto strides = strides_of(dims);
  const std::size_t shift = out.size() - dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != 1) result[i + shift] = strides[i];
  return result;
}

HostTensor make_tensor(DType dtype, std::vector<std::int64_t> dims) {
  HostTensor tensor;
  tensor.dtype = dtype;
  const auto count = static_cast<std::size_t>(element_count(dims));
  tensor.dims = std::move(dims);
  if (is_float(dtype))
    tensor.real.resize(count);
  else
    tensor.integer.resize(count);
  return tensor;
}

std::vector<WeightId> fold_order(const Tables& tables, WeightId root, UseCounts& uses) {
  std::vector<WeightId> order;
  std::vector<std::pair<WeightId, std::size_t>> stack{{root, 0}};
  uses[root] = 1;
  while (!stack.empty()) {
    auto& [id, next] = stack.back();
    const WeightExpr& held = tables.weights()[id];
    if (held.form != WeightExpr::Form::operation || next == held.args.size()) {
      order.push_back(id);
      stack.pop_back();
      continue;
    }
    const WeightId arg = held.args[next++];
    if (arg != WeightId::none && uses[arg]++ == 0) stack.emplace_back(arg, 0);
  }
  return order;
}

}
