#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/types.h"

namespace regraft::graph {

/// A constant tensor in memory: fp64 for floating types, int64 for integers and booleans; row-major.
struct HostTensor {
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims;
  std::vector<double> real;           // floating dtypes
  std::vector<std::int64_t> integer;  // the others

  std::size_t size() const { return is_float(dtype) ? real.size() : integer.size(); }
  /// Little-endian elements of `dtype`, rounded to nearest even.
  std::vector<std::byte> to_bytes() const;
  static HostTensor from_bytes(const TensorType& type, std::span<const std::byte> bytes);
};

/// The nearest value of a floating dtype, ties to even.
double round_to(DType dtype, double value);

/// The value of an integer dtype that int64 arithmetic wraps to.
std::int64_t wrap(DType dtype, std::int64_t value);

}
