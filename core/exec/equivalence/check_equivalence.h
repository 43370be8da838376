#pragma once

#include <filesystem>

#include "core/exec/equivalence/equivalence_options.h"
#include "core/exec/equivalence/equivalence_report.h"

namespace regraft::exec {

/// Whole-model check. Interfaces must agree in names, order, types and dims, once dims have the sizes that
/// options.fixed gives. Both models run in ONNX Runtime without its optimiser, on one thread, on the same
/// inputs; the other one in options.session where that is given. Where it is not, floats must also agree at
/// the bindings as people run both models, with all of the optimiser: within 1 %, or four times what that
/// changes in the original. Sizes are the points given, all 1, primes, and a few small sizes next to the
/// model's own small constants. Inputs are also extremes (core/exec/inputs/extreme_inputs.h). The spread of
/// the original is taken over optimisation levels, 1 and 2 threads, and 1-ulp noise on floating inputs.
/// Behind the first sizes and on extremes that is done only where the models differ by more than the
/// tolerance (core/exec/equivalence/mismatches.h). One model is in memory at a time; run it in a process of
/// its own (`regraft verify`). Positions that ArgMax or ArgMin gives may differ where the values compared are
/// within tolerance. A difference is a report; ExecError is only for an original that cannot be loaded or
/// run, and for inputs that cannot be made.
EquivalenceReport check_equivalence(const std::filesystem::path& original,
                                    const std::filesystem::path& optimised,
                                    const EquivalenceOptions& options);

}
