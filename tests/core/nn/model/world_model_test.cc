#include "core/nn/model/world_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/file.h"
#include "core/nn/inference/encoder.h"
#include "core/nn/model/world_bundle.h"
#include "core/nn/synthetic_observation.h"

namespace regraft::nn {
namespace {

constexpr std::uint64_t kSeed = 713;

Weights random_weights(std::vector<TensorSpec> layout, const char* stream) {
  Weights weights{std::move(layout), {}};
  if (weights.tensors.empty()) return weights;
  weights.values.resize(weights.tensors.back().offset + weights.tensors.back().count);
  Rng rng(kSeed, stream);
  for (float& value : weights.values) value = static_cast<float>(rng.uniform(-0.3, 0.3));
  return weights;
}

WorldModel small_world(std::uint32_t width = 16, std::uint32_t reward_hidden = 8) {
  WorldModel world;
  world.config.encoder = {.width = width, .steps = 2, .node_kinds = 20};
  world.config.dynamics = {.latent = 4, .action = 3, .hidden = 8, .mixtures = 2, .rules = 3, .count_bins = 4};
  world.config.locations = 6;
  world.config.reward_hidden = reward_hidden;
  world.horizon = 20;
  world.location_limit = 10;
  world.op_kinds = {"Relu", "Add"};
  world.rule_set_hash = "abc";
  world.rule_count = 5;
  world.rules = {1, 3, 5};
  world.model_names = {"net"};
  world.encoder = random_weights(encoder_layout(world.config), "encoder");
  world.latents = {{0.1f, 0.2f, -0.3f, 0}, {1, 2, 0.5f, 1}};
  world.dynamics = random_weights(dynamics_layout(world.config), "dynamics");
  world.dynamics_of = world.encoder_version();
  world.reward = random_weights(reward_layout(world.config), "reward");
  world.reward_of = world.dynamics_version();
  world.rewards = {0.01f, 0.2f, -0.5f, 0.4f};
  world.starts = {{"net", {1, 2, 3, 4}, {3, 0, 1}}};
  return world;
}

std::vector<env::Observation> observations(std::size_t count) {
  Rng rng(kSeed, "world observations");
  std::vector<env::Observation> made;
  for (std::size_t i = 0; i < count; ++i)
    made.push_back(test::synthetic_observation({.nodes = 5 + 3 * i}, rng));
  return made;
}

TEST(WorldBundleFile, ComesBackAsItWas) {
  const TempDir folder;
  for (const std::uint32_t reward_hidden : {0u, 8u}) {
    WorldBundle bundle{small_world(16, reward_hidden), {}, {}};
    save_bundle(bundle, folder.path() / "w.world");
    EXPECT_EQ(load_bundle(folder.path() / "w.world"), bundle);
    bundle.controller = {std::byte{1}, std::byte{2}};
    bundle.controller_of = bundle.world.version();
    EXPECT_EQ(decode_bundle(encode_bundle(bundle), "test"), bundle);
  }
}

TEST(WorldBundleFile, SquashedRewardsAreKept) {
  WorldBundle bundle{small_world(), {}, {}};
  const Hash128 linear = bundle.world.version();
  bundle.world.rewards.unit = 0.01f;
  EXPECT_NE(bundle.world.version(), linear);
  EXPECT_EQ(decode_bundle(encode_bundle(bundle), "test"), bundle);
  bundle.world.rewards.unit = -1;
  EXPECT_THROW(decode_bundle(encode_bundle(bundle), "test"), NnError);
}

TEST(RewardStatistics, SquashedRewardsComeBackAndKeepTheirOrder) {
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed, "rewards");
  for (const float unit : {0.0f, 0.01f, 1.0f}) {
    const RewardStatistics rewards{.mean = 0.3f, .sd = 2, .unit = unit};
    for (int i = 0; i < 200; ++i) {
      const auto reward = static_cast<float>(std::pow(10, rng.uniform(-5, 1)) * (i % 2 == 0 ? 1 : -1));
      const float said = (rewards.squashed(reward) - rewards.mean) / rewards.sd;
      EXPECT_NEAR(rewards.reward_of(said), reward, 1e-5 * std::max(1.0f, std::abs(reward) * 10)) << unit;
      EXPECT_LT(rewards.squashed(reward), rewards.squashed(reward + 0.001f)) << unit;
      EXPECT_FLOAT_EQ(rewards.squashed(-reward), -rewards.squashed(reward));
    }
  }
}

TEST(WorldBundleFile, DamageIsRefused) {
  const auto bytes = encode_bundle({small_world(), {}, {}});
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{5}, std::size_t{11}, bytes.size() / 2, bytes.size() - 1})
    EXPECT_THROW(decode_bundle(std::span(bytes).first(size), "test"), NnError) << size;
  Rng rng(kSeed, "bundle damage");
  for (int round = 0; round < 200; ++round) {
    auto damaged = bytes;
    damaged[rng.below(damaged.size())] ^= static_cast<std::byte>(1 + rng.below(255));
    EXPECT_THROW(decode_bundle(damaged, "test"), NnError);
  }
}

