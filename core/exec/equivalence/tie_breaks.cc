#include "core/exec/equivalence/tie_breaks.h"

#include <algorithm>
#include <cmath>

#include "core/exec/equivalence/tolerance_rule.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {

namespace {

/// The values that are reduced to one position: `data` seen as [outer, count, inner].
struct Lanes {
  std::int64_t outer = 1, count = 1, inner = 1;

  Lanes(const std::vector<std::int64_t>& dims, std::int64_t axis) {
    const auto rank = static_cast<std::int64_t>(dims.size());
    const std::int64_t at = axis < 0 ? axis + rank : axis;
    for (std::int64_t i = 0; i < rank; ++i)
      (i < at ? outer : i == at ? count : inner) *= dims[static_cast<std::size_t>(i)];
  }
  std::size_t index(std::size_t position, std::int64_t element) const {
    const auto p = static_cast<std::int64_t>(position);
    return static_cast<std::size_t>((p / inner * count + element) * inner + p % inner);
  }
};

}  // namespace

bool TieBreaks::excuse(const std::string& output, const ReferenceRun& run, const Tensor& own,
                       const Tensor& other) {
  if (own.dtype != DType::int64 || other.dtype != DType::int64 || own.dims != other.dims) return false;
  const auto producer = IntermediateOutputs::producer_of(original_, output);
  if (!producer || (producer->op != "ArgMax" && producer->op != "ArgMin")) return false;
  auto& exposed = exposed_[output];
  Tensor data;
  try {
    if (!exposed)
      exposed = std::make_unique<IntermediateOutputs>(original_, std::vector{producer->inputs.at(0)});
    data = exposed->run(run.inputs).at(0);
  } catch (const ExecError&) {
    return false;
  }
  if (!graph::is_float(data.dtype)) return false;
  const Lanes lanes(data.dims, producer->axis);
  const std::vector<double> values = to_doubles(data);
  double largest = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  const double limit = ToleranceRule::tolerance(data.dtype, 0) * largest;
  const auto a = own.as<std::int64_t>(), b = other.as<std::int64_t>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (b[i] < 0 || b[i] >= lanes.count) return false;
    if (!(std::abs(values[lanes.index(i, a[i])] - values[lanes.index(i, b[i])]) <= limit)) return false;
  }
  return true;
}

}
