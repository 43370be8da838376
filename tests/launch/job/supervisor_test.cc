#include "launch/job/supervisor.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>

#include "core/base/file.h"

namespace regraft::launch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A worker that is a shell script; $incarnation is what the supervisor passed, $dir a folder of the test.
class SupervisorTest : public ::testing::Test {
 protected:
  WorkerSpec script(const std::string& name, const std::string& text, bool leads = false) {
    const auto path = dir.path() / (name + ".sh");
    std::ofstream(path) << "incarnation=$2\ndir=" << dir.path().string() << "\n" << text << "\n";
    return {name, {"bash", path.string()}, leads};
  }
  int run(std::vector<WorkerSpec> workers) {
    Supervisor supervisor(std::move(workers), options, clock);
    return supervisor.run();
  }
  std::string seen(const std::string& name) { return read_file(dir.path() / name); }

  TempDir dir;
  SystemClock clock;
  std::string said;
  SupervisorOptions options{.report = [this](const std::string& line) { said += line + "\n"; }};
};

TEST_F(SupervisorTest, KilledWorkersComeBackWithTheNextIncarnation) {
  EXPECT_EQ(
      run({script("actor", "echo $incarnation >> $dir/log\n[ $incarnation -lt 3 ] && kill -9 $$\nexit 0")}),
      0);
  EXPECT_EQ(seen("log"), "1\n2\n3\n");
  EXPECT_THAT(said, HasSubstr("restarted as incarnation 3"));
}

TEST_F(SupervisorTest, AWorkerThatKeepsFailingIsGivenUpWithItsCode) {
  options.quick_deaths_allowed = 3;
  EXPECT_EQ(run({script("actor", "echo x >> $dir/log\nexit 7")}), 7);
  EXPECT_EQ(seen("log"), "x\nx\nx\n");
  EXPECT_THAT(said, HasSubstr("actor: exit code 7; given up"));
}

TEST_F(SupervisorTest, AUsageErrorIsNotRepeated) {
  EXPECT_EQ(run({script("actor", "echo x >> $dir/log\nexit 2")}), 2);
  EXPECT_EQ(seen("log"), "x\n");
}

TEST_F(SupervisorTest, AStopThatCameBeforeItBeganIsObeyed) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  Supervisor::block_signals();
  raise(SIGTERM);
  Supervisor supervisor({script("learner", "echo x >> $dir/log", true)}, options, clock);
  EXPECT_EQ(supervisor.run(), 0);
  EXPECT_TRUE(supervisor.asked_to_stop());
  EXPECT_FALSE(std::filesystem::exists(dir.path() / "log"));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST_F(SupervisorTest, AWorkerMayBeStartedWithoutANumber) {
  WorkerSpec plain = script("plain", "echo $# > $dir/log");
  plain.numbered = false;
  EXPECT_EQ(run({plain}), 0);
  EXPECT_EQ(seen("log"), "0\n");
}

TEST_F(SupervisorTest, ThreadsOfWorkersWaitWithoutSpinningUnlessTheUserSaysOtherwise) {
  const WorkerSpec worker = script("learner", "echo $OMP_WAIT_POLICY >> $dir/log");
  EXPECT_EQ(run({worker}), 0);
  ::setenv("OMP_WAIT_POLICY", "active", 1);
  EXPECT_EQ(run({worker}), 0);
  ::unsetenv("OMP_WAIT_POLICY");
  EXPECT_EQ(seen("log"), "passive\nactive\n");
}

TEST_F(SupervisorTest, TheJobEndsWhenTheLeaderIsDone) {
  // The follower would wait for ever: it is only ended by the supervisor after the grace period.
  options.grace = std::chrono::milliseconds(200);
  EXPECT_EQ(run({script("learner", "exit 0", true),
                 script("actor", "mkfifo $dir/never_written\nread < $dir/never_written")}),
            0);
}

TEST_F(SupervisorTest, TerminationIsPassedOnAndIsNoFailure) {
  // The worker tells its supervisor to stop once its trap is set; it then saves and ends.
  const pid_t me = getpid();
  EXPECT_EQ(run({script("learner",
                        "trap 'echo saved >> $dir/log; exit 0' TERM\nkill -TERM " + std::to_string(me) +
                            "\nmkfifo $dir/never_written\nread < $dir/never_written",
                        true)}),
            0);
  EXPECT_EQ(seen("log"), "saved\n");
  EXPECT_THAT(said, Not(HasSubstr("restarted")));
}

TEST_F(SupervisorTest, ContinueAsksForASaveWithoutStopping) {
  const pid_t me = getpid();
  EXPECT_EQ(run({script("learner",
                        "trap 'echo saved >> $dir/log; exit 0' USR1\nkill -CONT " + std::to_string(me) +
                            "\nmkfifo $dir/never_written\nread < $dir/never_written",
                        true)}),
            0);
  EXPECT_EQ(seen("log"), "saved\n");
}

}  // namespace
}
