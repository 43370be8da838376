#pragma once

#include <limits>
#include <string>

#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// How far tensor b is from tensor a.
struct Difference {
  /// Floating dtypes: max |a - b| / max |a| over the elements that are finite in both (max |b| where a is all
  /// zero). Others: 0 when equal, else infinity.
  double relative_error = 0;
  /// Empty, or why no tolerance can make the tensors close, with the first index where this is so. Reasons:
  /// another dtype or other dims; a NaN or infinity in one tensor only, or of another sign; an unequal
  /// integer, boolean or string.
  std::string problem;

  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();
};

Difference compare(const Tensor& a, const Tensor& b);

}
