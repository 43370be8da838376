#include "learner/world/world_fit.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/nn/inference/device.h"
#include "core/nn/model/nn_error.h"
#include "learner/world/world_metrics.h"
#include "replay/rollout/replay_error.h"
#include "tests/learner/world/synthetic_world.h"

namespace regraft::learner {
namespace {

using test::SyntheticWorld;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kSeed = test::kWorldSeed;
constexpr std::uint64_t kEnoughMasks = 10;  // to speak of their F1

class WorldFitTest : public testing::Test {
 protected:
  WorldFitTest() : replay({}) { nn::set_torch_threads(1); }
  /// A fit of 18 updates.
  static WorldOptions short_options() {
    WorldOptions options = test::small_world_options();
    options.encoder_updates = 6;
    options.dynamics_updates = 8;
    options.reward_updates = 4;
    return options;
  }
  WorldFit begun(const WorldOptions& options) {
    return WorldFit(world.context(), replay, options, world.environment_of());
  }
  SyntheticWorld world;
  replay::SequenceReplay replay;
};

TEST_F(WorldFitTest, TellsRewardsAndMasksOfHeldOutRolloutsFarBetterThanTrivialPredictors) {
  SCOPED_TRACE(kSeed);
  world.collect(replay, 400);
  const WorldOptions options = test::small_world_options();
  WorldFit fit = begun(options);
  while (fit.advance()) {
  }
  const TempDir folder;
  fit.write_figures(folder.path());
  const nn::WorldModel made = fit.world();
  check(made, "test");
  EXPECT_EQ(made.starts.size(), 1u);
  std::uint64_t collected = 0, steps = 0;
  for (std::size_t i = 0; i < replay.size(); ++i) {
    collected += replay.at(i).costed;
    steps += replay.at(i).steps.size();
  }
  const auto record = nlohmann::json::parse(made.training_record);
  EXPECT_EQ(record.at("steps"), steps);
  EXPECT_GT(record.at("candidates"), collected) << "peeks are counted, too";
  EXPECT_LE(record.at("candidates"), collected + options.peeks * (steps + replay.size()));
  std::uint32_t deepest = 0;
  for (const DepthFigures& depth : fit.open_loop_figures(6)) {
    if (depth.masks < kEnoughMasks) continue;
    deepest = depth.depth;
    EXPECT_LT(depth.reward_error_known, 0.25 * depth.reward_variance) << "depth " << depth.depth;
    EXPECT_LT(depth.reward_error, 0.5 * depth.reward_variance) << "depth " << depth.depth;
    EXPECT_GT(depth.f1, 0.9) << "depth " << depth.depth;
    if (depth.depth >= 3) {
      EXPECT_GT(depth.f1, depth.f1_start + 0.05) << "depth " << depth.depth;
      EXPECT_GT(depth.f1, depth.f1_usual + 0.05) << "depth " << depth.depth;
    }
  }
  EXPECT_GE(deepest, 4u) << "the comparison must compare something";
  for (const char* name : {"encoder.csv", "dynamics.csv", "reward.csv", "open_loop.csv"})
    EXPECT_GE(std::ranges::count(read_file(folder.path() / name), '\n'), 2) << name;
}

TEST_F(WorldFitTest, ARestoredFitEndsInTheBitsOfAnUninterruptedOne) {
  SCOPED_TRACE(kSeed);
  world.collect(replay, 40);
  WorldOptions options = short_options();
  options.evaluate_every = 3;
  options.scheduled_sampling = 0.5;  // the last two as configs/world-model.toml has them
  options.reward_unit = 0.01;
  WorldFit whole = begun(options);
  std::vector<replay::Bytes> saved{whole.save()};
  while (whole.advance()) saved.push_back(whole.save());
  saved.push_back(whole.save());
  ASSERT_EQ(saved.size(), 19u);
  const nn::WorldModel expected = whole.world();
  for (const std::size_t at : {0, 3, 5, 6, 9, 13, 14, 16, 18}) {
    replay::SequenceReplay copy({});
    copy.restore(replay.save());
    SyntheticWorld another;
    WorldFit resumed(another.context(), copy, options, another.environment_of());
    resumed.restore(saved[at]);
    EXPECT_EQ(resumed.updates_done(), at);
    while (resumed.advance()) {
    }
    EXPECT_EQ(resumed.world().version(), expected.version()) << "interrupted after update " << at;
    EXPECT_EQ(resumed.save(), saved.back());
  }
}

TEST_F(WorldFitTest, StagesShareALimitOfTimeByTheirUpdates) {
  SCOPED_TRACE(kSeed);
  world.collect(replay, 40);
  const WorldOptions options = short_options();
  // A tenth of the time for each update: the encoder's part is the first 6 of 18, and so on.
  WorldFit fit = begun(options);
  std::vector<std::uint64_t> ended_after(4);
  for (int tenth = 0; fit.stage() != WorldFit::Stage::done; ++tenth) {
    const auto stage = static_cast<std::size_t>(fit.stage());
    fit.advance(tenth / 10.0);
    ended_after[stage] = fit.updates_done();
    EXPECT_EQ(fit.updates_done(), static_cast<std::uint64_t>(tenth) + 1);
  }
  EXPECT_EQ(ended_after, (std::vector<std::uint64_t>{5, 9, 11, 0}));
  EXPECT_EQ(fit.updates_in_all(), 18u);
  EXPECT_EQ(nlohmann::json::parse(fit.world().training_record).at("updates"), 11);
  const TempDir folder;
  fit.write_figures(folder.path());
  for (const char* name : {"encoder.csv", "dynamics.csv", "reward.csv"})
    EXPECT_EQ(std::ranges::count(read_file(folder.path() / name), '\n'), 2) << name;
  const std::string dynamics = read_file(folder.path() / "dynamics.csv");
  char last_rate[32];
  std::snprintf(last_rate, sizeof last_rate, "\n4,%.6g,",
                decayed_rate(options, options.dynamics_updates - 1));
  EXPECT_NE(dynamics.find(last_rate), std::string::npos) << "it has fallen as far: " << dynamics;
  WorldFit again = begun(options);
  again.restore(fit.save());
  EXPECT_EQ(again.updates_done(), 11u);

  WorldFit late = begun(options);
  while (late.advance(1)) {
  }
  EXPECT_EQ(late.updates_done(), 3u) << "one of each stage";
  check(late.world(), "test");
}

TEST_F(WorldFitTest, AnUpdateWhoseGradientIsNotFiniteChangesNothing) {
  SCOPED_TRACE(kSeed);
  world.collect(replay, 40);
  constexpr double kFarTooFast = 1e37;
  for (const auto& [rate, named] :
       {std::pair{&WorldOptions::encoder_learning_rate, "world.encoder_learning_rate"},
        std::pair{&WorldOptions::learning_rate, "world.learning_rate"},
        std::pair{&WorldOptions::reward_learning_rate, "world.reward_learning_rate"}}) {
    WorldOptions options = short_options();
    options.*rate = kFarTooFast;
    WorldFit fit = begun(options);
    replay::Bytes before;
    const auto refusal = [&]() -> std::string {
      try {
        for (bool more = true; more; more = fit.advance()) before = fit.save();
      } catch (const nn::NnError& error) {
        return error.what();
      }
      return "none";
    };
    EXPECT_THAT(refusal(), AllOf(HasSubstr("the gradient is not finite"), HasSubstr(named)));
    EXPECT_EQ(fit.save() == before, true) << named;
  }
}

TEST_F(WorldFitTest, ObservationsThatAreNotKeptAreMadeAgainToTheBit) {
  world.collect(replay, 20);
  WorldOptions options = test::small_world_options();
  const WorldData kept(replay, options, world.environment_of());
  options.cache_mib = 0;
  const WorldData remade(replay, options, world.environment_of());
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(kept.observations(i), remade.observations(i));
}

struct HeldOut {
  double error = 0, variance = 0;  // of rewards, all steps known
  double f1 = 0, f1_usual = 0;     // mean of the depths
};

/// The same fit of true targets, and of such that were dealt to other steps at random: what the second says
/// of held-out steps must be no better than their mean and the usual mask, where the first is far better.
/// Else the good figures above would prove nothing. Three fits together: errors of ten of shuffled targets
/// were 0.91 to 1.08 of the variance, 1.01 in the mean.
TEST_F(WorldFitTest, NothingIsLearntOfShuffledTargetsWhereTrueOnesAreLearnt) {
  SCOPED_TRACE(kSeed);
  world.collect(replay, 400);
  constexpr std::uint64_t kFits = 3;
  const auto fitted = [&](bool shuffled) {
    HeldOut sum;
    for (std::uint64_t number = 0; number < kFits; ++number) {
      WorldOptions options = test::small_world_options();
      options.dynamics_updates = 150;
      options.reward_hidden = 0;
      options.shuffle_targets = shuffled;
      options.seed = kSeed + number;
      WorldFit fit = begun(options);
      while (fit.advance()) {
      }
      const auto figures = fit.open_loop_figures(6);
      const double share = 1 / static_cast<double>(kFits * figures.size());
      for (const DepthFigures& depth : figures) {
        const auto rewards = static_cast<double>(depth.rewards);
        sum.error += rewards * depth.reward_error_known;
        sum.variance += rewards * depth.reward_variance;
        sum.f1 += share * depth.f1_known;
        sum.f1_usual += share * depth.f1_usual;
      }
    }
    return sum;
  };
  const HeldOut truth = fitted(false), shuffled = fitted(true);
  EXPECT_GT(shuffled.error, 0.95 * shuffled.variance);
  EXPECT_LT(truth.error, 0.3 * truth.variance);
  EXPECT_LT(shuffled.f1, shuffled.f1_usual + 0.02);
  EXPECT_GT(truth.f1, shuffled.f1 + 0.1);
}

/// Told its own latents while it is fitted, and with squashed rewards, the model dreams further.
TEST_F(WorldFitTest, FitsOnOwnLatentsDreamDeeper) {
  SCOPED_TRACE(kSeed);
  world.collect(replay, 400);
  const auto fitted = [&](double share) {
    WorldOptions options = test::small_world_options();
    options.reward_hidden = 0;
    options.reward_unit = 0.05;
    options.scheduled_sampling = share;
    WorldFit fit = begun(options);
    while (fit.advance()) {
    }
    HeldOut sum;
    for (const DepthFigures& depth : fit.open_loop_figures(8)) {
      if (depth.depth < 4) continue;
      sum.error += static_cast<double>(depth.rewards) * depth.reward_error;
      sum.variance += static_cast<double>(depth.rewards) * depth.reward_variance;
    }
    return sum;
  };
  const HeldOut told = fitted(0), own = fitted(0.5);
  EXPECT_LT(own.error, 0.8 * told.error);
  EXPECT_LT(own.error, 0.3 * own.variance);
}

TEST_F(WorldFitTest, AnEpisodeThatCannotBeReplayedIsLeftOutAndCountedUnlessTooManyAre) {
  SCOPED_TRACE(kSeed);
  replay::SequenceReplay collected({});
  world.collect(collected, 40);
  WorldOptions options = test::small_world_options();
  const auto with_damaged = [&](std::size_t damaged) {
    replay::SequenceReplay some({});
    for (std::size_t i = 0; i < collected.size(); ++i) {
      replay::Rollout rollout = collected.at(i);
      if (i < damaged) rollout.steps.front().reward += 0.01f;
      some.add(rollout);
    }
    return WorldData(some, options, world.environment_of());
  };
  EXPECT_EQ(with_damaged(0).lost(), 0u);
  const WorldData data = with_damaged(3);
  EXPECT_EQ(data.lost(), 3u);
  ASSERT_EQ(data.episodes().size(), 37u);
  EXPECT_EQ(data.episodes().front().sequence, 3u);
  for (const auto* part : {&data.train(), &data.held_out()})
    for (const std::size_t episode : *part)
      EXPECT_EQ(data.observations(episode).size(), data.episodes()[episode].states.size());
  EXPECT_THROW(with_damaged(20), replay::ReplayError);
}

TEST_F(WorldFitTest, AModelWithoutAnEpisodeIsFoundBeforeTheFit) {
  SCOPED_TRACE(kSeed);
  world.collect(replay, 40);
  WorldContext context = world.context();
  context.model_names.emplace_back("never played");
  EXPECT_THROW(WorldFit(context, replay, test::small_world_options(), world.environment_of()), nn::NnError);
}

}  // namespace
}
