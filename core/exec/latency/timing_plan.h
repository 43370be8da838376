#pragma once

#include "core/exec/latency/measurement.h"

namespace regraft::exec {

/// What a first session of a model runs, to learn how long one run takes.
inline constexpr TimingPlan kProbe{1, 2, 5, 0.1};

/// About 0.1 s of runs, at least `least_runs`, for a model that takes run_s. The number of runs is fixed, not
/// the time: all sessions that are compared then see the same number of them.
TimingPlan timing_plan(double run_s, int least_runs);

/// How long a session by that plan takes, with the start of its process and the loading of the model.
double session_seconds(const Measurement& probe, const TimingPlan& plan);

}
