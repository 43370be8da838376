#include "launch/controller_evaluation.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/clock.h"
#include "core/nn/error.h"
#include "core/nn/latent_tracker.h"
#include "launch/job.h"
#include "learner/controller/dream_options.h"

namespace regraft::launch {
bool is_bundle(const std::filesystem::path& path) {
  return path.extension() == ".world";
}

nn::WorldBundle load_controller_bundle(const std::filesystem::path& path, const rules::RuleSet& rules) {
  nn::WorldBundle bundle = nn::load_bundle(path);
  if (bundle.controller.empty())
    throw nn::NnError("holds no controller", path.string(), "train one: --set train.phase=dream");
  nn::require_fit(bundle.world, rules.hash().hex(), op_kind_names());
  return bundle;
}

env::EpisodeLimits limits_of(const nn::WorldModel& world) {
  env::EpisodeLimits limits;
  if (world.horizon > 0) limits.horizon = world.horizon;
  if (world.location_limit > 0) limits.location_limit = world.location_limit;
  return limits;
}

replay::DreamValidity validity_of(const nn::WorldBundle& bundle, const actors::Task& task,
                                  actors::WorkloadOptions workload, const Config& config, int trajectories,
                                  std::uint64_t seed) {
  const env::EpisodeLimits limits = limits_of(bundle.world);
  workload.environment.horizon = limits.horizon;
  workload.environment.location_limit = limits.location_limit;
  workload.environment.reward = enum_from<env::RewardKind>(bundle.world.reward_kind, "world model");
  workload.environment.action_mode = bundle.world.action_mode;
  const SystemClock clock;
  env::Environment environment = actors::make_environment(task, workload, clock);
  return replay::measure_validity(bundle, learner::dream_of(learner::dream_options_from(config)), environment,
                                  trajectories, seed);
}

nlohmann::json to_json(const replay::DreamValidity& validity) {
  return {{"predicted", validity.predicted},
          {"real", validity.real},
          {"rank_correlation", validity.rank_correlation},
          {"mean_error", validity.mean_error},
          {"illegal_share", validity.illegal_share}};
}

struct ControllerPrior::State {
  explicit State(nn::WorldBundle loaded)
      : bundle(std::move(loaded)), tracker(bundle.world), controller(replay::controller_of(bundle)) {}
  nn::WorldBundle bundle;
  nn::LatentTracker tracker;
  nn::Controller controller;
};

ControllerPrior::ControllerPrior(const std::filesystem::path& path, const rules::RuleSet& rules)
    : state_(std::make_unique<State>(load_controller_bundle(path, rules))) {}
ControllerPrior::~ControllerPrior() = default;

env::EpisodeLimits ControllerPrior::limits() const {
  return limits_of(state_->bundle.world);
}

env::ActionMode ControllerPrior::action_mode() const {
  return state_->bundle.world.action_mode;
}

std::vector<float> ControllerPrior::log_probabilities(const env::Observation& observation, search::Way& way) {
  nn::LatentTracker& tracker = state_->tracker;
  if (way.memory != nullptr) {
    tracker.resume(*static_cast<const nn::DreamStart*>(way.memory.get()));
    tracker.advance(way.action.value(), observation);
  } else {
    tracker.reset(observation);
  }
  way.memory = std::make_shared<const nn::DreamStart>(tracker.start());
  const std::vector<float> known = state_->controller.log_probabilities(tracker.state(), tracker.counts());
  // The world model's xfers ascend as the observation's do, so both lists are in one order.
  const float least = *std::ranges::min_element(known);
  std::vector<float> all;
  std::size_t next = 0;
  std::uint32_t world_xfer = 0;
  for (std::size_t row = 0; row < observation.candidate_count(); ++row) {
    const std::uint32_t xfer = observation.candidate_xfers[row];
    while (tracker.xfer_of(world_xfer) < xfer) ++world_xfer;
    all.push_back(tracker.xfer_of(world_xfer) == xfer ? known.at(next++) : least);
  }
  double total = 0;
  for (const float log : all) total += std::exp(static_cast<double>(log));
  for (float& log : all) log -= static_cast<float>(std::log(total));
  return all;
}

}  // namespace regraft::launch
