#pragma once

#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// Tolerances: `factor` x the spread of the original itself, at least the floor (of half types the unit in
/// the last place of 1: two right roundings may differ by that), at most the ceiling of the output's dtype.
struct ToleranceRule {
  static constexpr double kFactor = 4;
  static constexpr double kFloor = 1e-5;
  static constexpr double kFloat16Floor = 0x1p-10, kBfloat16Floor = 0x1p-7;
  static constexpr double kCeiling = 2e-3;
  static constexpr double kHalfCeiling = 2e-2;

  static double floor(DType dtype);
  static double ceiling(DType dtype);
  static double tolerance(DType dtype, double spread);
};

}  // namespace regraft::exec
