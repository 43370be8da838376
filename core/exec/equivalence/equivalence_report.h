#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace regraft::exec {

/// One output over all bindings and draws.
struct OutputReport {
  std::string name;
  double relative_error = 0;  // original against optimised, the largest
  double spread = 0;          // original against itself, the largest
  double tolerance = 0;
  bool agrees = true;
  std::string problem;        // where it does not agree
  bool only_special = false;  // it does so on extremes with Inf or NaN alone
};

struct EquivalenceReport {
  bool equivalent = false;
  std::string reason;             // one sentence, for both verdicts
  double max_relative_error = 0;  // over the floating outputs
  std::string worst_output;       // the one with the largest error for its tolerance
  /// Where models differ: the first inner value that both name and that differs, in one sentence. Empty where
  /// it cannot be found. It is part of the reason too.
  std::string first_difference;
  std::vector<OutputReport> outputs;
  std::vector<std::string> bindings;  // compared at: "batch=1, seq=128"; "the model's fixed sizes"
  std::vector<std::string> extremes;  // compared too: "batch=1; m is a mask" (extreme_inputs.h)
  std::vector<std::string> notes;     // bindings at which the original itself cannot run; hints
  /// Where models differ: whether the original gives the same twice on the same inputs. Where it does not
  /// (random ops), nothing can be compared, and `reason` says so.
  bool repeatable = true;
};

nlohmann::json to_json(const EquivalenceReport& report);
/// Reads what to_json wrote in another process. Throws ExecError.
EquivalenceReport equivalence_from_json(const nlohmann::json& json);

}
