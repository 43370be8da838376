#pragma once

// Internal to core/exec.

#include "core/exec/trials.h"

namespace regraft::exec {

/// Adds a trial for each extreme draw (extreme_inputs.h) at the sizes of the last trial that is no probe.
/// What the original does not run on counts for nothing. Does nothing where the source has but one answer.
void add_extremes(OrtSession& session, const InputSource& source, bool finite, Rng& rng,
                  Reference& reference);

}  // namespace regraft::exec
