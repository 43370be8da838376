#include "core/base/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace regraft {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

SpawnOptions shell(const std::string& script) {
  return {.argv = {"/bin/sh", "-c", script}};
}

TEST(Child, ReportsExitCodesAndSignals) {
  EXPECT_TRUE(Child(shell("exit 0")).wait().ok());
  const ExitStatus three = Child(shell("exit 3")).wait();
  EXPECT_EQ(three.code, 3);
  EXPECT_EQ(three.describe(), "exit code 3");
  const ExitStatus killed = Child(shell("kill -9 $$")).wait();
  EXPECT_EQ(killed.code, 137);
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.describe(), "killed by signal 9 (Killed)");
}

TEST(Child, AMissingProgramIsAnErrorAtOnce) {
  try {
    Child child({.argv = {"no-such-program-here"}});
    FAIL() << "started";
  } catch (const ProcessError& e) {
    EXPECT_THAT(e.what(), HasSubstr("no-such-program-here: cannot be started: No such file"));
  }
  EXPECT_THROW(Child(SpawnOptions{}), ProcessError);
  SpawnOptions elsewhere = shell("true");
  elsewhere.working_folder = "/no/such/folder";
  EXPECT_THROW(Child{elsewhere}, ProcessError);
}

TEST(Child, PassesArgumentsEnvironmentAndFolder) {
  const TempDir dir;
  SpawnOptions options{.argv = {"sh", "-c", "echo \"$1|$REGRAFT_TEST|$HOME\"; pwd -P", "sh", "a b"}};
  options.environment = {{"REGRAFT_TEST", "x=y"}};
  options.working_folder = dir.path();
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  const Captured captured = capture_output(options);
  EXPECT_EQ(captured.output,
            "a b|x=y|" + home + "\n" + std::filesystem::canonical(dir.path()).string() + "\n");
}

TEST(Child, WaitsWithALimitAndTerminates) {
  Child child(shell("exec sleep 100"));
  EXPECT_FALSE(child.poll());
  EXPECT_FALSE(child.wait_for(1ms));
  const ExitStatus status = child.terminate(10s);
  EXPECT_EQ(status.signal, SIGTERM);
  EXPECT_EQ(child.poll()->signal, SIGTERM);
  EXPECT_EQ(child.wait().signal, SIGTERM);
  child.signal(SIGKILL);  // it has ended: nothing happens
}

TEST(Child, TerminateKillsOneThatDoesNotListen) {
  SpawnOptions options = shell("trap '' TERM; echo ready; while :; do sleep 1; done");
  options.output = Redirect::pipe;
  Child child(options);
  char ready[6];
  ASSERT_EQ(::read(child.output().get(), ready, sizeof ready), 6);
  EXPECT_EQ(child.terminate(20ms).signal, SIGKILL);
}

TEST(Child, DestructorLeavesNoProcessBehind) {
  pid_t pid = 0;
  {
    const Child child(shell("exec sleep 100"));
    pid = child.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(Child, DiesWithItsParent) {
  // The middle process spawns a sleeper that holds the pipe, says its id, and is killed: the pipe's end comes
  // only when the sleeper is gone too.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t middle = ::fork();
  if (middle == 0) {
    const Child sleeper({.argv = {"sleep", "1000"}});
    const char byte = 'x';
    if (::write(ends[1], &byte, 1) != 1) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  ::close(ends[1]);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
}

TEST(CaptureOutput, CollectsBothStreamsWithoutDeadlock) {
  const Captured captured =
      capture_output(shell("i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; "
                           "echo abcdefghijabcdefghijabcdefghijabcdefghij >&2; i=$((i+1)); done; exit 4"));
  EXPECT_EQ(captured.status.code, 4);
  EXPECT_EQ(captured.output.size(), 3000u * 41);
  EXPECT_EQ(captured.errors.size(), 3000u * 41);
  EXPECT_FALSE(captured.timed_out);
}

TEST(CaptureOutput, KillsAtTheLimit) {
  const Captured captured = capture_output(shell("echo before; exec sleep 1000"), 200ms);
  EXPECT_TRUE(captured.timed_out);
  EXPECT_EQ(captured.output, "before\n");
  EXPECT_NE(captured.status.signal, 0);
}

TEST(CaptureOutput, TellsTheChildsCpuTime) {
  const Captured captured = capture_output(shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"));
  EXPECT_GT(captured.status.cpu_s, 0.001);
}

TEST(Copy, OfThisProcessMayFail) {
  EXPECT_TRUE(returns_in_a_copy([] {}, 60));
  EXPECT_FALSE(returns_in_a_copy([] { throw ProcessError("no", "", ""); }, 60));
  EXPECT_FALSE(returns_in_a_copy([] { std::abort(); }, 60));
  EXPECT_FALSE(returns_in_a_copy([] { std::raise(SIGFPE); }, 60));
  int changed = 0;
  EXPECT_TRUE(returns_in_a_copy([&] { changed = 1; }, 60));
  EXPECT_EQ(changed, 0);
}

TEST(Copy, EndsInTime) {
  EXPECT_FALSE(returns_in_a_copy([] { pause(); }, 1));
}

}  // namespace
}
