#include "learner/ppo/ppo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/nn/inference/device.h"
#include "core/nn/model/nn_error.h"
#include "replay/rollout/replay_error.h"
#include "tests/learner/ppo/chain_world.h"

namespace regraft::learner {
namespace {

using test::ChainWorld;

const nn::NetworkConfig kNetwork = ChainWorld::network(nn::Head::pointer);
const nn::NetworkConfig kHierarchical = ChainWorld::network(nn::Head::hierarchical);

PpoOptions small_options() {
  PpoOptions options;
  options.learning_rate = 3e-3;
  options.minibatch_steps = 64;
  options.entropy_coefficient = 0.01;
  return options;
}

/// A hierarchical policy first learns that rules whose location it cannot tell yet do not pay: without more
/// of an entropy bonus some seeds stop trying them before they know where.
PpoOptions options_of(nn::Head head) {
  PpoOptions options = small_options();
  if (head == nn::Head::hierarchical) options.entropy_coefficient = 0.05;
  return options;
}

/// With much of the bonus at first, which falls to a tenth, every seed tries on until it knows, whatever the
/// last bits of this processor's arithmetic are.
PpoOptions patient_options_of(nn::Head head) {
  PpoOptions options = small_options();
  options.entropy_coefficient = head == nn::Head::hierarchical ? 0.25 : 0.08;
  return options;
}

enum class Handicap { none, zeroed_advantages, shuffled_locations };

/// Deterministic mode: one torch thread, everything keyed by the seed, weights passed on after every update.
class Training {
 public:
  Training(std::uint64_t seed, Handicap handicap, nn::Engine engine = nn::Engine::automatic,
           const nn::NetworkConfig& network = kNetwork, const PpoOptions& options = small_options())
      : handicap_(handicap),
        rng_(seed, "training"),
        ppo_(network, nn::initial_weights(network, seed), ChainWorld::rules(), options, "cpu", seed),
        policy_(network, ppo_.weights(), ChainWorld::rules(), {.device = "cpu", .engine = engine}) {
    nn::set_torch_threads(1);
  }

  PpoMetrics update() {
    const auto segments = test::play(policy_, kEpisodes, rng_, ppo_.version(), shuffled());
    PpoBatch batch = ppo_.prepare(segments);
    if (handicap_ == Handicap::zeroed_advantages)
      for (auto* half : {&batch.targets.first, &batch.targets.second})
        std::fill(half->advantages.begin(), half->advantages.end(), 0.0f);
    const PpoMetrics metrics = ppo_.train(batch);
    policy_.set_weights(ppo_.weights());
    return metrics;
  }
  double evaluate(std::size_t nodes) { return test::evaluate(policy_, nodes, 40, rng_, shuffled()); }

  Ppo& ppo() { return ppo_; }
  nn::Policy& policy() { return policy_; }
  Rng& rng() { return rng_; }

 private:
  static constexpr std::size_t kEpisodes = 64;
  bool shuffled() const { return handicap_ == Handicap::shuffled_locations; }

