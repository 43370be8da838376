#include "core/exec/torch/torch_ops.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {

using graph::Attr;

std::vector<std::int64_t> TorchCall::values(std::size_t slot) const {
  const at::Tensor flat =
      (is_known(slot) ? known[slot] : input(slot)).to(at::kCPU, at::kLong).contiguous().flatten();
  return {flat.data_ptr<std::int64_t>(), flat.data_ptr<std::int64_t>() + flat.numel()};
}

std::optional<std::vector<std::int64_t>> TorchCall::ints(Attr attr, std::size_t slot) const {
  if (attrs.has(attr)) return attrs.ints(attr);
  if (!has_input(slot)) return std::nullopt;
  return values(slot);
}

std::optional<double> TorchCall::number(Attr attr, std::size_t slot) const {
  if (attrs.has(attr)) return attrs.real(attr);
  if (!has_input(slot)) return std::nullopt;
  return (is_known(slot) ? known[slot] : input(slot)).to(at::kDouble).item<double>();
}

std::optional<at::Scalar> TorchCall::bound(Attr attr, std::size_t slot) const {
  if (!at::isIntegralType(input(0).scalar_type(), false)) {
    const std::optional<double> value = number(attr, slot);
    return value ? std::optional<at::Scalar>(*value) : std::nullopt;
  }
  if (attrs.has(attr)) {  // a double from 2^63 on is no int64
    constexpr double kEnd = 0x1p63;
    const double value = attrs.real(attr);
    if (std::abs(value) < kEnd) return at::Scalar(static_cast<std::int64_t>(value));
    return at::Scalar(value > 0 ? std::numeric_limits<std::int64_t>::max()
                                : std::numeric_limits<std::int64_t>::min());
  }
  if (!has_input(slot)) return std::nullopt;
  return at::Scalar(values(slot).at(0));
}

TorchRow torch_row(graph::OpKind kind) {
  if (const TorchRow row = elementwise_row(kind)) return row;
  if (const TorchRow row = linear_row(kind)) return row;
  return movement_row(kind);
}

std::vector<at::Tensor> run_torch_op(const TorchCall& call) {
  const std::string name(graph::op_info(call.kind).name);
  const TorchRow row = torch_row(call.kind);
  if (row == nullptr)
    throw ExecError("the op has no meaning in the oracle", name, "leave it outside of rewrites");
  try {
    return row(call);
  } catch (const c10::Error& error) {
    throw ExecError(error.what_without_backtrace(), name, "");
  }
}

at::ScalarType oracle_type(graph::DType dtype) {
  if (graph::is_float(dtype)) return at::kDouble;
  if (dtype == graph::DType::boolean) return at::kBool;
  if (graph::is_integer(dtype)) return at::kLong;
  throw ExecError("tensors of type " + graph::dtype_name(dtype) + " are not supported", "oracle", "");
}

at::Tensor to_torch(graph::HostTensor tensor) {
  if (graph::is_float(tensor.dtype)) {
    const auto held =
        std::make_shared<graph::HostTensor>(std::move(tensor));  // its elements stay where they are
    return at::from_blob(
        held->real.data(), held->dims, [held](void*) {}, at::kDouble);
  }
  const at::Tensor values =
      at::from_blob(const_cast<std::int64_t*>(tensor.integer.data()), tensor.dims, at::kLong);
  return values.to(oracle_type(tensor.dtype), false, /*copy=*/true);
}

}
