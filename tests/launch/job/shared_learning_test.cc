// Jobs whose updates several learners share.
#include <gmock/gmock.h>

#include <csignal>

#include "launch/program.h"

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

TEST_F(SharedLearningTest, APhaseThatHasOneLearnerSaysSo) {
  for (const char* phase : {"world-model", "collect", "model-based"}) {
    Running job(shared(run(), "2", {"--set", std::string("train.phase=") + phase}));
    EXPECT_EQ(job.finish().code, 2) << job.seen();
    EXPECT_THAT(job.seen(), HasSubstr(std::string("the phase ") + phase + " has one learner"));
    EXPECT_FALSE(fs::exists(run()));
  }
}

}  // namespace
}  // namespace regraft::launch
