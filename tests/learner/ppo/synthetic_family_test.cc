// PPO in the real environment, on graphs with a known optimum on which greedy fails (core/env/synthetic.h):
// with either head it reaches the optimum and keeps it on larger graphs that it never saw. Where locations
// are shown at the wrong nodes it does no better than chance lets anyone who opens chains blindly, until one
// is the locked one; without advantages not even that. The best episode of each graph is imitated, and the
// rates are annealed: 23 of 24 seeds pass with the pointer head, and all with the hierarchical one. Without
// both, 19 of 22 did with the pointer head. The hierarchical head chooses among rules by a mean over the
// graph, in which one locked chain of many is lost. So its larger graphs are a third larger than those of
// training.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "core/env/environment.h"
#include "core/env/rule_features.h"
#include "core/env/synthetic.h"
#include "core/graph/op.h"
#include "core/nn/inference/device.h"
#include "core/nn/inference/policy.h"
#include "learner/ppo/best_episodes.h"
#include "learner/ppo/ppo.h"
#include "support/manual_clock.h"

namespace regraft::learner {
namespace {

enum class Handicap { none, zeroed_advantages, shuffled_locations };

constexpr std::uint32_t kValley = 1;
constexpr double kRise = 1.0;

constexpr std::uint64_t kManyGraphs = 120;  // where chance decides

/// Chains of the graphs that were never seen; those of training have 4 to 6.
const std::map<nn::Head, std::vector<std::uint32_t>> kLarger = {{nn::Head::pointer, {5, 12, 24}},
                                                                {nn::Head::hierarchical, {5, 8}}};

/// One graph of the family and its environment.
struct World {
  explicit World(std::uint32_t chains, std::uint64_t seed)
      : task(env::make_synthetic_task(
            {.chains = chains, .locked = 1, .valley = kValley, .rise_us = kRise, .seed = seed})),
        rules(env::make_synthetic_rules(kValley)),
        costs(env::make_synthetic_costs(kRise)),
        environment(*task.start, rules, costs, {.horizon = 4 + 2 * chains}, clock) {}

  double optimum() const { return 1 - task.optimal_us / task.initial_us; }
  /// What is expected at most of who cannot tell chains apart: to leave them all shut and take the bait, or
  /// to open one after the other until `unlock` is legal, on the average half of the others in vain.
  double blind(std::uint32_t chains) const {
    const double wasted_us = kRise * (chains - 1) / 2;
    return 1 - std::min(task.greedy_us, task.optimal_us + wasted_us) / task.initial_us;
  }
  double reached() const { return 1 - environment.cost().latency_us / task.initial_us; }

