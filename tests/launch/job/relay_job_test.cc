// Jobs whose actors share a relay.
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

class RelayJobTest : public ::testing::Test {
 protected:
  fs::path run() const { return dir.path() / "run"; }
  static std::vector<std::string> job(const fs::path& folder, const std::string& relay,
                                      std::vector<std::string> more = {}) {
    std::vector<std::string> argv =
        train(folder, {"--set", "wire.relay=" + relay, "--set", "train.updates=150", "--set",
                       "train.checkpoint_minutes=0.01", "--set", "actors.count=2"});
    argv.insert(argv.end(), more.begin(), more.end());
    return argv;
  }
  static void expect_balance(const fs::path& folder) {
    const nlohmann::json summary = json_of(folder / "summary.json");
    EXPECT_TRUE(summary.at("ticket_counts_balance"));
    EXPECT_EQ(summary.at("trained_twice"), 0);
    EXPECT_EQ(summary.at("updates"), 150);
    EXPECT_GE(summary.at("played_steps"), summary.at("steps"));
  }
  TempDir dir;
};

TEST_F(RelayJobTest, DeterministicModeGivesTheSameWeightsThroughARelayThatIsKilled) {
  const std::vector<std::string> deterministic{"--set", "train.deterministic=true", "--set",
                                               "train.episodes_per_update=6"};
  Running direct(job(dir.path() / "direct", "off", deterministic));
  ASSERT_EQ(direct.finish().code, 0) << direct.seen();

  Running relayed(job(run(), "all", deterministic));
  ASSERT_TRUE(relayed.wait_for_line("checkpoint ")) << relayed.seen();
  const std::vector<pid_t> relay = relayed.workers("relay");
  ASSERT_EQ(relay.size(), 1u) << relayed.seen();
  EXPECT_TRUE(fs::exists(run() / "relays" / "relay-0.json"));
  kill(relay.front(), SIGKILL);
  ASSERT_TRUE(relayed.wait_for_line("restarted as incarnation 2")) << relayed.seen();
  ASSERT_EQ(relayed.finish().code, 0) << relayed.seen();
  EXPECT_THAT(relayed.seen(), HasSubstr("relay-0: killed by signal 9"));
  for (const fs::path& folder : {dir.path() / "direct", run()}) expect_balance(folder);
  const auto weights = [](const fs::path& folder) {
    return read_file(folder / "checkpoints" / "checkpoint-150" / "ppo");
  };
  EXPECT_TRUE(weights(run()) == weights(dir.path() / "direct"));
}

TEST_F(RelayJobTest, ALearnerAndAnActorThatAreKilledComeBackBehindIt) {
  Running relayed(job(run(), "all"));
  for (const char* worker : {"learner", "actor"}) {
    ASSERT_TRUE(relayed.wait_for_line("checkpoint ")) << relayed.seen();
    const std::vector<pid_t> found = relayed.workers(worker);
    ASSERT_FALSE(found.empty()) << relayed.seen();
    kill(found.front(), SIGKILL);
    ASSERT_TRUE(relayed.wait_for_line("restarted as incarnation 2")) << relayed.seen();
  }
  ASSERT_EQ(relayed.finish().code, 0) << relayed.seen();
  expect_balance(run());
}

TEST_F(RelayJobTest, UnderMpirunTheFirstRankOfAHostHasIt) {
  if (std::system("command -v mpirun > /dev/null") != 0) GTEST_SKIP() << "mpirun is not installed";
  std::vector<std::string> argv{"mpirun", "-n", "3", "--oversubscribe", "--bind-to", "none"};
  for (const std::string& word : job(run(), "all")) argv.push_back(word);
  Running relayed(argv, {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
  EXPECT_EQ(relayed.finish().code, 0) << relayed.seen();
  expect_balance(run());
  EXPECT_EQ(json_of(run() / "relays" / "plan"), nlohmann::json({{"1", "relay-1"}, {"2", "relay-1"}}));
}

}  // namespace
}
