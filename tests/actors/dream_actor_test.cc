#include "actors/dream_actor.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/nn/dream_world.h"
#include "core/nn/model/controller_file.h"
#include "core/wire/run_fixture.h"
#include "replay/rollout/trajectory.h"

namespace regraft::actors {
namespace {

using wire::testing_support::kLong;
using wire::testing_support::TestRun;

constexpr std::uint64_t kSeed = 5201;

constexpr std::uint32_t kRules = 150;

/// Dreams that go on until a controller of random weights draws NO-OP or to the horizon.
nn::WorldBundle long_dreams(std::uint32_t horizon) {
  nn::WorldModel world = test::endless_world(kSeed, kRules);
  world.horizon = horizon;
  nn::ControllerConfig config;
  config.state = world.config.dynamics.latent + world.config.dynamics.hidden;
  config.rules = kRules;
  config.locations = world.config.locations;
  nn::WorldBundle bundle{world, {}, {}};
  bundle.controller = nn::encode_controller({config, nn::initial_weights(config, kSeed)});
  bundle.controller_of = world.version();
  return bundle;
}

/// What one ticket of dreams brings.
struct Brought {
  std::uint64_t episodes = 0, bytes = 0;
  bool too_large = false;
};

Brought dream_one_ticket(const nn::WorldBundle& bundle, std::uint32_t replicas, std::uint64_t ticket_bytes) {
  TestRun run;
  run.options().dispatch.ticket_bytes = ticket_bytes;
  run.options().dispatch.max_outstanding_bytes = 2 * ticket_bytes;
  run.options().dispatch.max_parts = replay::kMaxDreamSegments;
  wire::Hub& hub = run.start();
  run.work_left = 1;
  hub.publish(1, nn::encode_bundle(bundle));
  Brought brought;
  std::jthread acting([&](const std::stop_token& stopped) {
    try {
      wire::Link link(run.actor("dreamer"), run.clock());
      DreamActor actor(link, {.dream = {}, .replicas = replicas}, std::nullopt, run.clock());
      actor.run(stopped);
      brought.episodes = actor.episodes();
    } catch (const wire::WireError& error) {
      brought.too_large = error.fault() == wire::WireFault::kMisuse;
      hub.stop();
    }
  });
  if (const auto delivery = hub.take(kLong)) {
    for (const wire::Part& part : delivery->parts) brought.bytes += wire::total_bytes(part.frames);
    hub.decide(delivery->ticket, wire::Verdict::kAdmitted);
  }
  hub.stop();
  acting.join();
  return brought;
}

TEST(DreamActor, DreamsNoMoreThanATicketHolds) {
  SCOPED_TRACE(kSeed);
  const nn::WorldBundle bundle = long_dreams(100);
  const std::uint32_t fitting = replay::episodes_of_a_ticket({.horizon = 100, .state = 26, .rules = kRules});
  const Brought brought = dream_one_ticket(bundle, 4 * fitting, replay::kMaxTicketBytes);
  EXPECT_FALSE(brought.too_large);
  EXPECT_EQ(brought.episodes, fitting);
  EXPECT_LE(brought.bytes, replay::kMaxTicketBytes);
  EXPECT_GT(4 * brought.bytes, replay::kMaxTicketBytes) << "as many as were asked for would not have fitted";
}

TEST(DreamActor, DreamsAsManyAsWereAskedForWhereTheyFit) {
  SCOPED_TRACE(kSeed);
  EXPECT_EQ(dream_one_ticket(long_dreams(20), 64, replay::kMaxTicketBytes).episodes, 64u);
}

TEST(DreamActor, ADreamThatNoTicketHoldsIsAnErrorOfTheConfiguration) {
  TestRun run;
  wire::Hub& hub = run.start();
  hub.publish(1, nn::encode_bundle(long_dreams(1 << 20)));
  wire::Link link(run.actor("dreamer"), run.clock());
  DreamActor actor(link, {.dream = {}, .replicas = 4}, std::nullopt, run.clock());
  EXPECT_THROW(actor.run({}), UsageError);
}

TEST(DreamActor, ABundleThatMixesVersionsEndsItAndTheLearnerIsTold) {
  TestRun run;
  run.options().dispatch.max_parts = replay::kMaxDreamSegments;
  run.work_left = 1;
  wire::Hub& hub = run.start();
  nn::WorldBundle mixed = long_dreams(20);
  mixed.controller_of.low ^= 1;
  hub.publish(1, nn::encode_bundle(mixed));
  std::jthread acting([&] {
    wire::Link link(run.actor("dreamer"), run.clock());
    DreamActor actor(link, {.dream = {}, .replicas = 4}, std::nullopt, run.clock());
    EXPECT_THROW(actor.run({}), nn::NnError);
    EXPECT_EQ(actor.refused_bundles(), 1u);
  });
  const auto delivery = hub.take(kLong);
  ASSERT_TRUE(delivery);
  ASSERT_EQ(delivery->parts.size(), 1u);
  ASSERT_EQ(delivery->parts[0].frames.size(), 1u);
  EXPECT_TRUE(replay::is_refused_bundle(delivery->parts[0].frames[0].bytes()));
  EXPECT_EQ(delivery->parts[0].header.steps, 0u);
  hub.decide(delivery->ticket, wire::Verdict::kRejected);
  acting.join();
  EXPECT_EQ(run.ledger().ticket_counts().total().rejected, 1u);
}

}  // namespace
}
