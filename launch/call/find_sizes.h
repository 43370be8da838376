#pragma once

#include "core/task/workload.h"

namespace regraft::launch {

/// workload.bind with the sizes of all other dynamic dims of its models, as `regraft optimise` takes them:
/// those at which the model runs (exec::find_feed) where what is bound holds. Each is found in a process of
/// its own. Says on standard error which sizes were taken and why, or why a model runs at none; its dims stay
/// as they are then. Throws UsageError for a bound name that no model has.
task::NamedSizes find_sizes(const task::WorkloadOptions& workload);

}
