#pragma once

// Internal to core/exec: where two models begin to give different answers.

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "core/exec/exposed.h"
#include "core/exec/trials.h"

namespace regraft::exec {

/// One sentence on the first value that both models name and that differs by more than the tolerance on the
/// trial's inputs. The order is that of the original's nodes. Empty when there is none, or when inner values
/// cannot be read because they are no tensors.
std::string first_divergence(const std::filesystem::path& original, const std::filesystem::path& optimised,
                             const Trial& trial, double tolerance);

/// Integer outputs that ArgMax or ArgMin makes: they may differ where the candidates are as good as equal.
class TieBreaks {
 public:
  explicit TieBreaks(std::filesystem::path original) : original_(std::move(original)) {}

  /// Whether each difference between the original's output and `other` is a choice between two near
  /// candidates: in the original their values differ by at most the tolerance of their type, relative to the
  /// largest.
  bool excuse(const std::string& output, const Trial& trial, const Tensor& own, const Tensor& other);

 private:
  std::filesystem::path original_;
  std::map<std::string, std::unique_ptr<ExposedModel>> exposed_;
};

}  // namespace regraft::exec
