#pragma once

// Internal to core/exec/equivalence.

#include "core/base/deadline.h"
#include "core/exec/equivalence/reference_runs.h"

namespace regraft::exec {

/// Adds a run for each extreme draw (extreme_inputs.h) at the sizes of the last run that is no probe.
/// What the original does not run on counts for nothing. Does nothing where the source has but one answer. A
/// note says how many draws are left out at the end.
void add_extremes(OrtSession& session, const InputSource& source, bool finite, const Deadline& end, Rng& rng,
                  Reference& reference);

}
