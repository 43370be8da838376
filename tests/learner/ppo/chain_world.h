#pragma once

#include <memory>
#include <vector>

#include "core/base/rng.h"
#include "core/env/observation.h"
#include "core/nn/inference/policy.h"
#include "replay/rollout/trajectory.h"

namespace regraft::test {

/// A problem with a known optimum that greedy misses. A chain of nodes holds one key. `unlock` may be tried
/// at every node and costs kUnlockCost; only at the key's consumer does it open a lock. `harvest` at an open
/// lock pays kHarvest. NO-OP ends with 0. The optimum, unlock at the right place, harvest, stop, returns
/// kOptimum; greedy stops at once.
class ChainWorld {
 public:
  static constexpr float kUnlockCost = 0.2f;
  static constexpr float kHarvest = 1.0f;
  static constexpr float kOptimum = kHarvest - kUnlockCost;
  static constexpr int kHorizon = 5;
  static constexpr std::uint16_t kUnlock = 0, kHarvestRule = 1, kNoOp = 2;
  enum Kind : std::uint16_t { plain = 1, other = 2, key = 3, open = 4, spent = 5, kinds = 6 };

  /// `shuffled` shows each location at a random node while its effect stays: nothing can be learnt from what
  /// is seen.
  ChainWorld(std::size_t nodes, Rng& rng, bool shuffled = false) : rng_(rng), shuffled_(shuffled) {
    for (std::size_t i = 0; i < nodes; ++i) kinds_.push_back(rng.below(2) == 0 ? plain : other);
    target_ = 1 + rng.below(nodes - 1);
    kinds_[target_ - 1] = key;
    observe();
  }

  const env::Observation& observation() const { return observation_; }

  struct Outcome {
    float reward = 0;
    bool terminated = false;
  };
  Outcome step(std::uint32_t candidate) {
    const auto rule = observation_.candidate_rules[candidate];
    const auto node = places_[candidate];
    ++steps_;
    Outcome outcome{.reward = 0, .terminated = rule == kNoOp || steps_ == kHorizon};
    if (rule == kUnlock) {
      outcome.reward = -kUnlockCost;
      kinds_[node] = node == target_ ? open : spent;
    } else if (rule == kHarvestRule) {
      outcome.reward = kHarvest;
      kinds_[node] = spent;
    }
    if (!outcome.terminated) observe();
    return outcome;
  }

  static nn::NetworkConfig network(nn::Head head) {
    return {.width = 16,
            .steps = 2,
            .node_kinds = kinds,
            .head = head,
            .rules = head == nn::Head::hierarchical ? kNoOp + 1U : 0U};
  }

  static env::RuleFeatureTable rules() {
    Rng rng(3, "chain rules");
    env::RuleFeatureTable table{2, {}};
    for (std::size_t i = 0; i < 2 * env::kRuleFeatures; ++i) {
      table.features.push_back(static_cast<float>(rng.uniform(-1, 1)));
    }
    table.features.resize(3 * env::kRuleFeatures, 0.0f);
    table.features.back() = 1;
    return table;
  }

 private:
  void add_candidate(std::uint16_t rule, std::size_t node) {
    const auto location = observation_.location_counts[rule]++;
    observation_.candidate_rules.push_back(rule);
    observation_.candidate_locations.push_back(location);
    if (rule != kNoOp) {
      const std::size_t shown = shuffled_ ? rng_.below(kinds_.size()) : node;
      observation_.candidate_nodes.push_back(static_cast<std::int32_t>(shown));
    }
    observation_.candidate_offsets.push_back(static_cast<std::uint32_t>(observation_.candidate_nodes.size()));
    places_.push_back(node);
  }

  void observe() {
    observation_ = {};
    places_.clear();
    const std::size_t nodes = kinds_.size();
    for (std::size_t i = 0; i < nodes; ++i) {
      observation_.node_ids.push_back(static_cast<std::uint32_t>(i));
      observation_.node_kinds.push_back(kinds_[i]);
      if (i == 0) continue;
      observation_.senders.push_back(static_cast<std::int32_t>(i - 1));
      observation_.receivers.push_back(static_cast<std::int32_t>(i));
    }
    observation_.node_features.assign(nodes * env::kNodeFeatures, 0.0f);
    observation_.edge_features.assign((nodes - 1) * env::kEdgeFeatures, 1.0f);
    observation_.globals.assign(env::kGlobalFeatures, 0.0f);
    observation_.globals[0] = static_cast<float>(steps_) / kHorizon;
    observation_.candidate_offsets = {0};
    observation_.location_counts.assign(3, 0);
    for (std::size_t i = 0; i < nodes; ++i) {
      if (kinds_[i] != spent && kinds_[i] != open) add_candidate(kUnlock, i);
    }
    for (std::size_t i = 0; i < nodes; ++i) {
      if (kinds_[i] == open) add_candidate(kHarvestRule, i);
    }
    add_candidate(kNoOp, 0);
  }

  Rng& rng_;
  bool shuffled_;
  std::vector<std::uint16_t> kinds_;
  std::vector<std::size_t> places_;  // where each candidate acts
  std::size_t target_ = 0;
  int steps_ = 0;
  env::Observation observation_;
};

constexpr std::uint64_t kFreshVersion = 1;  // of weights before any update

/// Plays `count` episodes side by side with one policy, as segments.
inline std::vector<replay::Segment> play(nn::Policy& policy, std::size_t count, Rng& rng,
                                         std::uint64_t version, bool shuffled = false) {
  std::vector<std::unique_ptr<ChainWorld>> worlds;
  std::vector<replay::Segment> segments(count);
  for (std::size_t i = 0; i < count; ++i) {
    worlds.push_back(std::make_unique<ChainWorld>(5 + rng.below(6), rng, shuffled));
    segments[i].ticket = i;
    segments[i].weight_version = version;
    segments[i].hierarchical = policy.config().head == nn::Head::hierarchical;
  }
  std::vector<std::size_t> running(count);
  for (std::size_t i = 0; i < count; ++i) running[i] = i;
  while (!running.empty()) {
    std::vector<const env::Observation*> observations;
    for (const auto i : running) observations.push_back(&worlds[i]->observation());
    const auto evaluations = policy.evaluate(observations);
    std::vector<std::size_t> still;
    for (std::size_t k = 0; k < running.size(); ++k) {
      auto& segment = segments[running[k]];
      const auto choice = nn::sample(evaluations[k], rng);
      replay::Step step{.observation = *observations[k],
                        .candidate = choice.candidate,
                        .log_probability = choice.log_probability,
                        .location_log_probability = choice.location_log_probability,
                        .value = evaluations[k].value,
                        .reward = 0,
                        .terminated = false};
      const auto outcome = worlds[running[k]]->step(choice.candidate);
      step.reward = outcome.reward;
      step.terminated = outcome.terminated;
      segment.episode_return += outcome.reward;
      segment.steps.push_back(std::move(step));
      if (!outcome.terminated) still.push_back(running[k]);
    }
    running = std::move(still);
  }
  return segments;
}

/// Mean return of the policy's most likely actions over `count` fresh worlds of `nodes` nodes.
inline double evaluate(nn::Policy& policy, std::size_t nodes, std::size_t count, Rng& rng,
                       bool shuffled = false) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    ChainWorld world(nodes, rng, shuffled);
    for (bool ended = false; !ended;) {
      const auto outcome = world.step(nn::most_likely(policy.evaluate(world.observation())).candidate);
      sum += outcome.reward;
      ended = outcome.terminated;
    }
  }
  return sum / static_cast<double>(count);
}

}
