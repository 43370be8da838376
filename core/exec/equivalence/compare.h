#pragma once

#include <limits>
#include <span>
#include <string>

#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// The largest finite magnitude, 0 where there is none. Large numbers that are nearly one do not count where
/// all others are a hundred times as small: they hide places, as masks do.
double scale_of(std::span<const double> values);

/// How far tensor b is from tensor a.
struct Difference {
  /// Floating dtypes: max |a - b| / max(|a|, scale of a) over the elements that are finite in both (max |b|
  /// where a is all zero). Others: 0 when equal, else infinity.
  double relative_error = 0;
  /// Empty, or why no tolerance can make the tensors close, with the first index where this is so. Reasons:
  /// another dtype or other dims; a NaN or infinity in one tensor only, or of another sign; an unequal
  /// integer, boolean or string.
  std::string problem;

  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();
};

Difference compare(const Tensor& a, const Tensor& b);

}
