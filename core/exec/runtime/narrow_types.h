#pragma once

// Internal to core/exec: element types of 2 and 4 bits, and floats of 8, which core/graph does not compute
// with.

#include <cstddef>
#include <span>
#include <vector>

#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// Elements that are smaller than a byte share one, the first in its lowest bits (onnx.proto,
/// TensorProto.DataType).
struct NarrowType {
  DType dtype;
  std::size_t bits;
  double low, high;   // finite values; both are taken
  int mantissa_bits;  // of floats; -1: integers
  int bias = 0;       // of the exponent

  bool is_float() const { return mantissa_bits >= 0; }
};

/// Null for other types.
const NarrowType* narrow_type(DType dtype);

/// Bytes that elements of a type take; 0 for strings and unknown types.
std::size_t stored_bytes(DType dtype, std::size_t elements);

/// Rounds to nearest even; what is larger than the type's largest value becomes that.
std::vector<std::byte> to_narrow(const NarrowType& type, std::span<const double> values);

}
