#include "actors/replayer.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/base/rng.h"
#include "core/wire/run_fixture.h"
#include "replay/rollout/random_observation.h"
#include "replay/rollout/segment_codec.h"

namespace regraft::actors {
namespace {

using wire::testing_support::kLong;
using wire::testing_support::TestRun;

constexpr std::uint64_t kSeed = 7304, kTickets = 40;

/// Two episodes, of one segment and of two.
std::vector<std::vector<replay::Segment>> recorded() {
  Rng rng(kSeed, "replayer");
  std::vector<std::vector<replay::Segment>> episodes(2);
  for (std::size_t segments = 1; segments <= episodes.size(); ++segments) {
    for (std::size_t i = 0; i < segments; ++i) {
      replay::Segment segment;
      segment.ticket = 99;
      replay::Step step;
      step.observation = replay::testing::observation_on({1, 4, 5}, 3, rng);
      step.log_probability = -0.5F;
      step.value = static_cast<float>(segments);
      segment.steps.assign(2, step);
      if (i + 1 == segments) segment.next_observation = step.observation;
      episodes[segments - 1].push_back(std::move(segment));
    }
  }
  return episodes;
}

TEST(Replayer, SendsWhatWasRecordedAsTheResultOfEachTicket) {
  SCOPED_TRACE(kSeed);
  const auto episodes = recorded();
  TestRun run(TestRun::Over::kTcp);
  run.work_left = kTickets;
  wire::Hub& hub = run.start();
  std::jthread acting([&](const std::stop_token& stopped) {
    wire::Link link(run.actor("replayer"), run.clock());
    Replayer(link, episodes).run(stopped);
  });
  std::vector<int> seen(episodes.size());
  for (std::uint64_t taken = 0; taken < kTickets; ++taken) {
    const auto delivery = hub.take(kLong);
    ASSERT_TRUE(delivery);
    const std::size_t chosen = delivery->ticket.seed % episodes.size();
    ++seen[chosen];
    ASSERT_EQ(delivery->parts.size(), episodes[chosen].size());
    for (std::size_t i = 0; i < delivery->parts.size(); ++i) {
      std::vector<std::span<const std::byte>> frames;
      for (const wire::Frame& frame : delivery->parts[i].frames) frames.push_back(frame.bytes());
      const replay::Segment segment = replay::decode_segment(frames), &original = episodes[chosen][i];
      EXPECT_EQ(segment.ticket, delivery->ticket.id);
      EXPECT_EQ(segment.generation, delivery->ticket.generation);
      EXPECT_EQ(segment.model, delivery->ticket.model);
      EXPECT_EQ(segment.seed, delivery->ticket.seed);
      EXPECT_EQ(segment.next_observation, original.next_observation);
      ASSERT_EQ(segment.steps.size(), original.steps.size());
      for (std::size_t step = 0; step < segment.steps.size(); ++step) {
        EXPECT_EQ(segment.steps[step].observation, original.steps[step].observation);
        EXPECT_EQ(segment.steps[step].value, original.steps[step].value);
      }
    }
    hub.decide(delivery->ticket, wire::Verdict::kAdmitted);
  }
  EXPECT_GT(seen[0], 0);
  EXPECT_GT(seen[1], 0);
  hub.stop();
}

}  // namespace
}
