#pragma once

// Internal to core/exec/equivalence.

#include <filesystem>
#include <vector>

#include "core/exec/equivalence/equivalence_options.h"
#include "core/exec/equivalence/equivalence_report.h"
#include "core/exec/equivalence/reference_runs.h"

namespace regraft::exec {

/// A run on which two models differ by more than the tolerance, and what the other one gave.
struct Mismatch {
  const ReferenceRun* run;
  std::vector<Tensor> results;
};

/// Other ways to run a model, whose answers are as right as those without the runtime's optimiser on one
/// thread.
std::span<const SessionOptions> other_ways();
inline constexpr int kNoisyRuns = 2;

/// Decides the mismatches. Each output is compared with what the original gives on the same inputs with
/// 1-ulp noise and in other ways, one after the other: the first of them that explain the mismatch decide.
/// The tolerance follows from their spread. It is relative to the output's scale there or at the usual
/// sizes, whichever is larger; a small output has no ceiling of its own. Nothing follows where the original
/// overflows in one way and not in another, or because its inputs are huge. With `finite` nothing follows
/// wherever either overflows on extremes. Where few elements differ, or an extreme does, noise is added more
/// often: an element that some draws leave where it is, and one moves a quarter as far, has jumped, as those
/// of angles do. It does not count, and a note says so.
void settle(const std::filesystem::path& original, std::span<const Mismatch> mismatches,
            const Reference& reference, const EquivalenceOptions& options, EquivalenceReport& report);

}
