#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/env/observation.h"
#include "learner/job/job_runner.h"
#include "learner/job/phase.h"
#include "learner/ppo/network_options.h"
#include "learner/ppo/ppo_options.h"

namespace regraft::learner {

/// What the phase `ppo` needs to know of the job.
struct PpoPhaseSetup {
  JobSetup job;
  NetworkOptions network;
  PpoOptions ppo;
  std::vector<std::string> model_names;
  env::RuleFeatureTable rule_features;
  std::vector<std::string> rule_names;
  std::string rule_set_hash;
  env::EpisodeLimits limits;  // of the actors' episodes
  std::vector<std::string> op_kind_names;
};

/// A policy that learns in real environments:
///   episodes -> Batcher -> Ppo -> weights
/// Results are judged while it updates. Throws UsageError and NnError on options out of range.
std::unique_ptr<Phase> make_ppo_phase(PpoPhaseSetup setup);
/// The work of a further learner that shares the updates, until the job has come to its end.
void follow_ppo_phase(const PpoPhaseSetup& setup);

}