  Handicap handicap_;
  Rng rng_;
  Ppo ppo_;
  nn::Policy policy_;
};

int updates_of(nn::Head head) {
  return head == nn::Head::pointer ? 40 : 70;
}

const nn::NetworkConfig& network_of(nn::Head head) {
  return head == nn::Head::pointer ? kNetwork : kHierarchical;
}

class PpoSeeds : public testing::TestWithParam<std::tuple<nn::Head, std::uint64_t>> {};

TEST_P(PpoSeeds, ReachTheOptimumThatGreedyMissesAndKeepItOnLargerGraphs) {
  const auto [head, seed] = GetParam();
  Training training(seed, Handicap::none, nn::Engine::automatic, network_of(head), patient_options_of(head));
  const int updates = 3 * updates_of(head) / 2;
  double worst_ratio_error = 0;
  for (int i = 0; i < updates; ++i) {
    training.ppo().anneal(1 - 0.9 * i / updates);
    const auto metrics = training.update();
    EXPECT_EQ(metrics.lag0_steps, metrics.steps);
    worst_ratio_error = std::max(worst_ratio_error, metrics.lag0_ratio_max);
  }
  EXPECT_LT(worst_ratio_error, 1e-5);
  for (const std::size_t nodes : {5, 8, 16, 40}) {
    EXPECT_NEAR(training.evaluate(nodes), ChainWorld::kOptimum, 1e-5) << nodes << " nodes";
  }
}

INSTANTIATE_TEST_SUITE_P(Five, PpoSeeds,
                         testing::Combine(testing::Values(nn::Head::pointer, nn::Head::hierarchical),
                                          testing::Values(1, 2, 3, 4, 5)));

class PpoHeads : public testing::TestWithParam<nn::Head> {};

TEST_P(PpoHeads, VTraceReachesTheOptimumToo) {
  PpoOptions options = options_of(GetParam());
  options.correction = Correction::v_trace;
  Training training(1, Handicap::none, nn::Engine::automatic, network_of(GetParam()), options);
  for (int i = 0; i < updates_of(GetParam()); ++i) training.update();
  EXPECT_NEAR(training.evaluate(8), ChainWorld::kOptimum, 1e-5);
}

TEST_P(PpoHeads, FailsWithZeroedAdvantages) {
  Training training(1, Handicap::zeroed_advantages, nn::Engine::automatic, network_of(GetParam()),
                    options_of(GetParam()));
  for (int i = 0; i < updates_of(GetParam()); ++i) training.update();
  EXPECT_LT(training.evaluate(8), 0.5 * ChainWorld::kOptimum);
}

TEST_P(PpoHeads, FailsWithShuffledLocations) {
  Training training(1, Handicap::shuffled_locations, nn::Engine::automatic, network_of(GetParam()),
                    options_of(GetParam()));
  for (int i = 0; i < updates_of(GetParam()); ++i) training.update();
  EXPECT_LT(training.evaluate(8), 0.5 * ChainWorld::kOptimum);
}

TEST_P(PpoHeads, EnginesAgreeAtLagZeroAndLearnTheSame) {
  const nn::NetworkConfig& network = network_of(GetParam());
  // Acted with one engine, trained with the other: this is what a fused actor and a learner on LibTorch see.
  for (const auto engine : {nn::Engine::torch, nn::Engine::fused}) {
    Training training(6, Handicap::none, engine, network);
    const auto segments = test::play(training.policy(), 64, training.rng(), test::kFreshVersion);
    const auto weights = nn::initial_weights(network, 6);
    Ppo torch(network, weights, ChainWorld::rules(), small_options(), "cpu", 6, nn::Engine::torch);
    Ppo fused(network, weights, ChainWorld::rules(), small_options(), "cpu", 6, nn::Engine::fused);
    const auto torch_metrics = torch.update(segments);
    const auto fused_metrics = fused.update(segments);
    EXPECT_LT(torch_metrics.lag0_ratio_max, 1e-5);
    EXPECT_LT(fused_metrics.lag0_ratio_max, 1e-5);
    EXPECT_NEAR(fused_metrics.policy_loss, torch_metrics.policy_loss, 1e-3);
    EXPECT_NEAR(fused_metrics.value_loss, torch_metrics.value_loss, 1e-3);
    EXPECT_NEAR(fused_metrics.entropy, torch_metrics.entropy, 1e-2);
    EXPECT_NEAR(fused_metrics.gradient_norm, torch_metrics.gradient_norm, 0.02 * torch_metrics.gradient_norm);
  }
}

/// The same episodes in segments of one and two steps. What an actor would have bootstrapped with where it
/// cut them must not count.
std::vector<replay::Segment> cut(const std::vector<replay::Segment>& episodes) {
  std::vector<replay::Segment> pieces;
  for (const replay::Segment& episode : episodes) {
    for (std::size_t first = 0; first < episode.steps.size();) {
      const std::size_t count = std::min(episode.steps.size() - first, 1 + pieces.size() % 2);
      replay::Segment& piece = pieces.emplace_back(episode);
      const auto begin = episode.steps.begin() + static_cast<std::ptrdiff_t>(first);
      piece.steps.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
      first += count;
      if (first == episode.steps.size()) continue;
      piece.bootstrap_value = 100;
      piece.next_observation.reset();
    }
  }
  return pieces;
}

/// The longest episodes first.
std::vector<replay::Segment> play_sorted(Training& training, std::size_t episodes) {
  auto played = test::play(training.policy(), episodes, training.rng(), test::kFreshVersion);
  std::ranges::sort(played, std::greater(), [](const replay::Segment& s) { return s.steps.size(); });
  return played;
}

/// Without its last step: truncated there, with V_mu of the state in which that step was taken.
replay::Segment truncated(replay::Segment episode, float bootstrap_value) {
  episode.steps.pop_back();
  episode.bootstrap_value = bootstrap_value;
  return episode;
}

void expect_equal(const DecisionTargets& found, const DecisionTargets& expected) {
  EXPECT_EQ(found.proximal, expected.proximal);
  EXPECT_EQ(found.weights, expected.weights);
  EXPECT_EQ(found.advantages, expected.advantages);
  EXPECT_EQ(found.targets, expected.targets);
}

TEST_P(PpoHeads, AnEpisodeThatWasCutIntoSegmentsTrainsAsTheWholeOne) {
  for (const Correction correction : {Correction::decoupled, Correction::v_trace}) {
    SCOPED_TRACE(correction == Correction::v_trace ? "V-trace" : "GAE");
    PpoOptions options = options_of(GetParam());
    options.correction = correction;
    Training training(13, Handicap::none, nn::Engine::automatic, network_of(GetParam()), options);
    auto whole = play_sorted(training, 24);
    ASSERT_GT(whole[1].steps.size(), 3u);
    for (const std::size_t i : {0, 1}) whole[i] = truncated(whole[i], 0.3F);
    whole[1].next_observation = whole[2].steps.front().observation;
    training.update();  // what was played lags now: no ratio is 1
    const auto pieces = cut(whole);
    ASSERT_GT(pieces.size(), whole.size() + whole.size() / 2);
    const PpoBatch found = training.ppo().prepare(pieces), expected = training.ppo().prepare(whole);
    EXPECT_EQ(found.targets.second_halves, expected.targets.second_halves);
    expect_equal(found.targets.first, expected.targets.first);
    expect_equal(found.targets.second, expected.targets.second);
    EXPECT_EQ(found.arrival.explained_variance, expected.arrival.explained_variance);
    Ppo by_pieces(network_of(GetParam()), training.ppo().weights(), ChainWorld::rules(), options, "cpu", 1);
    Ppo by_wholes(network_of(GetParam()), training.ppo().weights(), ChainWorld::rules(), options, "cpu", 1);
    by_pieces.update(pieces);
    by_wholes.update(whole);
    EXPECT_EQ(by_pieces.weights(), by_wholes.weights());
  }
}

TEST_P(PpoHeads, OnlyATruncatedEpisodeIsBootstrappedAndByThePresentValueWhereItCanBeHad) {
  Training training(14, Handicap::none, nn::Engine::automatic, network_of(GetParam()));
  auto episodes = play_sorted(training, 8);
  ASSERT_GT(episodes[0].steps.size(), 1u);
  training.update();
  const auto last_target = [&](const replay::Segment& segment) {
    const StepTargets targets = training.ppo().prepare({&segment, 1}).targets;
    return targets.second_halves.back() != 0 ? targets.second.targets.back() : targets.first.targets.back();
  };
  const float ended = last_target(episodes[0]);
  episodes[0].bootstrap_value = 1000;
  EXPECT_EQ(last_target(episodes[0]), ended);

  const env::Observation next = episodes[0].steps.back().observation;
  replay::Segment carried = truncated(episodes[0], 7);
  const float reward = carried.steps.back().reward;
  EXPECT_NEAR(last_target(carried), reward + 7, 1e-4);
  carried.next_observation = next;
  EXPECT_NEAR(last_target(carried), reward + training.policy().evaluate(next).value, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Both, PpoHeads, testing::Values(nn::Head::pointer, nn::Head::hierarchical),
                         [](const auto& head) { return std::string(enum_name(head.param)); });

TEST(Ppo, TwoRunsOfOneSeedGiveTheSameBits) {
  Training one(7, Handicap::none), other(7, Handicap::none);
  for (int i = 0; i < 3; ++i) {
    one.update();
    other.update();
  }
  EXPECT_EQ(one.ppo().weights(), other.ppo().weights());
}

TEST(Ppo, ResumedEqualsUninterrupted) {
  Training training(8, Handicap::none);
  const auto early = test::play(training.policy(), 32, training.rng(), test::kFreshVersion);
  const auto late = test::play(training.policy(), 32, training.rng(), test::kFreshVersion + 1);
  for (const bool after_an_update : {false, true}) {
    Ppo straight(kNetwork, nn::initial_weights(kNetwork, 8), ChainWorld::rules(), small_options(), "cpu", 8);
    if (after_an_update) straight.update(early);
    const auto saved = straight.save();
    straight.update(late);
    Ppo resumed(kNetwork, nn::initial_weights(kNetwork, 99), ChainWorld::rules(), small_options(), "cpu", 99);
    resumed.restore(saved);
    resumed.update(late);
    EXPECT_EQ(resumed.version(), straight.version());
    EXPECT_EQ(resumed.weights(), straight.weights());
    EXPECT_EQ(resumed.save(), straight.save());
  }
}

TEST(Ppo, DamagedStateIsRefusedAndChangesNothing) {
  Training training(9, Handicap::none);
  training.update();
  const auto good = training.ppo().save();
  for (std::size_t size = 0; size < good.size(); size += 1 + size / 8) {
    EXPECT_THROW(training.ppo().restore(std::span(good).first(size)), Error) << size;
  }
  const nn::NetworkConfig wider{.width = 24, .steps = 2, .node_kinds = ChainWorld::kinds};
  Ppo other(wider, nn::initial_weights(wider, 1), ChainWorld::rules(), small_options(), "cpu", 1);
  EXPECT_THROW(other.restore(good), nn::NnError);
  EXPECT_EQ(training.ppo().save(), good);
}

TEST(Ppo, ChecksBothHalvesOfAHierarchicalStep) {
  for (float replay::Step::*half :
       {&replay::Step::log_probability, &replay::Step::location_log_probability}) {
    Training training(10, Handicap::none, nn::Engine::automatic, kHierarchical);
    auto segments = test::play(training.policy(), 16, training.rng(), test::kFreshVersion);
    EXPECT_LT(training.ppo().prepare(segments).arrival.lag0_ratio_max, 1e-5);
    for (auto& segment : segments)
      for (auto& step : segment.steps)
        if (chose_location(step)) step.*half -= 0.5f;
    EXPECT_NEAR(training.ppo().prepare(segments).arrival.lag0_ratio_max, std::exp(0.5) - 1, 1e-3);
  }
}

TEST(Ppo, ASegmentOfAnotherHeadIsRefused) {
  Training training(10, Handicap::none, nn::Engine::automatic, kHierarchical);
  const auto segments = test::play(training.policy(), 2, training.rng(), test::kFreshVersion);
  const Ppo pointer(kNetwork, nn::initial_weights(kNetwork, 1), ChainWorld::rules(), small_options(), "cpu",
                    1);
  EXPECT_THROW(pointer.prepare(segments), nn::NnError);
}

TEST(Ppo, ValueLayersLearnAtTheirOwnRate) {
  Training training(11, Handicap::none, nn::Engine::automatic, kHierarchical);
  const auto segments = test::play(training.policy(), 32, training.rng(), test::kFreshVersion);
  const auto moved = [&](double value_learning_rate) {
    PpoOptions options = small_options();
    options.value_learning_rate = value_learning_rate;
    const nn::Weights before = nn::initial_weights(kHierarchical, 11);
    Ppo ppo(kHierarchical, before, ChainWorld::rules(), options, "cpu", 1);
    ppo.update(segments);
    const nn::Weights after = ppo.weights();
    std::pair<double, double> sums;  // of the policy's and encoder's tensors, of the value functions'
    const std::size_t first = nn::value_offset(before.tensors);
    for (std::size_t i = 0; i < before.values.size(); ++i)
      (i < first ? sums.first : sums.second) += std::abs(after.values[i] - before.values[i]);
    return sums;
  };
  const auto same = moved(0), slow = moved(1e-9);
  EXPECT_EQ(moved(small_options().learning_rate), same);
  EXPECT_GT(same.second, 0);
  EXPECT_LT(slow.second, 1e-3 * same.second);
  EXPECT_GT(slow.first, 0.5 * same.first);
}

TEST(Ppo, ChecksTheRatioOnlyOfStepsActedWithCurrentWeights) {
  Training training(10, Handicap::none);
  auto segments = test::play(training.policy(), 16, training.rng(), test::kFreshVersion);
  for (auto& step : segments[3].steps) step.log_probability -= 0.5f;  // as a wrong mask would show
  EXPECT_NEAR(training.ppo().prepare(segments).arrival.lag0_ratio_max, std::exp(0.5) - 1, 1e-3);
  segments[3].weight_version = 77;
  EXPECT_LT(training.ppo().prepare(segments).arrival.lag0_ratio_max, 1e-5);
}

TEST(Ppo, TruncatesTheWeightOfDistantDataAndNeverCorrectsTwice) {
  Training training(11, Handicap::none);
  auto segments = test::play(training.policy(), 8, training.rng(), test::kFreshVersion);
  for (auto& step : segments[0].steps) step.log_probability -= 3;
  for (auto& step : segments[1].steps) step.log_probability += 1;
  const auto batch = training.ppo().prepare(segments);
  EXPECT_FLOAT_EQ(batch.targets.first.weights[0], 2.0f);
  EXPECT_NEAR(batch.targets.first.weights[segments[0].steps.size()], std::exp(-1.0), 1e-4);
  EXPECT_GT(batch.arrival.truncated_fraction, 0);
  PpoOptions options = small_options();
  options.correction = Correction::v_trace;
  const Ppo ppo(kNetwork, training.ppo().weights(), ChainWorld::rules(), options, "cpu", 1);
  EXPECT_THAT(ppo.prepare(segments).targets.first.weights, testing::Each(1.0f));
}

TEST(Ppo, RefusesWhatItCannotTrainOn) {
  Training training(12, Handicap::none);
  EXPECT_THROW(training.ppo().update({}), nn::NnError);
  auto segments = test::play(training.policy(), 2, training.rng(), test::kFreshVersion);
  segments[0].steps[0].candidate = 1000;
  EXPECT_THROW(training.ppo().update(segments), nn::NnError);
  segments[0].steps[0].candidate = 0;
  training.ppo().update(segments);
  const auto before = training.ppo().weights();
  const std::vector<std::byte> saved =
      training.ppo().save();  // the optimiser's moments and the random stream too
  segments[1].steps[0].reward = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(training.ppo().update(segments), nn::NnError);
  EXPECT_EQ(training.ppo().weights(), before);
  EXPECT_EQ(training.ppo().save(), saved);
  PpoOptions options = small_options();
  options.lambda = 2;
  EXPECT_THROW(Ppo(kNetwork, before, ChainWorld::rules(), options, "cpu", 1), UsageError);
}

}  // namespace
}
