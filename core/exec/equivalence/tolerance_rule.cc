#include "core/exec/equivalence/tolerance_rule.h"

#include <algorithm>

#include "core/graph/dtype.h"

namespace regraft::exec {
namespace {

bool is_half(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16;
}

}  // namespace

double ToleranceRule::tolerance(DType dtype, double spread) {
  if (!graph::is_float(dtype)) return 0;
  return std::clamp(kFactor * spread, floor(dtype), ceiling(dtype));
}

double ToleranceRule::ceiling(DType dtype) {
  return is_half(dtype) ? kHalfCeiling : kCeiling;
}

double ToleranceRule::floor(DType dtype) {
  if (dtype == DType::float16) return kFloat16Floor;
  return dtype == DType::bfloat16 ? kBfloat16Floor : kFloor;
}

}
