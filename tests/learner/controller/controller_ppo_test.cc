#include "learner/controller/controller_ppo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/nn/dream_returns.h"
#include "core/nn/dream_world.h"
#include "core/nn/inference/device.h"
#include "learner/optimiser/sep_cma_es.h"
#include "replay/dream/dream_recorder.h"

namespace regraft::learner {
namespace {

constexpr std::uint64_t kSeed = 3001;
constexpr std::uint32_t kReplicas = 64;

nn::ControllerConfig config_for(const nn::WorldModel& world, nn::ControllerKind kind) {
  const nn::DynamicsConfig& dynamics = world.config.dynamics;
  return {.kind = kind,
          .state = dynamics.latent + dynamics.hidden,
          .rules = dynamics.rules,
          .locations = world.config.locations,
          .width = 32};
}

/// Trains in a dream and measures the returns with it; `scramble` may spoil what is learnt from.
class DreamTraining {
 public:
  DreamTraining(std::uint64_t seed, const PpoOptions& options)
      : world(test::random_world(seed)),
        config(config_for(world, nn::ControllerKind::hierarchical)),
        ppo(config, nn::initial_weights(config, seed), options, seed),
        controller(config, ppo.weights()),
        dream(world, {}, kReplicas),
        player(dream, controller),
        starts(kReplicas, nn::start_of(world.starts.front())) {
    set_threads();
  }
  static void set_threads() { nn::set_torch_threads(1); }

  std::vector<replay::DreamSegment> play(std::uint64_t seed) {
    replay::DreamSegment header;
    header.weight_version = ppo.version();
    header.seed = seed;
    return replay::record_dreams(dream, player, starts, header);
  }
  PpoMetrics update(std::vector<replay::DreamSegment> segments) {
    const PpoMetrics metrics = ppo.update(segments);
    controller.set_weights(ppo.weights());
    return metrics;
  }
  double mean_return(nn::ActionSelection selection = nn::ActionSelection::drawn) {
    const std::vector<nn::DreamStart> many(256, starts.front());
    const auto returns = test::dream_returns(world, {}, many, controller, selection, kSeed);
    return std::accumulate(returns.begin(), returns.end(), 0.0) / static_cast<double>(returns.size());
  }

