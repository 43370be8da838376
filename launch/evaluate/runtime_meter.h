#pragma once

#include <memory>

#include "core/task/workload.h"

namespace regraft::launch {

/// Latency of a task's graphs in ONNX Runtime, one session of about `seconds` in a fresh process each: the
/// meter of the measured reward. The task outlives it. Throws what export and the session throw.
std::unique_ptr<env::LatencyMeter> make_runtime_meter(const task::Task& task, double seconds = 0.2);

}
