#include "core/exec/divergence.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/exec/compare.h"
#include "core/exec/exec_error.h"
#include "core/exec/tolerance_rule.h"

namespace regraft::exec {
namespace {

namespace fs = std::filesystem;

std::string sentence(const fs::path& original, const std::string& name, const Difference& difference) {
  const auto producer = ExposedModel::producer_of(original, name);
  char error[32];
  std::snprintf(error, sizeof error, "%.3g", difference.relative_error);
  return "the first value of both that differs is " + name + " (" + (producer ? producer->op : "") +
         "): " + (difference.problem.empty() ? "relative error " + std::string(error) : difference.problem);
}

/// The candidates of one reduced position: `data` seen as [outer, count, inner].
struct Lanes {
  std::int64_t outer = 1, count = 1, inner = 1;

  Lanes(const std::vector<std::int64_t>& dims, std::int64_t axis) {
    const auto rank = static_cast<std::int64_t>(dims.size());
    const std::int64_t at = axis < 0 ? axis + rank : axis;
    for (std::int64_t i = 0; i < rank; ++i)
      (i < at ? outer : i == at ? count : inner) *= dims[static_cast<std::size_t>(i)];
  }
  std::size_t index(std::size_t position, std::int64_t candidate) const {
    const auto p = static_cast<std::int64_t>(position);
    return static_cast<std::size_t>((p / inner * count + candidate) * inner + p % inner);
  }
};

}  // namespace

std::string first_divergence(const fs::path& original, const fs::path& optimised, const Trial& trial,
                             double tolerance) {
  try {
    const std::vector<std::string> there = ExposedModel::made_values(optimised);
    std::vector<std::string> common;
    for (const std::string& name : ExposedModel::made_values(original))
      if (std::ranges::find(there, name) != there.end()) common.push_back(name);
    const std::vector<Tensor> before = ExposedModel(original, common).run(trial.inputs);
    const std::vector<Tensor> after = ExposedModel(optimised, common).run(trial.inputs);
    for (std::size_t i = 0; i < common.size(); ++i) {
      const Difference difference = compare(before[i], after[i]);
      if (!difference.problem.empty() || !(difference.relative_error <= tolerance))
        return sentence(original, common[i], difference);
    }
  } catch (const ExecError&) {
    // The verdict stands without it.
  }
  return "";
}

bool TieBreaks::excuse(const std::string& output, const Trial& trial, const Tensor& own,
                       const Tensor& other) {
  if (own.dtype != DType::int64 || other.dtype != DType::int64 || own.dims != other.dims) return false;
  const auto producer = ExposedModel::producer_of(original_, output);
  if (!producer || (producer->op != "ArgMax" && producer->op != "ArgMin")) return false;
  auto& exposed = exposed_[output];
  if (!exposed) exposed = std::make_unique<ExposedModel>(original_, std::vector{producer->inputs.at(0)});
  const Tensor data = exposed->run(trial.inputs).at(0);
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

}  // namespace regraft::exec
