#pragma once

#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/clock.h"
#include "learner/job/phase.h"
#include "learner/ppo/episode.h"
#include "learner/ppo/load_test_options.h"
#include "learner/ppo/ppo_phase.h"

namespace regraft::learner {

/// What the phase `load-test` needs to know of the job.
struct LoadTestSetup {
  PpoPhaseSetup ppo;
  LoadTestOptions options;
  std::size_t connections = 1;   // of all actors: measuring begins when all are at work
  double simulated_step_ms = 0;  // of the actors, for the summary
  nlohmann::json baseline{};     // the summary of another load test; null: none
};

/// Learns nothing: episodes are judged, decided and counted as the phase `ppo` does it, with its first
/// weights, and thrown away; what that takes is measured.
///   all have joined -> tickets -> all have sent a result -> `seconds` are measured -> RUN/summary.json
/// It fails where its limits end it before that. A restarted learner begins anew. Throws UsageError in
/// deterministic mode, and as make_ppo_phase does. The clock outlives it.
std::unique_ptr<Phase> make_load_test_phase(LoadTestSetup setup, const Clock& clock);

}
