#include "core/onnx/new_constants.h"

#include "core/graph/evaluate.h"
#include "core/onnx/onnx_error.h"

namespace regraft::onnx {

namespace pb = ::onnx;
using graph::DType;
using graph::WeightExpr;

pb::TensorProto& NewConstants::add(const std::string& name, DType dtype, std::span<const std::int64_t> dims) {
  pb::TensorProto& tensor = tensors_.emplace_back();
  tensor.set_name(name);
  tensor.set_data_type(static_cast<int>(dtype));
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

std::string NewConstants::integers(std::span<const std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return small(DType::int64, std::span(&count, 1), std::as_bytes(values), "regraft_ints");
}

std::string NewConstants::scalar(DType dtype, double value) {
  graph::HostTensor tensor;
  tensor.dtype = dtype;
  if (graph::is_float(dtype))
    tensor.real = {value};
  else
    tensor.integer = {static_cast<std::int64_t>(value)};
  return small(dtype, {}, tensor.to_bytes(), "regraft_scalar");
}

std::string NewConstants::reals(std::span<const float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return small(DType::float32, std::span(&count, 1), std::as_bytes(values), "regraft_reals");
}

std::string NewConstants::small(DType dtype, std::span<const std::int64_t> dims,
                                std::span<const std::byte> bytes, const std::string& stem) {
  std::string key = std::to_string(static_cast<int>(dtype)) + "/" + std::to_string(dims.size()) + "/";
  key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto [at, fresh] = small_names_.try_emplace(key);
  if (fresh) {
    at->second = names_.fresh(stem);
    payloads_.set_copy(add(at->second, dtype, dims), bytes);
  }
  return at->second;
}

std::string NewConstants::weight(graph::WeightId id) {
  if (std::string own = names_.of(id); !own.empty()) return own;
  const WeightExpr& weight = tables_.weights()[id];
  const auto [at, fresh] = weight_names_.try_emplace(id);
  if (!fresh) return at->second;
  at->second = names_.fresh("regraft_weight");
  const graph::TensorType& type = tables_.type(weight.type);
  if (!type.is_static())
    throw OnnxError("a folded weight has unknown dims", at->second, "please report this");
  pb::TensorProto& tensor = add(at->second, type.dtype, type.dims);
  const auto size = static_cast<std::uint64_t>(*type.element_count()) * graph::dtype_bytes(type.dtype);
  payloads_.set(tensor, id, size);
  return at->second;
}

}
