#include "learner/job/job_curves.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/wire/counters.h"
#include "support/event_reader.h"
#include "support/manual_clock.h"

namespace regraft::learner {
namespace {

constexpr double kNsPerS = 1e9;

wire::ActorStatus actor(const std::string& name, std::uint64_t incarnation, std::uint64_t steps,
                        double cpu_s) {
  return {.info = {.name = name, .kind = "policy", .incarnation = incarnation, .pid = 100 + incarnation},
          .policy_steps = steps,
          .process_cpu_ns = static_cast<std::uint64_t>(cpu_s * kNsPerS)};
}

double own_cpu_s() {
  return static_cast<double>(wire::process_cpu_ns()) / kNsPerS;
}

class JobCurvesTest : public ::testing::Test {
 protected:
  void write(JobCurves& curves, std::vector<wire::ActorStatus> actors) {
    clock.advance_ns(2 * nanoseconds_per_second);
    wire::HubStatus status;
    status.actors = std::move(actors);
    status.waiting = 3;
    status.outstanding = 5;
    curves.write(events, ++step, status, {.bytes_in = 70, .bytes_out = 80}, {.issued = 9, .dropped = 2});
    events.flush();
  }
  double at(const std::string& tag) const {
    const auto all = read_scalars(dir.path());
    if (!all.contains(tag) || all.at(tag).back().step != step) return -1;
    return all.at(tag).back().value;
  }
  TempDir dir;
  ManualClock clock;
  EventWriter events{dir.path(), clock};
  std::int64_t step = 0;
};

TEST_F(JobCurvesTest, StepsASecondAreOfTheTimeSinceThePointBefore) {
  JobCurves curves(clock);
  write(curves, {actor("a", 1, 100, 1)});
  EXPECT_EQ(at("steps_per_s/a"), 50) << "it began after the job did";
  write(curves, {actor("a", 1, 130, 1), actor("b", 1, 8, 1)});
  EXPECT_EQ(at("steps_per_s/a"), 15);
  EXPECT_EQ(at("steps_per_s/b"), 4);
  write(curves, {actor("a", 2, 20, 1), actor("b", 1, 8, 1)});
  EXPECT_EQ(at("steps_per_s/a"), 10) << "a worker that was started again counts from 0";
  EXPECT_EQ(at("steps_per_s/b"), 0);
  EXPECT_EQ(at("actors/policy_steps/a"), 20);
  write(curves, {actor("b", 1, 10, 1)});
  EXPECT_EQ(at("steps_per_s/a"), -1) << "it is gone";
}

TEST_F(JobCurvesTest, WaitsAreAShareOfTheTimeSinceThePointBefore) {
  JobCurves curves(clock);
  const auto waiting = [](const std::string& name, double waited_s, double for_memory_s) {
    wire::ActorStatus status = actor(name, 1, 0, 0);
    status.waited_ns = static_cast<std::uint64_t>(waited_s * kNsPerS);
    status.waited_for_memory_ns = static_cast<std::uint64_t>(for_memory_s * kNsPerS);
    return status;
  };
  write(curves, {waiting("a", 1, 0), waiting("b", 0, 0)});
  EXPECT_EQ(at("actors/waiting_share"), 0.25) << "1 s of 2 x 2 s";
  EXPECT_EQ(at("actors/waiting_for_memory_share"), 0);
  write(curves, {waiting("a", 3, 1), waiting("b", 2, 2)});
  EXPECT_EQ(at("actors/waiting_share"), 1);
  EXPECT_EQ(at("actors/waiting_for_memory_share"), 0.75);
  EXPECT_EQ(curves.waiting_for_memory_share(), 0.75);
  write(curves, {waiting("a", 3, 1), waiting("b", 0, 0)});
  EXPECT_EQ(at("actors/waiting_share"), 0) << "one that joined again counts from 0";
  write(curves, {});
  EXPECT_EQ(at("actors/waiting_share"), 0);
}

TEST_F(JobCurvesTest, ShowsQueuesBytesAndTheLedger) {
  JobCurves curves(clock);
  write(curves, {});
  for (const auto& [tag, value] : std::map<std::string, double>{
           {"queue/deliveries", 3},
           {"queue/tickets", 5},
           {"wire/actors", 0},
           {"wire/bytes_in", 70},
           {"wire/bytes_out", 80},
           {"ledger/issued", 9},
           {"ledger/dropped", 2},
           {"ledger/lost", 0},
       })
    EXPECT_EQ(at(tag), value) << tag;
}

TEST_F(JobCurvesTest, WhatRelaysMoveIsAddedUp) {
  JobCurves curves(clock);
  const auto relay = [](const std::string& name, wire::RelayTraffic relayed) {
    wire::ActorStatus status = actor(name, 1, 0, 0);
    status.actors = relayed.connections;
    status.relayed = relayed;
    return status;
  };
  write(curves, {relay("relay-1", {3, 100, 2000}), relay("relay-2", {4, 10, 200}), actor("a", 1, 0, 0)});
  for (const auto& [tag, value] : std::map<std::string, double>{
           {"wire/actors", 8},
           {"wire/connections", 3},
           {"wire/relayed_connections", 7},
           {"wire/relayed_bytes_in", 110},
           {"wire/relayed_bytes_out", 2200},
       })
    EXPECT_EQ(at(tag), value) << tag;
}

// A learner that comes back meets workers that it knows, and new ones: nobody's time counts twice or not.
TEST_F(JobCurvesTest, CpuTimeIsOfAllWorkersAndGenerations) {
  constexpr double kRoom = 0.5;
  JobCurves first(clock);
  write(first, {actor("a", 1, 0, 100), actor("b", 1, 0, 10)});
  write(first, {actor("a", 2, 0, 30), actor("b", 1, 0, 20)});
  EXPECT_NEAR(first.cpu_seconds(), 150 + own_cpu_s(), kRoom);
  EXPECT_NEAR(at("train/cpu_seconds"), 150 + own_cpu_s(), kRoom);

  JobCurves second(clock);
  second.restore(first.save());
  const double learners = 2 * own_cpu_s();  // this process stands for both
  EXPECT_NEAR(second.cpu_seconds(), 150 + learners, kRoom);
  write(second, {actor("a", 2, 0, 31), actor("b", 2, 0, 5)});
  EXPECT_NEAR(second.cpu_seconds(), 156 + learners, kRoom);
  JobCurves third(clock);
  EXPECT_THROW(third.restore(nlohmann::json()), nlohmann::json::exception);
  nlohmann::json part = first.save();
  part.erase("earlier_ns");
  EXPECT_THROW(third.restore(part), nlohmann::json::exception);
}

TEST_F(JobCurvesTest, StalenessHasItsMeanAndItsMost) {
  step = 4;
  write_staleness(events, step, std::vector<double>{0, 1, 5});
  write_staleness(events, step, {});
  events.flush();
  EXPECT_EQ(at("staleness/mean"), 2);
  EXPECT_EQ(at("staleness/max"), 5);
}

}  // namespace
}
