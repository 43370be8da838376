#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/deadline.h"
#include "core/base/rng.h"
#include "core/exec/inputs/extreme_inputs.h"
#include "core/exec/inputs/inputs.h"
#include "core/exec/runtime/ort_session.h"

namespace regraft::exec {

/// One input set of a model, with what the reference session gave for it.
struct ReferenceRun {
  std::string binding;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<std::vector<Tensor>> noisy_outputs;  // with 1-ulp noise on the floating inputs
  bool probe = false;                              // at sizes beside the bindings
  bool empty = false;                              // a probe at which a dim is 0
  std::optional<Extreme> extreme = {};             // a probe, too
};

/// What the reference session gave at all bindings.
struct Reference {
  std::vector<ValueInfo> inputs, outputs;
  std::vector<ReferenceRun> runs;
  std::vector<std::string> notes;  // bindings skipped, with the reason
};

/// The bindings at which a model with these inputs is compared: its fixed sizes where it has no dynamic dims,
/// else the points given, all 1, and distinct primes. Where distinct primes do not fit together, "prime"
/// tries one common prime. A dim that a point does not name has the size 1 there.
struct Binding {
  std::string label;
  SymbolSizes sizes;
  bool required = false;  // a point given: failing there is an error
  std::optional<SymbolSizes> retry;
};
std::vector<Binding> comparison_bindings(std::span<const ValueInfo> inputs,
                                         std::span<const SymbolSizes> points);

struct ReferencePlan {
  int draws = 1;       // at the first binding that runs; one at each other
  int noisy_runs = 0;  // for each draw there; none at the others
};

/// Adds runs at other sizes of the symbols, at which a rewrite that holds at the bindings may fail. First all
/// symbols have the same size: the first few of `sizes` at which the session runs, and the smallest such
/// size. Then each symbol alone gets the first few that run, and the others stay as bound. Sizes at which the
/// session fails, or that have far more elements than those bound, are skipped. At the sizes bound, integers
/// that the model compares with numbers are others, too, and floats are positive where usual ones lead to
/// NaN. With `empties` each symbol alone is 0 in the end, where the session runs then. A note says where
/// further sizes were left out at the end.
void add_probes(OrtSession& session, const InputSource& source, const SymbolSizes& bound,
                std::span<const std::int64_t> sizes, bool empties, const Deadline& end, Rng& rng,
                Reference& reference);

/// Runs the session. A runtime may end the process on empty inputs, so a copy of it tries them first. Throws
/// ExecError, for such an end too.
std::vector<Tensor> run_with_care(OrtSession& session, const ReferenceRun& run);

/// Runs its inputs again with 1-ulp noise, `runs` times; what the session does not run on counts for nothing.
void add_noisy_runs(OrtSession& session, int runs, Rng& rng, ReferenceRun& run);

/// Runs the session on fresh inputs at every binding. Throws ExecError where it runs at none, or not at a
/// required one.
Reference run_reference(OrtSession& session, const InputSource& source, std::span<const SymbolSizes> points,
                        const ReferencePlan& plan, Rng& rng);

}
