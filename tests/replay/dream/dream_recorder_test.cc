#include "replay/dream/dream_recorder.h"

#include <gtest/gtest.h>

#include "core/nn/dream_world.h"

namespace regraft::replay {
namespace {

constexpr std::uint64_t kSeed = 2207;
constexpr std::uint32_t kReplicas = 5;

/// Dreams of a controller that never draws NO-OP, in a world where nothing ends by itself.
class EndlessDreams : public testing::Test {
 protected:
  EndlessDreams() : world(test::endless_world(kSeed)) {
    config.state = world.config.dynamics.latent + world.config.dynamics.hidden;
    config.rules = world.config.dynamics.rules;
    config.locations = world.config.locations;
    nn::Weights weights = nn::initial_weights(config, kSeed);
    weights.tensor("xfer.bias2").back() = -100;
    controller.emplace(config, weights);
  }

  std::vector<DreamSegment> record(nn::Dream& dream, std::uint32_t most_steps = 0) {
    nn::DreamPlayer player(dream, *controller);
    const std::vector<nn::DreamStart> starts(kReplicas, nn::start_of(world.starts.front()));
    DreamSegment header;
    header.seed = kSeed;
    return record_dreams(dream, player, starts, header, most_steps);
  }

  nn::WorldModel world;
  nn::ControllerConfig config;
  std::optional<nn::Controller> controller;
};

/// Segments of `steps` steps that have not terminated and name the states in which the dreams were left.
void expect_truncated(const nn::Dream& dream, std::span<const DreamSegment> segments, std::size_t steps) {
  ASSERT_EQ(segments.size(), kReplicas);
  for (std::uint32_t replica = 0; replica < kReplicas; ++replica) {
    const DreamSegment& segment = segments[replica];
    EXPECT_EQ(segment.episode, replica);
    EXPECT_EQ(segment.steps.size(), steps);
    EXPECT_FALSE(segment.steps.back().terminated);
    EXPECT_TRUE(ends_episode(segment));
    EXPECT_TRUE(std::ranges::equal(segment.next_state, dream.state(replica)));
    EXPECT_NE(segment.next_state, segment.steps.back().state);
  }
}

TEST_F(EndlessDreams, WhatIsCutShortNamesTheStateToBootstrapFrom) {
  nn::Dream dream(world, {}, kReplicas);
  expect_truncated(dream, record(dream, 4), 4);
}

TEST_F(EndlessDreams, ATruncatingHorizonNamesItToo) {
  nn::Dream dream(world, {.horizon = 6, .horizon_mode = env::HorizonMode::truncate, .sample = {}}, kReplicas);
  expect_truncated(dream, record(dream), 6);
}

TEST_F(EndlessDreams, ATerminatingHorizonLeavesNothingToBootstrapFrom) {
  nn::Dream dream(world, {.horizon = 6, .sample = {}}, kReplicas);
  for (const DreamSegment& segment : record(dream)) {
    EXPECT_EQ(segment.steps.size(), 6u);
    EXPECT_TRUE(segment.steps.back().terminated);
    EXPECT_TRUE(segment.next_state.empty());
  }
}

TEST_F(EndlessDreams, AnEpisodeOfManySegmentsIsCutWhereOneStateFollowsTheOther) {
  world.horizon = 2 * kMaxDreamedSteps + 3;
  nn::Dream dream(world, {}, kReplicas);
  const std::vector<DreamSegment> segments = record(dream);
  ASSERT_EQ(segments.size(), 3 * kReplicas);
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    if (ends_episode(segments[i])) continue;
    EXPECT_TRUE(goes_on(segments[i], segments[i + 1]));
    EXPECT_EQ(segments[i].next_state, segments[i + 1].steps.front().state);
  }
}

}  // namespace
}
