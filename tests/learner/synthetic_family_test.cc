// PPO in the real environment, on graphs with a known optimum on which greedy fails (core/env/synthetic.h):
// either head reaches the optimum and keeps it on larger graphs that it never saw; without advantages, or
// where locations are shown at the wrong nodes, it fails. One seed a head by default, five with
// REGRAFT_SEEDS=5.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "core/env/environment.h"
#include "core/env/rule_features.h"
#include "core/env/synthetic.h"
#include "core/graph/op.h"
#include "core/nn/device.h"
#include "learner/ppo.h"

namespace regraft::learner {
namespace {

enum class Handicap { none, zeroed_advantages, shuffled_locations };

constexpr std::uint32_t kValley = 1;
constexpr double kRise = 1.0;

/// One graph of the family and its environment.
struct World {
  explicit World(std::uint32_t chains, std::uint64_t seed)
      : task(env::make_synthetic_task(
            {.chains = chains, .locked = 1, .valley = kValley, .rise_us = kRise, .seed = seed})),
        rules(env::make_synthetic_rules(kValley)),
        costs(env::make_synthetic_costs(kRise)),
        environment(*task.start, rules, costs, {.horizon = 4 + 2 * chains}, clock) {}

  double optimum() const { return 1 - task.optimal_us / task.initial_us; }
  double reached() const { return 1 - environment.cost().latency_us / task.initial_us; }

  env::SyntheticTask task;
  rules::RuleSet rules;
  env::TableCostFactory costs;
  ManualClock clock;
  env::Environment environment;
};

/// What the policy is shown: as it is, or each location at the nodes of a random other one of its xfer.
env::Observation shown(const env::Observation& seen, bool shuffled, Rng& rng) {
  env::Observation view = seen;
  if (!shuffled) return view;
  for (std::size_t row = 0; row + 1 < seen.candidate_count(); ++row) {
    const std::size_t first = row - seen.candidate_locations[row];
    const std::size_t other = first + rng.below(seen.location_counts[seen.candidate_xfers[row]]);
    const auto nodes = seen.matched_nodes(other);
    std::copy(nodes.begin(), nodes.end(), view.candidate_nodes.begin() + seen.candidate_offsets[row]);
  }
  return view;
}

class Training {
 public:
  Training(nn::Head head, std::uint64_t seed, Handicap handicap)
      : handicap_(handicap),
        rng_(seed, "synthetic family"),
        network_(config(head)),
        rules_(env::make_rule_features(env::make_synthetic_rules(kValley))),
        ppo_(network_, nn::initial_weights(network_, seed), rules_, options(), "cpu", seed),
        policy_(network_, ppo_.weights(), rules_, {.device = "cpu"}) {
    nn::set_torch_threads(1);
    for (std::uint64_t graph = 0; graph < kGraphs; ++graph)
      worlds_.push_back(std::make_unique<World>(4 + static_cast<std::uint32_t>(graph % 3), graph));
  }

  /// Until the policy's own best choices reach the optimum of every graph of training, or for kUpdates.
  void run() {
    for (int update = 0; update < kUpdates; ++update) {
      std::vector<replay::Segment> segments;
      for (std::size_t i = 0; i < kEpisodes; ++i) play(*worlds_[i % kGraphs], update, segments);
      PpoBatch batch = ppo_.prepare(segments);
      if (handicap_ == Handicap::zeroed_advantages)
        for (auto* half : {&batch.targets.first, &batch.targets.second})
          std::fill(half->advantages.begin(), half->advantages.end(), 0.0F);
      const PpoMetrics metrics = ppo_.train(batch);
      EXPECT_LT(metrics.lag0_ratio_max, 1e-5);
      policy_.set_weights(ppo_.weights());
      if (update % 10 == 9 && share_of_optimum(worlds_) > 0.999) return;
    }
  }

