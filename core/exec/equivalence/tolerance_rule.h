#pragma once

#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// A tolerance is `factor` x the spread of the original itself, within a floor and a ceiling that depend on
/// the output's dtype. The floor of half types is the unit in the last place of 1: two correct roundings may
/// differ by it.
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

}
