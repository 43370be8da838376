#include "launch/job/phases.h"

#include <algorithm>
#include <string>

#include "core/base/named_by_config.h"
#include "core/base/text.h"
#include "launch/job/dream_job.h"
#include "launch/job/load_test_job.h"
#include "launch/job/ppo_job.h"
#include "launch/job/world_job.h"

namespace regraft::launch {
namespace {

learner::PpoPhaseSetup ppo_setup_of(const PhaseInput& in) {
  learner::PpoPhaseSetup setup = ppo_setup(in.folder, in.config);
  setup.job.join = in.join;
  return setup;
}

std::unique_ptr<learner::Phase> make_ppo(const PhaseInput& in) {
  return learner::make_ppo_phase(ppo_setup_of(in));
}

void follow_ppo(const PhaseInput& in) {
  learner::follow_ppo_phase(ppo_setup_of(in));
}

void check_ppo(const PhaseInput& in, ActorCount) {
  ppo_setup_of(in);
}

std::unique_ptr<learner::Phase> make_load_test(const PhaseInput& in) {
  return learner::make_load_test_phase(load_test_setup(in.folder, in.config), in.clock);
}

void check_load_test(const PhaseInput& in, ActorCount) {
  make_load_test(in);
}

std::unique_ptr<learner::Phase> make_collect(const PhaseInput& in) {
  return std::make_unique<learner::CollectPhase>(collect_setup(in.folder, in.config), in.clock);
}

learner::WorldPhaseSetup world_setup_of(const PhaseInput& in) {
  learner::WorldPhaseSetup setup = world_setup(in.folder, in.config, in.clock);
  setup.collect.job.join = in.join;
  return setup;
}

std::unique_ptr<learner::Phase> make_world(const PhaseInput& in) {
  return learner::make_world_phase(world_setup_of(in), in.clock);
}

void follow_world(const PhaseInput& in) {
  learner::follow_world_phase(world_setup_of(in));
}

void check_collecting(const PhaseInput& in, ActorCount) {
  collect_setup(in.folder, in.config);
}

learner::DreamPhaseSetup dream_setup_of(const PhaseInput& in) {
  learner::DreamPhaseSetup setup = dream_setup(in.folder, in.config);
  setup.job.join = in.join;
  return setup;
}

std::unique_ptr<learner::Phase> make_dream(const PhaseInput& in) {
  return learner::make_dream_phase(dream_setup_of(in));
}

/// In the phase dyna too: how far dreams go is the first learner's matter.
void follow_dream(const PhaseInput& in) {
  learner::follow_dream_phase(dream_setup_of(in));
}

void check_dream(const PhaseInput& in, ActorCount actors) {
  check_dream_actors(in.config, actors);
  const learner::DreamPhaseSetup setup = dream_setup_of(in);
  learner::check_dream_options(setup.job.options, setup.dream, false);
}

learner::DreamPhaseSetup dyna_setup_of(const PhaseInput& in) {
  learner::DreamPhaseSetup setup = dream_setup_of(in);
  setup.dyna = learner::dyna_options_from(in.config);
  return setup;
}

std::unique_ptr<learner::Phase> make_dyna(const PhaseInput& in) {
  return learner::make_dream_phase(dyna_setup_of(in));
}

void check_dyna(const PhaseInput& in, ActorCount actors) {
  check_dyna_actors(actors);
  const learner::DreamPhaseSetup setup = dyna_setup_of(in);
  learner::check_dream_options(setup.job.options, setup.dream, true);
}

// The dreams of its rounds are checked by model_based_steps().
void check_rounds(const PhaseInput& in, ActorCount actors) {
  check_collecting(in, actors);
}

constexpr JobPhase kPhases[] = {
    {.name = "ppo",
     .help = "trains a policy in real environments",
     .check = check_ppo,
     .make = make_ppo,
     .follow = follow_ppo,
     .act = run_policy_actor,
     .actor_kind = "policy",
     .measures = true,
     .imitates = true,
     .grows = true},
    {.name = "load-test",
     .help = "trains nothing; measures how fast actors play and how fast the learner takes results in",
     .check = check_load_test,
     .make = make_load_test,
     .act = run_load_test_actor,
     .actor_kind = "policy",
     .computes = false},
    {.name = "collect",
     .help = "writes random rollouts to disk",
     .check = check_collecting,
     .make = make_collect,
     .act = run_collector,
     .actor_kind = "collect",
     .computes = false},
    {.name = "world-model",
     .help = "collects random rollouts and fits a world model to them",
     .check = check_collecting,
     .make = make_world,
     .follow = follow_world,
     .act = run_collector,
     .actor_kind = "collect"},
    {.name = "dream",
     .help = "trains a controller in the world model dream.world",
     .check = check_dream,
     .make = make_dream,
     .follow = follow_dream,
     .act = run_dream_actor,
     .actor_kind = kControllerKind,
     .dreaming_kind = kDreamKind},
    {.name = "model-based",
     .help = "repeats world-model and dream, then evaluates the controller",
     .check = check_rounds},
    {.name = "dyna",
     .help = "trains a controller on real episodes and on short dreams that branch off them",
     .check = check_dyna,
     .make = make_dyna,
     .follow = follow_dream,
     .act = run_dyna_actor,
     .actor_kind = kControllerKind,
     .dreaming_kind = kDreamKind},
};

TextList phase_names() {
  TextList names;
  for (const JobPhase& phase : kPhases) names.emplace_back(phase.name);
  return names;
}

}  // namespace

const JobPhase& job_phase(std::string_view name) {
  const JobPhase* found = std::ranges::find(kPhases, name, &JobPhase::name);
  if (found == std::end(kPhases))
    throw UsageError("there is no phase " + std::string(name), "train.phase",
                     "use one of: " + join(phase_names(), ", "));
  return *found;
}

const JobPhase& job_phase(const Config& config) {
  return job_phase(config.text("train.phase"));
}

regraft::Option phase_option() {
  TextList lines;
  for (const JobPhase& phase : kPhases)
    lines.push_back(std::string(phase.name) + ": " + std::string(phase.help));
  return regraft::Option("train.phase", "ppo", one_of(phase_names()).fixed(), join(lines, ". "));
}

}
