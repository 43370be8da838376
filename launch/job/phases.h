#pragma once

#include <memory>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/config.h"
#include "launch/job/actor_count.h"
#include "launch/job/actor_place.h"
#include "learner/job/phase.h"
#include "learner/job/run_folder.h"
#include "learner/job/update_sharing.h"

namespace regraft::launch {

/// What a phase's learner is made from. The clock outlives it.
struct PhaseInput {
  const learner::RunFolder& folder;
  const Config& config;
  const Clock& clock;
  learner::JoinLearners join = nullptr;  // the learners that share the updates; null: there is one
};

/// A value of `train.phase`, and all that the program asks of it.
struct JobPhase {
  std::string_view name;
  std::string_view help;
  /// Throws what the job's rules or options make unusable: UsageError, ConfigError, RuleError. Writes
  /// nothing.
  void (*check)(const PhaseInput& input, ActorCount actors);
  /// Null where the job is several runs of other phases (model_based.h).
  std::unique_ptr<learner::Phase> (*make)(const PhaseInput& input) = nullptr;
  /// The work of a learner that shares the updates of the first one. Null where `make` is, or where the phase
  /// has one learner alone.
  void (*follow)(const PhaseInput& input) = nullptr;
  /// An actor's work, until the job has ended.
  void (*act)(const ActorPlace& place) = nullptr;
  std::string_view actor_kind = {};     // what actors.count counts; empty: it has no actors of its own
  std::string_view dreaming_kind = {};  // what actors.dream counts; empty: nothing
  bool computes = true;                 // on train.device
  bool measures = false;                // takes workload.reward=measured
  bool imitates = false;                // heeds ppo.imitation and train.trained_share
  bool grows = false;                   // a resumed run may have further models behind those it had
};

/// By name, one of kPhases in phases.cc. Throws UsageError that lists the names.
const JobPhase& job_phase(std::string_view name);
/// The one that `train.phase` names.
const JobPhase& job_phase(const Config& config);

/// The option `train.phase`: names and help from the table.
regraft::Option phase_option();

}
