// Jobs whose updates several learners share.
#include <gmock/gmock.h>

#include <csignal>

#include "launch/program.h"
#include "launch/small_model_based.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::json_of;
using testing::Running;
using testing::train;

class SharedLearningTest : public ::testing::Test {
 protected:
  fs::path run() const { return dir.path() / "run"; }
  static std::vector<std::string> shared(const fs::path& folder, const std::string& learners,
                                         std::vector<std::string> more = {}) {
    std::vector<std::string> argv = train(
        folder, {"--set", "train.learners=" + learners, "--set", "train.updates=60", "--set",
                 "train.checkpoint_minutes=0.01", "--set", "train.deterministic=true", "--set",
                 "train.episodes_per_update=6", "--set", "ppo.imitation=0.5", "--set", "actors.count=1"});
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
  }
  static std::string learnt(const fs::path& folder) {
    const nlohmann::json summary = json_of(folder / "summary.json");
    EXPECT_TRUE(summary.at("ticket_counts_balance"));
    EXPECT_EQ(summary.at("trained_twice"), 0);
    EXPECT_EQ(summary.at("updates"), 60);
    return read_file(folder / "checkpoints" / "checkpoint-60" / "ppo");
  }
  TempDir dir;
};

TEST_F(SharedLearningTest, AKilledLearnerEndsTheGenerationAndAllGoOnToTheSameBits) {
  Running whole(shared(dir.path() / "whole", "2"));
  ASSERT_EQ(whole.finish().code, 0) << whole.seen();

  Running job(shared(run(), "2"));
  ASSERT_TRUE(job.wait_for_line("checkpoint ")) << job.seen();
  std::vector<pid_t> peers = job.workers("--rank");
  ASSERT_EQ(peers.size(), 1u) << job.seen();
  EXPECT_EQ(job.workers("learner").size(), 2u);
  kill(peers.front(), SIGKILL);
  ASSERT_TRUE(job.wait_for_line("learner 1 has gone")) << job.seen();
  ASSERT_TRUE(job.wait_for_line("generation 2")) << job.seen();
  ASSERT_TRUE(job.wait_for_line("checkpoint ")) << job.seen();
  std::vector<pid_t> first = job.workers("learner");
  peers = job.workers("--rank");
  ASSERT_EQ(peers.size(), 1u) << job.seen();
  std::erase(first, peers.front());
  ASSERT_EQ(first.size(), 1u) << job.seen();
  kill(first.front(), SIGKILL);
  ASSERT_TRUE(job.wait_for_line("generation 3")) << job.seen();
  ASSERT_EQ(job.finish().code, 0) << job.seen();
  EXPECT_TRUE(learnt(run()) == learnt(dir.path() / "whole"));
}

TEST_F(SharedLearningTest, IsStoppedAndResumedAsAnyJob) {
  Running job(shared(run(), "3", {"--set", "train.updates=100000"}));
  ASSERT_TRUE(job.wait_for_line("checkpoint ")) << job.seen();
  job.signal(SIGTERM);
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  const std::uint64_t updates = json_of(run() / "summary.json").at("updates");
  const std::string more = "train.updates=" + std::to_string(updates + 3);
  Running alone(train(run(), {"--resume", "--set", more, "--set", "train.learners=1"}));  // not fixed
  EXPECT_EQ(alone.finish().code, 0) << alone.seen();
  EXPECT_EQ(json_of(run() / "summary.json").at("updates"), updates + 3);
}

TEST_F(SharedLearningTest, UnderMpirunTheFirstRanksLearn) {
  if (std::system("command -v mpirun > /dev/null") != 0) GTEST_SKIP() << "mpirun is not installed";
  std::vector<std::string> argv{"mpirun", "-n", "4", "--oversubscribe", "--bind-to", "none"};
  for (const std::string& word : shared(run(), "2")) argv.push_back(word);
  Running job(argv, {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  EXPECT_FALSE(learnt(run()).empty());
  argv[2] = "2";
  for (std::string& word : argv)
    if (word == run().string()) word = (dir.path() / "other").string();
  Running without_actors(argv, {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
  EXPECT_NE(without_actors.finish().code, 0);
  EXPECT_THAT(without_actors.seen(), HasSubstr("a job without actors learns nothing"));
}

// One is killed in the fit, and one in the dream.
TEST_F(SharedLearningTest, AModelBasedJobSharesItsFitsAndDreams) {
  const auto start = [](const fs::path& folder) {
    std::vector<std::string> more;
    for (const char* setting :
         {"train.learners=2", "train.deterministic=true", "train.updates=150",
          "train.checkpoint_minutes=0.01", "model_based.rounds=1", "world.dynamics_updates=100",
          "world.reward_hidden=8", "world.reward_updates=10"})
      more.insert(more.end(), {"--set", setting});
    return Running(train(folder, testing::small_model_based(std::move(more))));
  };
  const auto kill_one = [](Running& job) {
    const std::vector<pid_t> peers = job.workers("--rank");
    ASSERT_EQ(peers.size(), 1u) << job.seen();
    kill(peers.front(), SIGKILL);
    ASSERT_TRUE(job.wait_for_line("learner 1 has gone")) << job.seen();
    ASSERT_TRUE(job.wait_for_line("generation 2")) << job.seen();
  };
  const fs::path whole = dir.path() / "whole";
  Running uninterrupted = start(whole);
  ASSERT_EQ(uninterrupted.finish().code, 0) << uninterrupted.seen();

  Running job = start(run());
  ASSERT_TRUE(job.wait_for_line("fitting from update 0 on")) << job.seen();
  ASSERT_NO_FATAL_FAILURE(kill_one(job));
  ASSERT_TRUE(job.wait_for_line("round-1/dream")) << job.seen();
  ASSERT_TRUE(job.wait_for_line("checkpoint ")) << job.seen();
  ASSERT_NO_FATAL_FAILURE(kill_one(job));
  ASSERT_EQ(job.finish().code, 0) << job.seen();
  for (const char* file : {"round-1/fit/world/model.world", "round-1/dream/policies/latest.world"})
    EXPECT_EQ(read_file(run() / file) == read_file(whole / file), true) << file;
}

TEST_F(SharedLearningTest, WhatHasOneLearnerSaysSo) {
  const auto refused = [&](std::vector<std::string> more, const std::string& why) {
    Running job(shared(run(), "2", std::move(more)));
    EXPECT_EQ(job.finish().code, 2) << job.seen();
    EXPECT_THAT(job.seen(), HasSubstr(why));
    EXPECT_FALSE(fs::exists(run()));
  };
  for (const std::string phase : {"collect", "load-test"})
    refused({"--set", "train.phase=" + phase}, "the phase " + phase + " has one learner");
  refused({"--set", "train.phase=dream", "--set", "dream.controller=linear", "--set", "actors.dream=1",
           "--set", "actors.count=0"},
          "an evolution has no gradients to share");
}

}  // namespace
}
