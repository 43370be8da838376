#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "core/cost/kernel_features.h"
#include "core/rules/set/rule_set.h"

namespace regraft::cost {

/// Edges within which an edit changes what is fused with a node. Identity nodes do not count, and no edge of
/// an input or a weight.
inline constexpr int kFusionRadius = 7;

/// Operations in parts that a runtime runs as one kernel: a file configs/runtimes/RUNTIME-VERSION.fusions, in
/// the language of the rules. That of onnxruntime says what a line means. Immutable.
class FusedPatterns {
 public:
  /// Throws FileError where it cannot be read, and RuleError with file:line where a line is no pattern of a
  /// kernel, or reaches farther than kFusionRadius - 1 edges from its root.
  static FusedPatterns load(const std::filesystem::path& file);
  static FusedPatterns parse(std::string_view text, std::string_view file);

  struct Kernel {
    KernelKind kind = {};         // none: these parts stay apart
    std::uint16_t over = 0;       // the variable of the pattern that the kernel goes over
    bool takes_addition = false;  // an addition before it, as SkipLayerNormalization
  };

  const rules::RuleSet& patterns() const { return patterns_; }
  const Kernel& kernel(std::uint32_t pattern) const { return kernels_[pattern]; }

 private:
  explicit FusedPatterns(rules::RuleSet patterns);

  rules::RuleSet patterns_;
  std::vector<Kernel> kernels_;  // by pattern
};

}
