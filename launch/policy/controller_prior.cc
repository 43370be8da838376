#include "launch/policy/controller_prior.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/nn/inference/controller.h"
#include "core/nn/inference/latent_tracker.h"
#include "replay/dream/dream_validity.h"

namespace regraft::launch {
namespace {

class ControllerPrior : public search::Prior {
 public:
  explicit ControllerPrior(nn::WorldBundle bundle)
      : bundle_(std::move(bundle)), tracker_(bundle_.world), controller_(replay::controller_of(bundle_)) {}
  std::vector<float> log_probabilities(const env::Observation& observation,
                                       search::History& history) override;
  std::string name() const override { return "controller"; }

 private:
  nn::WorldBundle bundle_;
  nn::LatentTracker tracker_;
  nn::Controller controller_;
};

std::vector<float> ControllerPrior::log_probabilities(const env::Observation& observation,
                                                      search::History& history) {
  if (history.memory != nullptr) {
    tracker_.resume(*static_cast<const nn::DreamStart*>(history.memory.get()));
    tracker_.advance(history.action.value(), observation);
  } else {
    tracker_.reset(observation);
  }
  history.memory = std::make_shared<const nn::DreamStart>(tracker_.start());
  const std::vector<float> known = controller_.log_probabilities(tracker_.state(), tracker_.counts());
  // The world model's rules ascend as the observation's do, so both lists are in one order.
  const float least = *std::ranges::min_element(known);
  std::vector<float> all;
  std::size_t next = 0;
  std::uint32_t world_rule = 0;
  for (std::size_t row = 0; row < observation.candidate_count(); ++row) {
    const std::uint32_t rule = observation.candidate_rules[row];
    while (tracker_.rule_of(world_rule) < rule) ++world_rule;
    all.push_back(tracker_.rule_of(world_rule) == rule ? known.at(next++) : least);
  }
  double total = 0;
  for (const float log : all) total += std::exp(static_cast<double>(log));
  for (float& log : all) log -= static_cast<float>(std::log(total));
  return all;
}

}  // namespace

std::unique_ptr<search::Prior> make_controller_prior(nn::WorldBundle bundle) {
  return std::make_unique<ControllerPrior>(std::move(bundle));
}

}
