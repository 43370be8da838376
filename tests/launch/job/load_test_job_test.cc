#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::json_of;
using testing::train;

class LoadTestJobTest : public ::testing::Test {
 protected:
  fs::path folder(const std::string& name) const { return dir_.path() / name; }
  std::vector<std::string> job(const std::string& name, const std::vector<std::string>& settings) const {
    std::vector<std::string> arguments{"--set", "train.phase=load-test", "--set", "load_test.seconds=5"};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    std::vector<std::string> whole = train(folder(name), arguments);
    whole.erase(whole.begin());
    return whole;
  }
  nlohmann::json summary_of(const std::string& name, const std::vector<std::string>& settings) {
    const Captured ran = testing::run(job(name, settings));
    EXPECT_EQ(ran.status.code, 0) << ran.errors;
    said_ = ran.output;
    return json_of(folder(name) / "summary.json");
  }

  TempDir dir_;
  std::string said_;
};

TEST_F(LoadTestJobTest, EpisodesThatWereRecordedAreReplayedOverManyConnections) {
  const nlohmann::json played = summary_of("played", {"actors.count=2", "load_test.record=8"});
  EXPECT_EQ(played.at("connections"), 2);
  EXPECT_EQ(played.at("actor_processes"), 2);
  EXPECT_DOUBLE_EQ(played.at("efficiency"), 1);
  EXPECT_GT(played.at("actor_cpu_us_per_step"), 0);
  EXPECT_TRUE(played.at("ticket_counts_balance"));
  const std::string recorded = (folder("played") / "recorded.episodes").string();
  const nlohmann::json replayed = summary_of(
      "replayed", {"actors.count=1", "load_test.replay=" + recorded, "load_test.connections=3",
                   "wire.ipc=false", "load_test.baseline=" + (folder("played") / "summary.json").string()});
  EXPECT_EQ(replayed.at("connections"), 3);
  EXPECT_EQ(replayed.at("actor_processes"), 1);
  EXPECT_EQ(replayed.at("replayed"), recorded);
  EXPECT_GT(replayed.at("steps_per_s"), 0);
  EXPECT_TRUE(replayed.at("ticket_counts_balance"));
  EXPECT_THAT(said_, HasSubstr("replayed from"));
}

TEST_F(LoadTestJobTest, SimulatedEnvironmentsTakeTheirTimeAndSaySo) {
  const nlohmann::json found = summary_of("simulated", {"actors.count=2", "actors.simulated_step_ms=10"});
  EXPECT_LE(found.at("steps_per_s"), 200);
  EXPECT_EQ(found.at("simulated_step_ms"), 10);
  EXPECT_THAT(said_, HasSubstr("SIMULATED"));
  EXPECT_THAT(read_file(folder("simulated") / "learner.log"), HasSubstr("actors.simulated_step_ms"));
}

TEST_F(LoadTestJobTest, WhatCannotBeMeasuredIsRefusedBeforeAnythingIsWritten) {
  const std::string text = folder("text").string();
  write_file_atomic(text, "{}");
  for (const auto& [setting, said] : std::map<std::string, std::string>{
           {"load_test.replay=" + text, "holds no recorded episodes"},
           {"load_test.replay=/no/such", "/no/such"},
           {"load_test.baseline=" + text, "no summary of a load test"},
           {"load_test.seconds=1", "load_test.seconds"},
           {"actors.simulated_step_ms=-1", "actors.simulated_step_ms"},
           {"actors.simulated_step_ms=fast", "actors.simulated_step_ms"},
           {"train.deterministic=true", "train.deterministic"},
       }) {
    const Captured ran = testing::run(job("refused", {setting}));
    EXPECT_NE(ran.status.code, 0) << setting;
    EXPECT_THAT(ran.errors, HasSubstr(said)) << setting;
    EXPECT_FALSE(fs::exists(folder("refused")));
  }
}

TEST_F(LoadTestJobTest, FailsWhereItsLimitComesFirst) {
  const Captured ran = testing::run(job("short", {"train.minutes=0.01"}));
  EXPECT_NE(ran.status.code, 0);
  EXPECT_THAT(ran.output, HasSubstr("nothing was measured"));
  EXPECT_FALSE(json_of(folder("short") / "summary.json").at("measured"));
}

}  // namespace
}