  nn::WorldModel world;
  nn::ControllerConfig config;
  ControllerPpo ppo;
  nn::Controller controller;
  nn::Dream dream;
  nn::DreamPlayer player;
  std::vector<nn::DreamStart> starts;
};

const PpoOptions kQuick{.learning_rate = 3e-3, .entropy_coefficient = 0.003, .minibatch_steps = 128};

TEST(ControllerPpo, BehaviourProbabilitiesAreThoseOfTheTrainedNetwork) {
  SCOPED_TRACE(kSeed);
  DreamTraining training(kSeed, kQuick);
  for (int update = 0; update < 3; ++update) {
    const PpoMetrics metrics = training.update(training.play(kSeed + static_cast<std::uint64_t>(update)));
    EXPECT_EQ(metrics.lag0_steps, metrics.steps);
    EXPECT_LT(metrics.lag0_ratio_max, 1e-5);
    EXPECT_EQ(metrics.truncated_fraction, 0);
  }
}

TEST(ControllerPpo, AnEpisodeThatWasCutIntoSegmentsTrainsAsTheWholeOne) {
  SCOPED_TRACE(kSeed);
  for (const Correction correction : {Correction::decoupled, Correction::v_trace}) {
    PpoOptions options = kQuick;
    options.correction = correction;
    DreamTraining by_wholes(kSeed, options), by_pieces(kSeed, options);
    const auto whole = by_wholes.play(1);
    std::vector<replay::DreamSegment> pieces;
    for (const replay::DreamSegment& episode : whole) {
      const std::size_t steps = episode.steps.size(), half = steps / 2;
      if (half > 0) {
        replay::DreamSegment& first = pieces.emplace_back(episode);
        first.steps.resize(half);
        first.next_state = episode.steps[half].state;
        first.episode_return = std::numeric_limits<float>::quiet_NaN();
      }
      replay::DreamSegment& last = pieces.emplace_back(episode);
      last.steps.erase(last.steps.begin(), last.steps.begin() + static_cast<std::ptrdiff_t>(half));
    }
    ASSERT_GT(pieces.size(), whole.size() + whole.size() / 4);
    const PpoMetrics expected = by_wholes.update(whole), found = by_pieces.update(pieces);
    EXPECT_EQ(found.explained_variance, expected.explained_variance);
    EXPECT_EQ(by_pieces.ppo.weights(), by_wholes.ppo.weights());
  }
}

/// Weights after one update on an episode that is cut behind its second step, from these weights on.
std::vector<float> after_a_cut_episode(const nn::Weights& weights, const replay::DreamSegment& cut) {
  PpoOptions options = kQuick;
  options.lambda = 1;
  const nn::WorldModel world = test::random_world(kSeed);
  ControllerPpo ppo(config_for(world, nn::ControllerKind::hierarchical), weights, options, kSeed);
  ppo.update({&cut, 1});
  return ppo.weights().values;
}

TEST(ControllerPpo, OnlyATruncatedEpisodeIsBootstrappedFromTheValueOfItsNextState) {
  SCOPED_TRACE(kSeed);
  DreamTraining training(kSeed, kQuick);
  const auto played = training.play(1);
  const auto longer = std::ranges::find_if(played, [](const auto& of) { return of.steps.size() > 2; });
  ASSERT_NE(longer, played.end());
  replay::DreamSegment truncated = *longer;
  truncated.next_state = truncated.steps[2].state;
  truncated.steps.resize(2);
  replay::DreamSegment terminated = truncated;
  terminated.steps.back().terminated = true;
  terminated.next_state.clear();

  const nn::Weights weights = training.ppo.weights();
  replay::DreamSegment elsewhere = truncated;
  for (float& number : elsewhere.next_state) number += 1;
  const auto ended = after_a_cut_episode(weights, terminated);
  EXPECT_NE(after_a_cut_episode(weights, truncated), ended);
  EXPECT_NE(after_a_cut_episode(weights, truncated), after_a_cut_episode(weights, elsewhere));

  // Where V1 is 0.5 everywhere, to be truncated is to be paid 0.5 more and to end: the same to the bit, since
  // such sums are exact.
  nn::Weights constant = weights;
  for (const nn::TensorSpec& spec : weights.tensors)
    if (spec.name.starts_with("value1.")) std::ranges::fill(constant.tensor(spec.name), 0.0f);
  constant.tensor("value1.bias2").front() = 0.5f;
  for (replay::DreamSegment* segment : {&truncated, &terminated})
    for (replay::DreamedStep& step : segment->steps) step.reward = 0.25f;
  const auto unpaid = after_a_cut_episode(constant, terminated);
  terminated.steps.back().reward += 0.5f;
  EXPECT_EQ(after_a_cut_episode(constant, truncated), after_a_cut_episode(constant, terminated));
  EXPECT_NE(after_a_cut_episode(constant, truncated), unpaid);
}

TEST(ControllerPpo, TheReturnInTheDreamRises) {
  SCOPED_TRACE(kSeed);
  DreamTraining training(kSeed, kQuick);
  const double before = training.mean_return();
  for (std::uint64_t update = 0; update < 40; ++update) training.update(training.play(kSeed + update));
  const double after = training.mean_return();
  EXPECT_GT(after, before + 0.2) << "returns are clipped to [-0.3, 0.4] a step";
}

TEST(ControllerPpo, NothingIsLearntWithoutRewards) {
  SCOPED_TRACE(kSeed);
  DreamTraining training(kSeed, kQuick);
  const double before = training.mean_return();
  for (std::uint64_t update = 0; update < 40; ++update) {
    auto segments = training.play(kSeed + update);
    for (auto& segment : segments)
      for (auto& step : segment.steps) step.reward = 0;
    training.update(std::move(segments));
  }
  EXPECT_NEAR(training.mean_return(), before, 0.1) << "with them it rises by twice that and more";
}

TEST(ControllerPpo, ARestoredOneGoesOnToTheBit) {
  SCOPED_TRACE(kSeed);
  DreamTraining one(kSeed, kQuick), other(kSeed, kQuick);
  one.update(one.play(1));
  other.ppo.restore(one.ppo.save());
  other.controller.set_weights(other.ppo.weights());
  EXPECT_EQ(other.ppo.version(), 2u);
  one.update(one.play(2));
  other.update(other.play(2));
  EXPECT_EQ(one.ppo.weights(), other.ppo.weights());
  EXPECT_EQ(one.ppo.save(), other.ppo.save());
}

/// Weights of the tensors whose names begin with `prefix`, after one update.
std::vector<float> part_after_update(const PpoOptions& options, std::string_view prefix) {
  DreamTraining training(kSeed, options);
  training.update(training.play(1));
  const nn::Weights weights = training.ppo.weights();
  std::vector<float> part;
  for (const nn::TensorSpec& spec : weights.tensors) {
    if (!spec.name.starts_with(prefix)) continue;
    const auto values = weights.tensor(spec.name);
    part.insert(part.end(), values.begin(), values.end());
  }
  return part;
}

TEST(ControllerPpo, ValueFunctionsHaveALearningRateOfTheirOwn) {
  SCOPED_TRACE(kSeed);
  PpoOptions options = kQuick, faster = kQuick;
  options.epochs = faster.epochs = 1;
  options.minibatch_steps = faster.minibatch_steps = 1 << 16;  // one gradient: the policy's does not change
  faster.value_learning_rate = 1e-2;
  for (const char* policy : {"xfer.", "location."})
    EXPECT_EQ(part_after_update(options, policy), part_after_update(faster, policy)) << policy;
  for (const char* value : {"value1.", "value2."})
    EXPECT_NE(part_after_update(options, value), part_after_update(faster, value)) << value;
  faster.value_learning_rate = options.learning_rate;
  EXPECT_EQ(part_after_update(options, "value"), part_after_update(faster, "value"));
}

/// Where V1 and V2 are 0 everywhere, advantages are sums of rewards.
nn::Weights without_values(nn::Weights weights) {
  for (const char* name : {"value1.weight2", "value1.bias2", "value2.weight2", "value2.bias2"})
    std::ranges::fill(weights.tensor(name), 0.0f);
  return weights;
}

TEST(ControllerPpo, AModelsAdvantagesAreNormalisedByThemselves) {
  SCOPED_TRACE(kSeed);
  // Rewards of one model are four times the other's: together they weigh more than what the other one
  // teaches, apart it makes no difference to either.
  const auto moved = [](bool by_model, float scale) {
    PpoOptions options = kQuick;
    options.normalise_by_model = by_model;
    options.epochs = 1;
    options.minibatch_steps = 1 << 16;
    options.gradient_norm =
        1e6;  // values are learnt from rewards as they are: their gradients must not count
    DreamTraining training(kSeed, options);
    auto segments = training.play(1);
    for (auto& segment : segments) {
      segment.model = segment.episode % 2;
      if (segment.model == 1)
        for (auto& step : segment.steps) step.reward *= scale;
    }
    const nn::Weights before = without_values(training.ppo.weights());
    ControllerPpo ppo(training.config, before, options, kSeed);
    ppo.update(segments);
    const nn::Weights after = ppo.weights();
    std::vector<float> part;
    for (const char* name : {"xfer.weight1", "xfer.weight2", "location.weight1", "location.weight2"})
      for (std::size_t i = 0; i < after.tensor(name).size(); ++i)
        part.push_back(after.tensor(name)[i] - before.tensor(name)[i]);
    return part;
  };
  // Adam's first step is the learning rate or nothing, either way: the share of weights that went elsewhere.
  const auto apart = [](const std::vector<float>& one, const std::vector<float>& other) {
    std::size_t differ = 0;
    for (std::size_t i = 0; i < one.size(); ++i) differ += std::abs(one[i] - other[i]) > 1e-4f ? 1 : 0;
    return static_cast<double>(differ) / static_cast<double>(one.size());
  };
  EXPECT_LT(apart(moved(true, 1), moved(true, 4)), 0.01);
  EXPECT_GT(apart(moved(false, 1), moved(false, 4)), 0.1);
}

TEST(ControllerPpo, StepsOfAnotherWorldAreRefused) {
  DreamTraining training(kSeed, kQuick);
  auto segments = training.play(1);
  segments.front().steps.front().state.push_back(0);
  EXPECT_THROW(training.update(segments), nn::NnError);
}

/// Return of a linear controller before and after evolution in a random world, from a random query on.
std::pair<double, double> evolve(std::uint64_t seed) {
  const nn::WorldModel world = test::random_world(seed);
  const nn::ControllerConfig config = config_for(world, nn::ControllerKind::linear);
  nn::Weights weights = nn::initial_weights(config, seed);
  nn::Controller controller(config, weights);
  const std::vector<nn::DreamStart> starts(32, nn::start_of(world.starts.front()));
  const auto loss = [&](const std::vector<double>& parameters, std::uint64_t draws) {
    std::ranges::copy(parameters, weights.values.begin());
    controller.set_weights(weights);
    const auto returns =
        test::dream_returns(world, {}, starts, controller, nn::ActionSelection::most_likely, draws);
    return -std::accumulate(returns.begin(), returns.end(), 0.0) / static_cast<double>(returns.size());
  };
  Rng rng(seed, "first query");
  std::vector<double> first(nn::query_parameters(config));
  for (double& parameter : first) parameter = rng.normal();
  SepCmaEs es(first, {.sigma = 0.5, .seed = seed});
  const double before = -loss(es.mean(), 0);
  for (std::uint64_t generation = 1; generation <= 40; ++generation) {
    std::vector<double> losses;
    for (const auto& candidate : es.ask()) losses.push_back(loss(candidate, generation));
    es.tell(losses);
  }
  return {before, -loss(es.mean(), 0)};
}

TEST(LinearController, EvolutionRaisesTheReturnInTheDream) {
  double before = 0, after = 0;
  for (const std::uint64_t seed : {kSeed, kSeed + 1, kSeed + 2, kSeed + 3}) {
    const auto [first, last] = evolve(seed);
    std::printf("seed %llu: %.3f to %.3f\n", static_cast<unsigned long long>(seed), first, last);
    before += first / 4;
    after += last / 4;
  }
  EXPECT_GT(after, before + 0.2);
}

}  // namespace
}
