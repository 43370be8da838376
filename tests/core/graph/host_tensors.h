#pragma once

// Constant tensors for tests of constant folding.

#include <functional>
#include <limits>
#include <numeric>

#include "core/base/rng.h"
#include "core/graph/evaluate.h"

namespace regraft::graph::test {

using Index = std::vector<std::int64_t>;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

inline HostTensor reals(Index dims, std::vector<double> values, DType dtype = DType::float64) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  tensor.real = std::move(values);
  return tensor;
}

inline HostTensor integers(Index dims, std::vector<std::int64_t> values, DType dtype = DType::int64) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  tensor.integer = std::move(values);
  return tensor;
}

inline std::int64_t count(const Index& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

/// 0, 1, 2...: every element tells where it came from.
inline HostTensor numbered(const Index& dims) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count(dims)));
  std::iota(values.begin(), values.end(), 0);
  return integers(dims, values);
}

inline HostTensor random_reals(const Index& dims, Rng& rng) {
  std::vector<double> values(static_cast<std::size_t>(count(dims)));
  for (double& value : values) value = rng.normal();
  return reals(dims, values);
}

inline HostTensor run(OpKind kind, const AttrBlock& attrs, const std::vector<HostTensor>& inputs,
                      std::size_t output = 0) {
  std::vector<const HostTensor*> pointers;
  for (const HostTensor& input : inputs) pointers.push_back(&input);
  return evaluate_op(kind, attrs, pointers).at(output);
}

/// Calls f with every index of a shape, in row-major order.
inline void each(const Index& dims, const std::function<void(const Index&)>& f) {
  Index at(dims.size(), 0);
  for (std::int64_t i = 0; i < count(dims); ++i) {
    f(at);
    for (std::size_t k = dims.size(); k-- > 0;) {
      if (++at[k] < dims[k]) break;
      at[k] = 0;
    }
  }
}

inline std::size_t flat(const Index& dims, const Index& at) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) offset = offset * dims[i] + at[i];
  return static_cast<std::size_t>(offset);
}

}
