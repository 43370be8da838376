#include "core/exec/runtime/tensor.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/exec/runtime/exec_error.h"
#include "core/graph/evaluate.h"

namespace regraft::exec {
namespace {

void require_float(DType dtype, const char* where) {
  if (!graph::is_float(dtype)) {
    throw ExecError("a floating tensor is needed, this one is " + graph::dtype_name(dtype), where, "");
  }
}

/// IEEE-754 patterns order as integers within one sign, so a neighbour is one step of the integer.
template <typename Bits>
Bits neighbour(Bits pattern, Bits infinity, bool up) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  const Bits magnitude = static_cast<Bits>(pattern & static_cast<Bits>(~kSign));
  if (magnitude >= infinity) return pattern;
  if (magnitude == 0) return up ? Bits{1} : static_cast<Bits>(kSign | 1u);
  const bool negative = (pattern & kSign) != 0;
  const Bits moved = static_cast<Bits>(up != negative ? magnitude + 1 : magnitude - 1);
  if (moved == infinity) return pattern;
  return static_cast<Bits>(moved | (pattern & kSign));
}

template <typename Bits>
void nudge(Tensor& tensor, Bits infinity, Rng& rng) {
  for (Bits& element : tensor.as<Bits>()) element = neighbour(element, infinity, (rng.next() >> 63) != 0);
}

std::string container_name(Container container) {
  static constexpr std::array kNames{"tensor", "sequence", "map", "nothing"};
  return kNames[static_cast<std::size_t>(container)];
}

}  // namespace

std::size_t Tensor::element_count() const {
  return std::accumulate(dims.begin(), dims.end(), std::size_t{1}, [](std::size_t count, std::int64_t dim) {
    return count * static_cast<std::size_t>(dim);
  });
}

std::string ValueInfo::describe() const {
  std::string text = name + ": " +
                     (container == Container::tensor ? "" : container_name(container) + " of ") +
                     graph::dtype_name(dtype) + "[";
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (axis > 0) text += ", ";
    const AxisInfo& dim = dims[axis];
    text += dim.is_static() ? std::to_string(dim.size) : dim.symbol;
  }
  return text + "]";
}

std::string describe(const Tensor& tensor) {
  if (tensor.container != Container::tensor) {
    std::string text;
    for (const Tensor& item : tensor.items) text += (text.empty() ? "" : ", ") + describe(item);
    return container_name(tensor.container) + " (" + text + ")";
  }
  std::string text = graph::dtype_name(tensor.dtype) + "[";
  for (std::size_t axis = 0; axis < tensor.dims.size(); ++axis) {
    text += (axis > 0 ? ", " : "") + std::to_string(tensor.dims[axis]);
  }
  return text + "]";
}

std::vector<const Tensor*> parts_of(const Tensor& tensor) {
  if (tensor.container == Container::tensor) return {&tensor};
  std::vector<const Tensor*> parts;
  for (const Tensor& item : tensor.items)
    for (const Tensor* part : parts_of(item)) parts.push_back(part);
  return parts;
}

std::vector<Tensor*> parts_of(Tensor& tensor) {
  std::vector<Tensor*> parts;
  for (const Tensor* part : parts_of(std::as_const(tensor))) parts.push_back(const_cast<Tensor*>(part));
  return parts;
}

bool same_form(const Tensor& a, const Tensor& b) {
  return a.container == b.container && a.dtype == b.dtype && a.dims == b.dims &&
         std::ranges::equal(a.items, b.items, same_form);
}

std::vector<double> to_doubles(const Tensor& tensor) {
  if (tensor.container != Container::tensor) {
    std::vector<double> values;
    for (const Tensor* part : parts_of(tensor))
      if (graph::is_float(part->dtype)) std::ranges::copy(to_doubles(*part), std::back_inserter(values));
    return values;
  }
  require_float(tensor.dtype, "to_doubles");
  graph::TensorType type{tensor.dtype, true, {}};
  for (const std::int64_t dim : tensor.dims) type.dims.push_back(dim);
  return std::move(graph::HostTensor::from_bytes(type, tensor.bytes).real);
}

Tensor from_doubles(DType dtype, std::vector<std::int64_t> dims, std::span<const double> values) {
  require_float(dtype, "from_doubles");
  const graph::HostTensor host{dtype, dims, {values.begin(), values.end()}, {}};
  return {dtype, std::move(dims), host.to_bytes(), {}};
}

void nudge_one_ulp(Tensor& tensor, Rng& rng) {
  for (Tensor& item : tensor.items) nudge_one_ulp(item, rng);
  switch (tensor.dtype) {
    case DType::float32:
      return nudge<std::uint32_t>(tensor, 0x7F800000u, rng);
    case DType::float64:
      return nudge<std::uint64_t>(tensor, 0x7FF0000000000000ull, rng);
    case DType::float16:
      return nudge<std::uint16_t>(tensor, 0x7C00u, rng);
    case DType::bfloat16:
      return nudge<std::uint16_t>(tensor, 0x7F80u, rng);
    default:
      return;
  }
}

}
