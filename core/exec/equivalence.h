#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/exec/inputs.h"
#include "core/exec/tensor.h"

namespace regraft::exec {

/// within_tolerance: outputs may differ by rounding. bit_equal: every output byte must agree, without the
/// runtime's optimiser and with all of it.
enum class Agreement : std::uint8_t { within_tolerance, bit_equal };

struct EquivalenceOptions {
  Agreement agreement = Agreement::within_tolerance;
  std::vector<SymbolSizes> points;  // sizes at which both must run; the first counts most
  std::uint64_t seed = 0;           // of inputs and of the noise on them
  bool finite = false;  // no Inf and no NaN is drawn, and where the original makes some nothing is compared
  int draws = 2;        // inputs drawn at the first binding; one at each other
  const InputSource* inputs =
      nullptr;  // not owned; nullptr: RandomInputs with the meanings found in the original
};

/// One output over all bindings and draws.
struct OutputReport {
  std::string name;
  double relative_error = 0;  // original against optimised, the largest
  double spread = 0;          // original against itself, the largest
  double tolerance = 0;
  bool agrees = true;
  std::string problem;  // where it does not agree
};

struct EquivalenceReport {
  bool equivalent = false;
  std::string reason;             // one sentence, for both verdicts
  double max_relative_error = 0;  // over the floating outputs
  std::string worst_output;       // the one with the largest error for its tolerance
  /// Of models that differ: the first inner value that both name and that differs, in one sentence; empty
  /// where it cannot be found (part of the reason too).
  std::string first_difference;
  std::vector<OutputReport> outputs;
  std::vector<std::string> bindings;  // those compared: "batch=1, seq=128"; "as it is" for a static model
  std::vector<std::string> extremes;  // compared too: "batch=1; m is a mask" (exec/extreme_inputs.h)
  std::vector<std::string> notes;     // bindings at which the original itself cannot run
  /// Of models that differ: whether the original gives the same twice on the same inputs. Where it does not
  /// (random ops), nothing can be compared and `reason` says so.
  bool repeatable = true;
};

/// Tolerances: `factor` x the spread of the original itself, at least the floor (of half types the unit in
/// the last place of 1: two right roundings may differ by that), at most the ceiling of the output's dtype.
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

/// Whole-model check. Interfaces must agree in names, order, types and dims. Both
/// models run in ONNX Runtime without its optimiser, on one thread, on the same inputs, at the points given,
/// at all 1 and primes, at a few small sizes more, next to the model's own small constants, and on extremes
/// (exec/extreme_inputs.h). The spread of the original is taken over optimisation levels, 1 and 2 threads,
/// and 1-ulp noise on floating inputs (at the small sizes and on extremes only where the models differ by
/// more than the tolerance: exec/doubts.h). One model is in
/// memory at a time; run it in a process of its own (`regraft verify`). Positions that ArgMax or ArgMin gives
/// may differ where the candidates are within tolerance. A difference is a report; ExecError is only for an
/// original that cannot be loaded or run, and for inputs that cannot be made.
EquivalenceReport check_equivalence(const std::filesystem::path& original,
                                    const std::filesystem::path& optimised,
                                    const EquivalenceOptions& options);

nlohmann::json to_json(const EquivalenceReport& report);
/// Reads what to_json wrote in another process. Throws ExecError.
EquivalenceReport equivalence_from_json(const nlohmann::json& json);

}  // namespace regraft::exec