  env::SyntheticTask task;
  rules::RuleSet rules;
  env::TableCostFactory costs;
  ManualClock clock;
  env::Environment environment;
};

/// What the policy is shown: as it is, or each location at the nodes of a random other one of its rule.
env::Observation shown(const env::Observation& seen, bool shuffled, Rng& rng) {
  env::Observation view = seen;
  if (!shuffled) return view;
  for (std::size_t row = 0; row + 1 < seen.candidate_count(); ++row) {
    const std::size_t first = row - seen.candidate_locations[row];
    const std::size_t other = first + rng.below(seen.location_counts[seen.candidate_rules[row]]);
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
        ppo_(network_, nn::initial_weights(network_, seed), rules_, options(head), "cpu", seed),
        policy_(network_, ppo_.weights(), rules_, {.device = "cpu"}) {
    nn::set_torch_threads(1);
    for (std::uint64_t graph = 0; graph < kGraphs; ++graph)
      worlds_.push_back(std::make_unique<World>(4 + static_cast<std::uint32_t>(graph % 3), graph));
  }

  void run() {
    for (int update = 0; update < kUpdates; ++update) {
      std::vector<replay::Segment> segments;
      for (std::size_t i = 0; i < kEpisodes; ++i) {
        play(*worlds_[i % kGraphs], update, segments);
        segments.back().model = static_cast<std::uint32_t>(i % kGraphs);
        best_.look({.ticket = {{.model = segments.back().model}}, .segments = {segments.back()}});
      }
      const std::vector<replay::Segment> best = best_.draw(kGraphs, rng_);
      PpoBatch batch = ppo_.prepare(segments, best);
      if (handicap_ == Handicap::zeroed_advantages)
        for (StepTargets* targets : {&batch.targets, &batch.imitated.targets})
          for (DecisionTargets* half : {&targets->first, &targets->second})
            std::ranges::fill(half->advantages, 0.0F);
      ppo_.anneal(1 - 0.9 * update / kUpdates);
      const PpoMetrics metrics = ppo_.train(batch);
      EXPECT_LT(metrics.lag0_ratio_max, 1e-5);
      policy_.set_weights(ppo_.weights());
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
  double share_of_optimum(std::uint32_t chains, std::uint64_t graphs = 6) {
    std::vector<std::unique_ptr<World>> worlds = unseen(chains, graphs);
    return share_of_optimum(worlds);
  }
  /// The same of who cannot tell chains apart, at most.
  static double blind_share(std::uint32_t chains, std::uint64_t graphs) {
    double sum = 0;
    for (const auto& world : unseen(chains, graphs)) sum += world->blind(chains) / world->optimum();
    return sum / static_cast<double>(graphs);
  }
  double share_of_optimum() { return share_of_optimum(worlds_); }

 private:
  static std::vector<std::unique_ptr<World>> unseen(std::uint32_t chains, std::uint64_t graphs) {
    std::vector<std::unique_ptr<World>> worlds;
    for (std::uint64_t seed = 100; seed < 100 + graphs; ++seed)
      worlds.push_back(std::make_unique<World>(chains, seed));
    return worlds;
  }

  static constexpr std::size_t kGraphs = 12, kEpisodes = 48;
  static constexpr int kUpdates = 200;

  static nn::NetworkConfig config(nn::Head head) {
    nn::NetworkConfig network{.width = 16, .steps = 3, .node_kinds = graph::kOpKinds, .head = head};
    if (head == nn::Head::hierarchical)
      network.rules = static_cast<std::uint32_t>(env::make_synthetic_rules(kValley).size() + 1);
    return network;
  }
  static PpoOptions options(nn::Head head) {
    PpoOptions options;
    options.learning_rate = 3e-3;
    options.entropy_coefficient = head == nn::Head::pointer ? 0.04 : 0.05;
    options.minibatch_steps = 128;
    options.epochs = 3;
    options.imitation = head == nn::Head::pointer ? 0.1 : 0.3;
    return options;
  }
  bool shuffled() const { return handicap_ == Handicap::shuffled_locations; }

  void play(World& world, int update, std::vector<replay::Segment>& segments) {
    replay::Segment segment;
    segment.weight_version = 1 + static_cast<std::uint64_t>(update);
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
      segment.episode_return += step.reward;
      segment.steps.push_back(std::move(step));
    }
    segments.push_back(std::move(segment));
  }

  Handicap handicap_;
  BestEpisodes best_{1};  // of each graph
  Rng rng_;
  nn::NetworkConfig network_;
  env::RuleFeatureTable rules_;
  Ppo ppo_;
  nn::Policy policy_;
  std::vector<std::unique_ptr<World>> worlds_;
};

/// Whether the policy of this seed reaches the optimum of its graphs, and of larger ones that it never saw.
bool optimal(nn::Head head, std::uint64_t seed) {
  Training training(head, seed, Handicap::none);
  training.run();
  double least = training.share_of_optimum();
  for (const std::uint32_t chains : kLarger.at(head))
    least = std::min(least, training.share_of_optimum(chains));
  std::printf("seed %llu: at least %.4f of the optimum\n", static_cast<unsigned long long>(seed), least);
  return least > 0.999;
}

class SyntheticFamily : public testing::TestWithParam<nn::Head> {};

TEST_P(SyntheticFamily, TheOptimumIsReachedAndKeptOnLargerGraphsNeverSeenByFourOfFiveSeeds) {
  int seeds = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) seeds += optimal(GetParam(), seed);
  EXPECT_GE(seeds, 4);
}

INSTANTIATE_TEST_SUITE_P(Heads, SyntheticFamily, testing::Values(nn::Head::pointer, nn::Head::hierarchical),
                         [](const auto& of) { return std::string(enum_name(of.param)); });

class HandicappedFamily : public testing::TestWithParam<std::tuple<nn::Head, Handicap>> {};

TEST_P(HandicappedFamily, DoesNoBetterThanTheBlindByTheSameBudget) {
  const auto [head, handicap] = GetParam();
  constexpr std::uint64_t kSeeds = 3;
  std::map<std::uint32_t, double> shares;  // by the number of chains: the mean over seeds
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Training training(head, seed, handicap);
    training.run();
    for (const std::uint32_t chains : kLarger.at(head)) {
      const double share = training.share_of_optimum(chains, kManyGraphs);
      EXPECT_LT(share, Training::blind_share(chains, kManyGraphs) + 0.2) << chains << " chains";
      shares[chains] += share / kSeeds;
    }
  }
  for (const auto& [chains, share] : shares) {
    const double blind = Training::blind_share(chains, kManyGraphs);
    std::printf("%u chains: %.3f of the optimum, the blind %.3f\n", chains, share, blind);
    EXPECT_LT(blind, 0.8) << "the comparison must compare something";
    EXPECT_LT(share, blind + 0.1) << chains << " chains: three standard errors and more";
    if (handicap == Handicap::zeroed_advantages) {
      EXPECT_LT(share, 0.5) << chains << " chains";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Heads, HandicappedFamily,
                         testing::Combine(testing::Values(nn::Head::pointer, nn::Head::hierarchical),
                                          testing::Values(Handicap::zeroed_advantages,
                                                          Handicap::shuffled_locations)),
                         [](const auto& of) {
                           return std::string(enum_name(std::get<0>(of.param))) +
                                  (std::get<1>(of.param) == Handicap::zeroed_advantages
                                       ? "_without_advantages"
                                       : "_with_shuffled_locations");
                         });

}  // namespace
}
