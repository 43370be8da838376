// launch/slurm.sh: Slurm's warning before the time limit stops a job cleanly, and the same job queued again
// goes on.
#include <gmock/gmock.h>

#include <csignal>
#include <cstdlib>

#include "core/base/atomic_file.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::json_of;
using testing::Running;

class SlurmTest : public ::testing::Test {
 protected:
  SlurmTest() {
    fs::create_directories(bin());
    // As mpirun and srun: their own options, then the program, to which they hand signals on.
    fake("mpirun",
         "printf '%s\\n' \"$*\" >> \"${0%/*}/mpirun.calls\"\n"
         "while [[ $1 == -* ]]; do [[ $1 == --mca ]] && shift; shift 2; done\n"
         "exec \"$@\"\n");
    fake("scontrol", "printf '%s\\n' \"$*\" >> \"${0%/*}/scontrol.calls\"\n");
  }
  fs::path bin() const { return dir.path() / "bin"; }
  fs::path run() const { return dir.path() / "run"; }
  void fake(const std::string& name, const std::string& body) const {
    write_file_atomic(bin() / name, std::string_view("#!/usr/bin/env bash\n" + body));
    fs::permissions(bin() / name, fs::perms::owner_all);
  }
  std::string calls(const std::string& name) const {
    const fs::path file = bin() / (name + ".calls");
    return fs::exists(file) ? read_file(file) : "";
  }
  std::pair<std::string, std::string> path() const {
    return {"PATH", bin().string() + ":" + std::getenv("PATH")};
  }
  /// As Slurm starts it: job 7 on one node.
  Running submit(std::vector<std::string> more,
                 std::vector<std::pair<std::string, std::string>> environment = {}) const {
    const std::vector<std::string> train = testing::train(run(), std::move(more));
    std::vector<std::string> argv{"bash", REGRAFT_SOURCE_DIR "/launch/slurm.sh", run().string()};
    argv.insert(argv.end(), train.begin() + 4, train.end());  // program, train, --run and its folder
    environment.insert(environment.begin(), {path(), {"REGRAFT", testing::program()}, {"SLURM_JOB_ID", "7"}});
    return Running(argv, std::move(environment));
  }
  std::uint64_t updates() const { return json_of(run() / "summary.json").at("updates"); }
  void expect_clean_stop(Running& job, int signal = SIGUSR1) {
    ASSERT_TRUE(job.wait_for_line("training:")) << job.seen();
    job.signal(signal);
    EXPECT_EQ(job.finish().code, 0) << job.seen();
    EXPECT_THAT(job.seen(), HasSubstr("saving and stopping"));
    EXPECT_TRUE(json_of(run() / "summary.json").at("ticket_counts_balance"));
    EXPECT_GE(updates(), 1u);
  }
  TempDir dir;
};

TEST_F(SlurmTest, TheWarningBeforeTheLimitSavesAndQueuesTheJobAgainWhichGoesOn) {
  Running first = submit({});  // no limit: it ends by the signal
  expect_clean_stop(first);
  EXPECT_EQ(calls("scontrol"), "requeue 7\n");
  EXPECT_THAT(calls("mpirun"), ::testing::Not(HasSubstr("--resume")));
  const std::uint64_t before = updates();

  Running second = submit({"--set", "train.updates=" + std::to_string(before + 3)});
  EXPECT_TRUE(second.wait_for_line("generation 2")) << second.seen();
  EXPECT_EQ(second.finish().code, 0) << second.seen();
  EXPECT_THAT(second.seen(), HasSubstr("at update " + std::to_string(before)));
  EXPECT_THAT(calls("mpirun"), HasSubstr("--resume"));
  EXPECT_EQ(updates(), before + 3);
  EXPECT_EQ(calls("scontrol"), "requeue 7\n") << "what came to its end is not queued again";
}

TEST_F(SlurmTest, ACancelledJobSavesAndIsNotQueuedAgain) {
  Running job = submit({});
  expect_clean_stop(job, SIGTERM);
  EXPECT_EQ(calls("scontrol"), "");
}

TEST_F(SlurmTest, MpirunHandsTheWarningToEveryRank) {
  if (std::system("command -v mpirun > /dev/null") != 0) GTEST_SKIP() << "mpirun is not installed";
  fs::remove(bin() / "mpirun");
  Running job = submit({}, {{"REGRAFT_LAUNCHER",
                             "mpirun -n 3 --oversubscribe --bind-to none --mca odls_base_sigkill_timeout 30"},
                            {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                            {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
  expect_clean_stop(job);
}

TEST_F(SlurmTest, AFailureIsItsOwnAndQueuesNothing) {
  Running wrong = submit({"--set", "ppo.learning_rate=-1"});
  EXPECT_EQ(wrong.finish().code, 2) << wrong.seen();
  EXPECT_EQ(calls("scontrol"), "");
  Running nowhere = submit({}, {{"REGRAFT", "/nonexistent/regraft"}});
  EXPECT_EQ(nowhere.finish().code, 2);
  EXPECT_THAT(nowhere.seen(), HasSubstr("/nonexistent/regraft"));
}

TEST_F(SlurmTest, WithoutABuildItRunsTheProgramInPath) {
  fake("regraft", "printf '%s\\n' \"$*\" >> \"${0%/*}/regraft.calls\"\n");
  const std::string script = "cd / && bash " REGRAFT_SOURCE_DIR "/launch/slurm.sh " + run().string();
  Running job({"bash", "-c", script}, {path(), {"REGRAFT", ""}});
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  EXPECT_EQ(calls("regraft"), "train --run " + run().string() + "\n");
}

TEST_F(SlurmTest, ActorsOnOtherNodesReachTheLearner) {
  Running job = submit({"--set", "train.updates=1"}, {{"SLURM_JOB_NUM_NODES", "2"}});
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  EXPECT_THAT(calls("mpirun"), HasSubstr("--set wire.address=0.0.0.0"));
  fs::remove(bin() / "mpirun.calls");
  Running own =
      submit({"--set", "train.updates=2", "--set", "wire.address=127.0.0.1"}, {{"SLURM_JOB_NUM_NODES", "2"}});
  EXPECT_EQ(own.finish().code, 0) << own.seen();
  EXPECT_THAT(calls("mpirun"), ::testing::ContainsRegex("0\\.0\\.0\\.0.*wire\\.address=127\\.0\\.0\\.1"));
}

}  // namespace
}
