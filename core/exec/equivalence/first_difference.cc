#include "core/exec/equivalence/first_difference.h"

#include <algorithm>
#include <cstdio>

#include "core/exec/equivalence/compare.h"
#include "core/exec/equivalence/intermediate_outputs.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

namespace fs = std::filesystem;

std::string sentence(const fs::path& original, const std::string& name, const Difference& difference) {
  const auto producer = IntermediateOutputs::producer_of(original, name);
  char error[32];
  std::snprintf(error, sizeof error, "%.3g", difference.relative_error);
  return "the first value of both that differs is " + name + " (" + (producer ? producer->op : "") +
         "): " + (difference.problem.empty() ? "relative error " + std::string(error) : difference.problem);
}

}  // namespace

std::string first_difference(const fs::path& original, const fs::path& optimised, const ReferenceRun& run,
                             double tolerance) {
  try {
    const std::vector<std::string> there = IntermediateOutputs::made_values(optimised);
    std::vector<std::string> common;
    for (const std::string& name : IntermediateOutputs::made_values(original))
      if (std::ranges::find(there, name) != there.end()) common.push_back(name);
    const std::vector<Tensor> before = IntermediateOutputs(original, common).run(run.inputs);
    const std::vector<Tensor> after = IntermediateOutputs(optimised, common).run(run.inputs);
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

}
