#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/env/environment.h"

namespace regraft::launch {

/// What the process holds after a step, and how much the tables of the model hold there.
struct MemorySample {
  std::uint64_t steps = 0;
  std::uint64_t rss_bytes = 0;
  std::size_t signatures = 0, symbols = 0, constants = 0;
};

/// How fast an environment steps and what it holds.
struct EnvironmentSpeed {
  std::string model;
  std::uint64_t steps = 0, episodes = 0, seed = 0, rules = 0;
  double seconds = 0, cpu_seconds = 0;  // of all steps and resets
  double steps_per_second = 0;          // by the clock
  double steps_per_cpu_second = 0;      // by the CPU time of the process: what a busy machine does not slow
  env::StepSeconds parts;               // of all steps
  double reset_seconds = 0;             // of all resets
  double initial_cost_us = 0;           // predicted, of the model as it is
  double nodes = 0, candidates = 0;     // of an observation, on average
  std::uint64_t peak_rss_bytes = 0;     // of the process
  std::int64_t rss_growth_bytes = 0;    // from the first tenth of the steps to the last, of what is resident
  std::vector<MemorySample> memory;     // after each tenth
};

/// Walks an environment. All legal rewrites are equally probable; NO-OP is taken only where there is no
/// other. Masks, costs and observations are made at every step. One thread.
EnvironmentSpeed measure_environment(env::Environment& environment, std::uint64_t steps, std::uint64_t seed,
                                     const Clock& clock);

/// One line a figure.
std::string describe(const EnvironmentSpeed& speed);
nlohmann::json to_json(const EnvironmentSpeed& speed);

}