TEST(WorldBundle, AMixtureOfVersionsIsRefusedAndCounted) {
  WorldBundle good{small_world(), {std::byte{7}}, {}};
  good.controller_of = good.world.version();
  BundleSlot slot;
  EXPECT_EQ(slot.bundle(), nullptr);
  EXPECT_TRUE(slot.take(encode_bundle(good), "first"));

  std::vector<WorldBundle> mixtures(5, good);
  mixtures[0].world.encoder.values[3] += 1;   // dynamics of another encoder
  mixtures[1].world.latents.mean[0] += 1;     // or of other statistics
  mixtures[2].world.dynamics.values[0] += 1;  // reward network of another dynamics
  mixtures[3].world.rewards.high += 1;        // controller of another world
  mixtures[4].controller_of.low += 1;
  for (const WorldBundle& mixture : mixtures) {
    EXPECT_THROW(decode_bundle(encode_bundle(mixture), "test"), MixedVersions);
    EXPECT_FALSE(slot.take(encode_bundle(mixture), "later"));
  }
  EXPECT_EQ(slot.refused(), mixtures.size());
  ASSERT_NE(slot.bundle(), nullptr);
  EXPECT_EQ(*slot.bundle(), good) << "the old one stays";

  WorldBundle next = good;
  next.world.rewards.high += 1;
  next.controller_of = next.world.version();
  EXPECT_TRUE(slot.take(encode_bundle(next), "next"));
  EXPECT_EQ(*slot.bundle(), next);
}

TEST(WorldModel, WhatDoesNotFitItsConfigIsRefused) {
  const auto refused = [](auto change) {
    WorldModel world = small_world();
    change(world);
    world.dynamics_of = world.encoder_version();
    world.reward_of = world.dynamics_version();
    EXPECT_THROW(check(world, "test"), NnError);
  };
  check(small_world(), "test");
  refused([](WorldModel& w) { w.observation_schema += 1; });
  refused([](WorldModel& w) { w.config.dynamics.hidden = 9; });
  refused([](WorldModel& w) { w.latents.sd[1] = 0; });
  refused([](WorldModel& w) { w.latents.mean.pop_back(); });
  refused([](WorldModel& w) { w.dynamics.values[0] = std::numeric_limits<float>::quiet_NaN(); });
  refused([](WorldModel& w) { w.rules = {3, 1, 5}; });
  refused([](WorldModel& w) { w.rules = {1, 3, 4}; });
  refused([](WorldModel& w) { w.starts.clear(); });
  refused([](WorldModel& w) { w.starts[0].counts.back() = 0; });
  refused([](WorldModel& w) { w.rewards.low = 1; });
  const std::vector<std::string> kinds{"Relu", "Add"}, others{"Relu"};
  require_fit(small_world(), "abc", kinds);
  EXPECT_THROW(require_fit(small_world(), "abd", kinds), NnError);
  EXPECT_THROW(require_fit(small_world(), "abc", others), NnError);
}

TEST(WorldModel, CountsAreThoseOfItsOwnRules) {
  env::Observation observation = observations(1)[0];
  observation.location_counts = {4, 2, 0, 7, 1, 1};
  EXPECT_EQ(world_counts(small_world(), observation), (std::vector<std::uint16_t>{2, 7, 1}));
  env::Observation other = observation;
  other.action_mode = env::ActionMode::all_sites;  // location 0 is another action
  EXPECT_THROW(world_counts(small_world(), other), NnError);
  WorldModel knowing = small_world();
  knowing.action_mode = env::ActionMode::all_sites;
  EXPECT_EQ(world_counts(knowing, other), world_counts(small_world(), observation));
  EXPECT_THROW(world_counts(knowing, observation), NnError);
  observation.location_counts.pop_back();
  EXPECT_THROW(world_counts(small_world(), observation), NnError);
}

TEST(Encoder, ABatchGivesTheBitsOfItsGraphsAlone) {
  for (const std::uint32_t width : {16u, 32u}) {
    Encoder encoder(small_world(width));
    const auto graphs = observations(7);
    const std::vector<float> all = encoder.encode(test::pointers(graphs));
    ASSERT_EQ(all.size(), 7u * 4u);
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      const std::vector<float> one = encoder.encode(graphs[i]);
      EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + static_cast<std::ptrdiff_t>(4 * i))) << i;
    }
    EXPECT_NE(all[0], all[4]) << "graphs differ, and so must latents";
  }
}

TEST(Encoder, WidthsWithoutKernelsBatchWithinRounding) {
  Encoder encoder(small_world(24));
  const auto graphs = observations(5);
  const std::vector<float> all = encoder.encode(test::pointers(graphs));
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const std::vector<float> one = encoder.encode(graphs[i]);
    for (std::size_t d = 0; d < 4; ++d) EXPECT_NEAR(one[d], all[4 * i + d], 1e-5);
  }
}

TEST(Encoder, LatentsAreStandardisedByTheFrozenStatistics) {
  WorldModel world = small_world();
  const auto graphs = observations(3);
  const std::vector<float> before = Encoder(world).encode(test::pointers(graphs));
  const LatentStatistics old = world.latents;
  world.latents = {{0, 0, 0, 0}, {1, 1, 1, 1}};
  const std::vector<float> raw = Encoder(world).encode(test::pointers(graphs));
  for (std::size_t i = 0; i < raw.size(); ++i)
    EXPECT_NEAR(before[i], (raw[i] - old.mean[i % 4]) / old.sd[i % 4], 1e-5);
}

}  // namespace
}
