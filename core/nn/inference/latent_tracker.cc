#include "core/nn/inference/latent_tracker.h"

#include <algorithm>

#include "core/nn/fused/dream_engine.h"
#include "core/nn/inference/encoder.h"

namespace regraft::nn {

class LatentTracker::State {
 public:
  explicit State(const WorldModel& model) : world(model), encoder(model), engine(model.config.dynamics) {
    check(model, "latent tracker");
    engine.load(model.dynamics);
    engine.set_replicas(1);
  }

  void see(const env::Observation& observation) {
    std::ranges::copy(encoder.encode(observation), engine.latent(0).begin());
    counts = world_counts(world, observation);
  }

  WorldModel world;
  Encoder encoder;
  internal::DreamEngine engine;
  std::vector<std::uint16_t> counts;
  std::uint32_t steps = 0;
};

LatentTracker::LatentTracker(const WorldModel& world) : state_(std::make_unique<State>(world)) {}
LatentTracker::~LatentTracker() = default;
LatentTracker::LatentTracker(LatentTracker&&) noexcept = default;
LatentTracker& LatentTracker::operator=(LatentTracker&&) noexcept = default;

void LatentTracker::reset(const env::Observation& observation) {
  std::ranges::fill(state_->engine.hidden(0), 0.0f);
  std::ranges::fill(state_->engine.cell(0), 0.0f);
  state_->steps = 0;
  state_->see(observation);
}

void LatentTracker::resume(const DreamStart& start) {
  internal::DreamEngine& engine = state_->engine;
  std::ranges::copy(start.latent, engine.latent(0).begin());
  std::ranges::copy(start.hidden, engine.hidden(0).begin());
  std::ranges::copy(start.cell, engine.cell(0).begin());
  state_->counts = start.counts;
  state_->steps = start.steps;
}

void LatentTracker::advance(env::Action action, const env::Observation& next) {
  const auto& rules = state_->world.rules;
  const auto found = std::ranges::find(rules, action.rule);
  if (found != rules.end()) {
    const std::uint32_t row = 0;
    state_->engine.embed(row, static_cast<std::uint32_t>(found - rules.begin()), action.location);
    state_->engine.advance({&row, 1});
  }
  ++state_->steps;
  state_->see(next);
}

std::span<const float> LatentTracker::state() const {
  return state_->engine.state(0);
}
const std::vector<std::uint16_t>& LatentTracker::counts() const {
  return state_->counts;
}

DreamStart LatentTracker::start() const {
  internal::DreamEngine& engine = state_->engine;
  const auto copy = [](std::span<const float> values) {
    return std::vector<float>(values.begin(), values.end());
  };
  return {copy(engine.latent(0)), copy(engine.hidden(0)), copy(engine.cell(0)), state_->counts,
          state_->steps};
}

std::uint32_t LatentTracker::rule_of(std::uint32_t world_rule) const {
  return state_->world.rules.at(world_rule);
}

}
