#pragma once

#include <cstdint>

#include "core/base/clock.h"
#include "core/env/synthetic.h"
#include "core/graph/op.h"
#include "learner/world/world_fit.h"
#include "replay/rollout/play.h"

namespace regraft::test {

constexpr std::uint64_t kWorldSeed = 731;

/// One graph of the synthetic family and random rollouts on it.
class SyntheticWorld {
 public:
  SyntheticWorld()
      : task_(env::make_synthetic_task({.chains = 5, .locked = 1, .valley = 1, .seed = 3})),
        rules_(env::make_synthetic_rules(1)),
        costs_(env::make_synthetic_costs(1.0)),
        environment_(*task_.start, rules_, costs_, {.horizon = 20, .location_limit = 8}, clock_) {}

  learner::EnvironmentOf environment_of() {
    return [this](std::uint32_t) -> env::Environment& { return environment_; };
  }
  replay::Rollout play(std::uint64_t seed, std::uint64_t sequence) {
    return replay::play_rollout(environment_, 0, seed, sequence, replay::random_chooser(0.05));
  }
  void collect(replay::SequenceReplay& replay, std::uint64_t episodes) {
    for (std::uint64_t sequence = 0; sequence < episodes; ++sequence)
      replay.add(play(kWorldSeed + sequence, sequence));
  }
  learner::WorldContext context() const {
    learner::WorldContext context;
    context.rule_set_hash = rules_.hash().hex();
    for (std::size_t i = 0; i < graph::kOpKinds; ++i)
      context.op_kinds.emplace_back(graph::op_info(static_cast<graph::OpKind>(i)).name);
    context.model_names = {"synthetic"};
    context.horizon = 20;
    context.location_limit = 8;
    return context;
  }

 private:
  env::SyntheticTask task_;
  rules::RuleSet rules_;
  env::TableCostFactory costs_;
  SystemClock clock_;
  env::Environment environment_;
};

/// Options of a fit that takes seconds.
inline learner::WorldOptions small_world_options() {
  learner::WorldOptions options;
  options.seed = kWorldSeed;
  options.latent = 16;
  options.hidden = 64;
  options.mixtures = 3;
  options.action = 12;
  options.count_bins = 4;
  options.encoder_updates = 120;
  options.encoder_states = 96;
  options.encoder_learning_rate = 4e-3;
  options.dynamics_updates = 300;
  options.lanes = 16;
  options.time = 24;
  options.learning_rate = 8e-3;
  options.reward_hidden = 32;
  options.reward_updates = 60;
  options.evaluate_every = 60;
  return options;
}

}