  /// Mean over graphs of what the policy's most probable choices reach, relative to the optimum.
  double share_of_optimum(std::vector<std::unique_ptr<World>>& worlds) {
    double sum = 0;
    for (const auto& world : worlds) {
      world->environment.reset();
      while (!world->environment.done()) {
        const auto view = shown(world->environment.observation(), shuffled(), rng_);
        world->environment.step_candidate(nn::most_likely(policy_.evaluate(view)).candidate);
      }
      sum += world->reached() / world->optimum();
    }
    return sum / static_cast<double>(worlds.size());
  }
  double share_of_optimum(std::uint32_t chains) {
    std::vector<std::unique_ptr<World>> worlds;
    for (std::uint64_t seed = 100; seed < 106; ++seed)
      worlds.push_back(std::make_unique<World>(chains, seed));
    return share_of_optimum(worlds);
  }
  double share_of_optimum() { return share_of_optimum(worlds_); }

 private:
  static constexpr std::size_t kGraphs = 12, kEpisodes = 48;
  static constexpr int kUpdates = 200;

  static nn::NetworkConfig config(nn::Head head) {
    nn::NetworkConfig network{.width = 16, .steps = 3, .node_kinds = graph::kOpKinds, .head = head};
    if (head == nn::Head::hierarchical)
      network.xfers = static_cast<std::uint32_t>(env::make_synthetic_rules(kValley).size() + 1);
    return network;
  }
  static PpoOptions options() {
    PpoOptions options;
    options.lr = 3e-3;
    options.entropy_coefficient = 0.02;
    options.minibatch_steps = 128;
    options.epochs = 3;
    return options;
  }
  bool shuffled() const { return handicap_ == Handicap::shuffled_locations; }

  void play(World& world, int update, std::vector<replay::Segment>& segments) {
    replay::Segment segment;
    segment.weight_version = static_cast<std::uint64_t>(update);
    segment.hierarchical = network_.head == nn::Head::hierarchical;
    world.environment.reset();
    while (!world.environment.done()) {
      replay::Step step;
      step.observation = shown(world.environment.observation(), shuffled(), rng_);
      const nn::Choice choice = nn::sample(policy_.evaluate(step.observation), rng_);
      const env::StepResult result = world.environment.step_candidate(choice.candidate);
      step.candidate = choice.candidate;
      step.log_probability = choice.log_probability;
      step.location_log_probability = choice.location_log_probability;
      step.reward = static_cast<float>(result.reward);
      step.terminated = result.terminated;
      segment.steps.push_back(std::move(step));
    }
    segments.push_back(std::move(segment));
  }

  Handicap handicap_;
  Rng rng_;
  nn::NetworkConfig network_;
  env::RuleFeatureTable rules_;
  Ppo ppo_;
  nn::Policy policy_;
  std::vector<std::unique_ptr<World>> worlds_;
};

std::uint64_t seeds() {
  const char* given = std::getenv("REGRAFT_SEEDS");
  return given == nullptr ? 1 : std::stoull(given);
}

class SyntheticFamily : public testing::TestWithParam<nn::Head> {};

TEST_P(SyntheticFamily, TheOptimumIsReachedAndKeptOnLargerGraphsNeverSeen) {
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Training training(GetParam(), seed, Handicap::none);
    training.run();
    EXPECT_GT(training.share_of_optimum(), 0.999);
    for (const std::uint32_t chains : {5u, 12u, 24u})
      EXPECT_GT(training.share_of_optimum(chains), 0.999) << chains << " chains";
  }
}

TEST_P(SyntheticFamily, FailsWithoutAdvantagesAndWithShuffledLocations) {
  if (seeds() < 5) GTEST_SKIP() << "with REGRAFT_SEEDS=5; ppo_test.cc does the same on a smaller problem";
  for (const Handicap handicap : {Handicap::zeroed_advantages, Handicap::shuffled_locations}) {
    Training training(GetParam(), 1, handicap);
    training.run();
    EXPECT_LT(training.share_of_optimum(12u), 0.5);
  }
}

INSTANTIATE_TEST_SUITE_P(Heads, SyntheticFamily, testing::Values(nn::Head::pointer, nn::Head::hierarchical),
                         [](const auto& head) { return std::string(nn::head_name(head.param)); });

}  // namespace
}  // namespace regraft::learner
