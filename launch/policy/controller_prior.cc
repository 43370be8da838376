#include "launch/policy/controller_prior.h"

#include <algorithm>
#include <cmath>

#include "core/nn/controller.h"
#include "core/nn/latent_tracker.h"
#include "core/nn/world_bundle.h"
#include "launch/policy/controller_bundle.h"
#include "replay/dream/dream_validity.h"

namespace regraft::launch {

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

std::vector<float> ControllerPrior::log_probabilities(const env::Observation& observation,
                                                      search::History& history) {
  nn::LatentTracker& tracker = state_->tracker;
  if (history.memory != nullptr) {
    tracker.resume(*static_cast<const nn::DreamStart*>(history.memory.get()));
    tracker.advance(history.action.value(), observation);
  } else {
    tracker.reset(observation);
  }
  history.memory = std::make_shared<const nn::DreamStart>(tracker.start());
  const std::vector<float> known = state_->controller.log_probabilities(tracker.state(), tracker.counts());
  // The world model's rules ascend as the observation's do, so both lists are in one order.
  const float least = *std::ranges::min_element(known);
  std::vector<float> all;
  std::size_t next = 0;
  std::uint32_t world_rule = 0;
  for (std::size_t row = 0; row < observation.candidate_count(); ++row) {
    const std::uint32_t rule = observation.candidate_rules[row];
    while (tracker.rule_of(world_rule) < rule) ++world_rule;
    all.push_back(tracker.rule_of(world_rule) == rule ? known.at(next++) : least);
  }
  double total = 0;
  for (const float log : all) total += std::exp(static_cast<double>(log));
  for (float& log : all) log -= static_cast<float>(std::log(total));
  return all;
}

}  // namespace regraft::launch
