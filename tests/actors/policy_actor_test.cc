#include "actors/policy_actor.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/env/environment.h"
#include "core/graph/op.h"
#include "core/nn/model/weights.h"
#include "core/wire/run_fixture.h"
#include "replay/rollout/segment_codec.h"

namespace regraft::actors {
namespace {

using wire::testing_support::kLong;
using wire::testing_support::TestRun;

constexpr std::uint64_t kSeed = 5301, kTickets = 24;
constexpr std::uint32_t kHorizon = 5, kSegmentSteps = 2;

task::WorkloadOptions truncated_episodes() {
  task::WorkloadOptions workload;
  workload.models = {"synthetic:6:2:1:0"};
  workload.environment.horizon = kHorizon;
  workload.environment.horizon_mode = env::HorizonMode::truncate;
  return workload;
}

/// The segments of each of so many tickets.
std::vector<std::vector<replay::Segment>> play(const task::WorkloadOptions& workload,
                                               std::chrono::milliseconds simulated_step = {}) {
  const nn::NetworkConfig network{.width = 16, .steps = 1, .node_kinds = graph::kOpKinds};
  TestRun run;
  run.work_left = kTickets;
  run.segment_length = kSegmentSteps;
  wire::Hub& hub = run.start();
  hub.publish(1, nn::encode_weights(nn::initial_weights(network, kSeed)));
  std::jthread acting([&](const std::stop_token& stopped) {
    wire::Link link(run.actor("player"), run.clock());
    PolicyActor(link, workload, network, run.clock(), simulated_step).run(stopped);
  });
  std::vector<std::vector<replay::Segment>> all;
  while (all.size() < kTickets) {
    const auto delivery = hub.take(kLong);
    if (!delivery) break;
    std::vector<replay::Segment>& segments = all.emplace_back();
    for (const wire::Part& part : delivery->parts) {
      std::vector<std::span<const std::byte>> frames;
      for (const wire::Frame& frame : part.frames) frames.push_back(frame.bytes());
      segments.push_back(replay::decode_segment(frames));
    }
    hub.decide(delivery->ticket, wire::Verdict::kAdmitted);
  }
  hub.stop();
  return all;
}

TEST(PolicyActor, SegmentsMakeUpTheEpisodeAndATruncatedOneTellsWhatFollows) {
  SCOPED_TRACE(kSeed);
  const task::WorkloadOptions workload = truncated_episodes();
  const auto task = task::load_task(workload, 0);
  const SystemClock clock;
  env::Environment environment = task::make_environment(*task, workload, clock);
  std::size_t ended = 0, cut = 0;
  for (const std::vector<replay::Segment>& segments : play(workload)) {
    environment.reset(segments.front().seed);
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const bool last = i + 1 == segments.size();
      for (const replay::Step& step : segments[i].steps) {
        ASSERT_FALSE(environment.done());
        EXPECT_EQ(step.observation, environment.observation());
        environment.step_candidate(step.candidate);
      }
      EXPECT_EQ(environment.done(), last);
      if (last) continue;
      EXPECT_EQ(segments[i].steps.size(), kSegmentSteps);
      EXPECT_EQ(segments[i].bootstrap_value, segments[i + 1].steps.front().value);
      EXPECT_FALSE(segments[i].next_observation);
      EXPECT_TRUE(goes_on(segments[i], segments[i + 1]));
    }
    const replay::Segment& end = segments.back();
    ++(end.steps.back().terminated ? ended : cut);
    ASSERT_EQ(end.next_observation.has_value(), !end.steps.back().terminated);
    if (end.next_observation) {
      EXPECT_EQ(*end.next_observation, environment.observation());
    }
  }
  EXPECT_EQ(ended + cut, kTickets);
  EXPECT_GT(ended, 0u);
  EXPECT_GT(cut, 0u);
}

TEST(PolicyActor, SimulatedStepsTakeTheirTimeAndAreThoseOfTheRealEnvironment) {
  SCOPED_TRACE(kSeed);
  constexpr std::chrono::milliseconds kStep{3};
  const auto real = play(truncated_episodes());
  const auto start = std::chrono::steady_clock::now();
  const auto simulated = play(truncated_episodes(), kStep);
  const auto taken = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(simulated.size(), real.size());
  std::size_t steps = 0;
  for (std::size_t i = 0; i < real.size(); ++i) {
    ASSERT_EQ(simulated[i].size(), real[i].size());
    for (std::size_t part = 0; part < real[i].size(); ++part) {
      const auto &of_real = real[i][part].steps, &of_simulated = simulated[i][part].steps;
      ASSERT_EQ(of_simulated.size(), of_real.size());
      steps += of_real.size();
      for (std::size_t step = 0; step < of_real.size(); ++step)
        EXPECT_EQ(of_simulated[step].observation, of_real[step].observation);
    }
  }
  EXPECT_GE(taken, static_cast<int>(steps) * kStep);
}

}  // namespace
}
