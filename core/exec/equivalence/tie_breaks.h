#pragma once

// Internal to core/exec/equivalence.

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/exec/equivalence/intermediate_outputs.h"
#include "core/exec/equivalence/reference_runs.h"

namespace regraft::exec {

/// Integer outputs that ArgMax or ArgMin makes: they may differ where the values
/// compared are as good as equal.
class TieBreaks {
 public:
  explicit TieBreaks(std::filesystem::path original) : original_(std::move(original)) {}

  /// Whether each difference between an output of the original and `other` is a choice between two values
  /// that tie. They tie when they differ, in the original, by no more than the tolerance of their type
  /// (relative to the largest).
  bool excuse(const std::string& output, const ReferenceRun& run, const Tensor& own, const Tensor& other);

 private:
  std::filesystem::path original_;
  std::map<std::string, std::unique_ptr<IntermediateOutputs>> exposed_;
};

}
