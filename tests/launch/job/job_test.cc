#include <gmock/gmock.h>

#include <csignal>

#include "core/base/atomic_file.h"
#include "core/nn/inference/device.h"
#include "core/wire/keys.h"
#include "core/wire/run_info.h"
#include "launch/job/curves.h"
#include "launch/program.h"
#include "learner/job/checkpoint.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::json_of;
using ::testing::Not;
using testing::Running;
using testing::train;

constexpr char kStarted[] = "generation 1";

class JobTest : public ::testing::Test {
 protected:
  fs::path run() const { return dir.path() / "run"; }
  void expect_clean_ticket_counts(std::uint64_t updates) {
    const nlohmann::json summary = json_of(run() / "summary.json");
    EXPECT_TRUE(summary.at("ticket_counts_balance"));
    EXPECT_EQ(summary.at("trained_twice"), 0);
    EXPECT_GE(summary.at("updates").get<std::uint64_t>(), updates);
    EXPECT_GE(summary.at("played_steps"), summary.at("steps")) << "nothing is trained on that was not played";
    EXPECT_LT(summary.at("ratio_error_lag0_max").get<double>(), 1e-4);
    EXPECT_GT(summary.at("lag0_steps").get<std::uint64_t>(), 0u);
    EXPECT_TRUE(fs::exists(run() / "policies" / "latest.policy"));
  }
  /// Holds for a run in deterministic mode.
  static void expect_lag_0(const fs::path& folder) {
    const nlohmann::json summary = json_of(folder / "summary.json");
    EXPECT_EQ(summary.at("lag0_steps"), summary.at("steps"));
    EXPECT_LT(summary.at("ratio_error_lag0_max").get<double>(), 1e-5);
    EXPECT_THAT(read_file(folder / "learner.log"), Not(HasSubstr("lag 0 is")));
  }
  TempDir dir;
};

TEST_F(JobTest, ActorsKilledTwiceComeBackAndTheTicketCountsBalance) {
  Running job(train(run(), {"--set", "train.updates=150"}));
  ASSERT_TRUE(job.wait_for_line(kStarted)) << job.seen();
  for (const char* incarnation : {"incarnation 2", "incarnation 3"}) {
    const auto actors = job.workers("actor");
    ASSERT_FALSE(actors.empty());
    kill(actors.front(), SIGKILL);
    ASSERT_TRUE(job.wait_for_line("killed by signal 9")) << incarnation << "\n" << job.seen();
  }
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  expect_clean_ticket_counts(150);
}

TEST_F(JobTest, AKilledLearnerGoesOnFromItsCheckpoint) {
  Running job(train(run(), {"--set", "train.updates=150", "--set", "train.checkpoint_minutes=0.01"}));
  ASSERT_TRUE(job.wait_for_line(kStarted)) << job.seen();
  const auto learner = job.workers("learner");
  ASSERT_EQ(learner.size(), 1u);
  kill(learner.front(), SIGKILL);
  ASSERT_TRUE(job.wait_for_line("generation 2")) << job.seen();
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  expect_clean_ticket_counts(150);
}

TEST_F(JobTest, KeysThatAKilledSupervisorLeftAreRemovedByTheNext) {
  const fs::path temporary = dir.path() / "tmp";
  fs::create_directories(temporary);
  const auto left = [&] {
    std::size_t folders = 0;
    for (const auto& entry : fs::directory_iterator(temporary)) folders += entry.is_directory() ? 1 : 0;
    return folders;
  };
  const auto start = [&](std::vector<std::string> more) {
    return Running(train(run(), std::move(more)), {{"TMPDIR", temporary.string()}});
  };
  Running killed = start({"--set", "train.checkpoint_minutes=0.01"});
  ASSERT_TRUE(killed.wait_for_line("checkpoint ")) << killed.seen();
  killed.signal(SIGKILL);
  EXPECT_EQ(killed.finish().signal, SIGKILL);
  ASSERT_EQ(left(), 1u);
  Running next = start({"--resume", "--set", "train.updates=1"});
  EXPECT_EQ(next.finish().code, 0) << next.seen();
  EXPECT_EQ(left(), 0u);
}

TEST_F(JobTest, TerminationSavesAndAResumedRunGoesOn) {
  Running first(train(run(), {}));  // no limit: it ends by the signal
  ASSERT_TRUE(first.wait_for_line("training:")) << first.seen();
  first.signal(SIGTERM);
  EXPECT_EQ(first.finish().code, 0) << first.seen();
  expect_clean_ticket_counts(1);
  const std::uint64_t updates = json_of(run() / "summary.json").at("updates");
  const double seconds = json_of(run() / "summary.json").at("seconds");

  const std::string more = "train.updates=" + std::to_string(updates + 5);
  Running second(train(run(), {"--resume", "--set", more}));
  EXPECT_TRUE(second.wait_for_line("generation 2")) << second.seen();
  EXPECT_EQ(second.finish().code, 0) << second.seen();
  EXPECT_THAT(second.seen(), HasSubstr("at update " + std::to_string(updates)));
  expect_clean_ticket_counts(updates + 5);
  EXPECT_EQ(json_of(run() / "summary.json").at("updates"), updates + 5);
  EXPECT_GT(json_of(run() / "summary.json").at("seconds").get<double>(), seconds);
}

TEST_F(JobTest, AFixedOptionThatDiffersIsRefusedOnResume) {
  ASSERT_EQ(Running(train(run(), {"--set", "train.updates=1"})).finish().code, 0);
  Running again(train(run(), {"--resume", "--set", "network.preset=gpu"}));
  EXPECT_NE(again.finish().code, 0);
  EXPECT_THAT(again.seen(), HasSubstr("network.preset"));
  Running twice(train(run(), {}));
  EXPECT_NE(twice.finish().code, 0);
  EXPECT_THAT(twice.seen(), HasSubstr("--resume"));
}

TEST_F(JobTest, CheckpointsOfAnOlderSchemaAreRefusedOnceAndStayAsTheyAre) {
  ASSERT_EQ(Running(train(run(), {"--set", "train.updates=1"})).finish().code, 0);
  const fs::path folder = learner::RunFolder{run()}.checkpoints() / "checkpoint-1";
  nlohmann::json manifest = json_of(folder / "manifest.json");
  manifest["schema"] = learner::CheckpointStore::kSchema - 1;
  write_file_atomic(folder / "manifest.json", manifest.dump());
  Running again(train(run(), {"--resume", "--set", "train.updates=2"}));
  EXPECT_NE(again.finish().code, 0);
  EXPECT_THAT(again.seen(), AllOf(HasSubstr(folder.string() + ": is of schema "),
                                  HasSubstr("resume with the version of regraft that wrote it"),
                                  Not(HasSubstr("restarted as incarnation"))));
  EXPECT_EQ(json_of(folder / "manifest.json"), manifest);
}

TEST_F(JobTest, WhatIsNotDeterministicIsRefusedInDeterministicModeBeforeAnythingIsWritten) {
  for (const char* setting : {"train.threads=2", "train.device=cuda", "workload.reward=measured"}) {
    for (const char* phase : {"ppo", "world-model", "model-based"}) {
      Running job(train(run(), {"--set", "train.deterministic=true", "--set", "train.updates=1", "--set",
                                setting, "--set", std::string("train.phase=") + phase}));
      EXPECT_EQ(job.finish().code, 2) << setting << "\n" << job.seen();
      EXPECT_THAT(job.seen(), HasSubstr(std::string(setting).substr(0, std::string(setting).find('='))));
      EXPECT_FALSE(fs::exists(run()));
    }
  }
}

TEST_F(JobTest, NoPhaseRefusesCudaAndWithoutItSaysWhatIsMissing) {
  const bool has_gpu = nn::resolve_device("auto") == "cuda";
  for (const char* phase : {"ppo", "collect", "world-model", "model-based"}) {
    std::vector<std::string> settings;
    for (const std::string& setting :
         {std::string("train.phase=") + phase, std::string("train.device=cuda"),
          std::string("actors.count=1"), std::string("train.updates=1"),
          std::string("world.collect_steps=200"), std::string("world.encoder_updates=2"),
          std::string("world.dynamics_updates=2"), std::string("model_based.rounds=1")})
      settings.insert(settings.end(), {"--set", setting});
    Running job(train(dir.path() / phase, settings));
    const bool runs = has_gpu || std::string(phase) == "collect";  // which computes nothing
    EXPECT_EQ(job.finish().code == 0, runs) << phase << "\n" << job.seen();
    if (!runs) {
      EXPECT_THAT(job.seen(), HasSubstr("CUDA cannot be used")) << phase;
    }
  }
}

TEST_F(JobTest, FurtherModelsMayJoinARunThatIsResumedButNoneMayGoOrChange) {
  constexpr char kFirst[] = "synthetic:4:1:1:0", kSecond[] = "synthetic:5:1:1:1";
  const auto resumed = [&](const std::string& models, const char* updates) {
    Running job(train(run(), {"--resume", "--set", "workload.models=" + models, "--set",
                              std::string("train.updates=") + updates}));
    const int code = job.finish().code;
    if (code != 0) {
      EXPECT_THAT(job.seen(), HasSubstr("workload.models"));
    }
    return code;
  };
  ASSERT_EQ(Running(train(run(), {"--set", "train.updates=2"})).finish().code, 0);
  EXPECT_NE(resumed(std::string(kSecond) + "," + kFirst, "4"), 0);
  EXPECT_EQ(resumed(std::string(kFirst) + "," + kSecond, "6"), 0);
  expect_clean_ticket_counts(6);
  EXPECT_LT(json_of(run() / "summary.json").at("best_cost_ratio").at(kSecond).get<double>(), 1);
  EXPECT_NE(resumed(kFirst, "8"), 0);
}

TEST_F(JobTest, DeterministicModeGivesTheSameWeightsForAnyNumberOfActorsHoweverManyDie) {
  const auto start = [&](const fs::path& folder, const char* actors) {
    return Running(train(folder, {"--set", "train.updates=150", "--set", "train.checkpoint_minutes=0.01",
                                  "--set", "train.deterministic=true", "--set", "train.episodes_per_update=6",
                                  "--set", "ppo.imitation=0.5", "--set", actors}));
  };
  const auto weights = [&](const fs::path& folder) {
    expect_lag_0(folder);
    return read_file(folder / "checkpoints" / "checkpoint-150" / "ppo");
  };
  Running alone = start(dir.path() / "alone", "actors.count=1");
  ASSERT_EQ(alone.finish().code, 0) << alone.seen();
  const std::string expected = weights(dir.path() / "alone");

  Running many = start(run(), "actors.count=3");
  for (int killed = 1; killed <= 2; ++killed) {
    ASSERT_TRUE(many.wait_for_line("checkpoint ")) << "in mid-training\n" << many.seen();
    const auto actors = many.workers("actor");
    ASSERT_FALSE(actors.empty());
    kill(actors.front(), SIGKILL);
    ASSERT_TRUE(many.wait_for_line("killed by signal 9")) << many.seen();
  }
  ASSERT_EQ(many.finish().code, 0) << many.seen();
  expect_clean_ticket_counts(150);
  EXPECT_EQ(weights(run()) == expected, true);
  EXPECT_TRUE(fs::exists(run() / "checkpoints" / "checkpoint-150" / "best_episodes"));
}

TEST_F(JobTest, WithRulesAtAllSitesAndSelfImitationAResumedRunEndsInTheSameBits) {
  const auto start = [&](const fs::path& folder) {
    return Running(train(folder, {"--set", "train.updates=100", "--set", "train.checkpoint_minutes=0.01",
                                  "--set", "train.deterministic=true", "--set", "train.episodes_per_update=8",
                                  "--set", "workload.action_mode=all_sites", "--set", "workload.reward=best",
                                  "--set", "ppo.imitation=0.3", "--set", "train.trained_share=0.5"}));
  };
  const auto part = [&](const fs::path& folder, const char* name) {
    return read_file(folder / "checkpoints" / "checkpoint-100" / name);
  };
  Running straight = start(dir.path() / "straight");
  ASSERT_EQ(straight.finish().code, 0) << straight.seen();
  const nlohmann::json summary = json_of(dir.path() / "straight" / "summary.json");
  EXPECT_LT(summary.at("lag0_steps").get<double>(), 0.8 * summary.at("steps").get<double>())
      << "only a part is trained on";

  Running killed = start(run());
  ASSERT_TRUE(killed.wait_for_line("checkpoint ")) << killed.seen();
  const auto learner = killed.workers("learner");
  ASSERT_EQ(learner.size(), 1u);
  kill(learner.front(), SIGKILL);
  ASSERT_TRUE(killed.wait_for_line("generation 2")) << killed.seen();
  ASSERT_EQ(killed.finish().code, 0) << killed.seen();
  for (const char* name : {"ppo", "best_episodes"})
    EXPECT_TRUE(part(run(), name) == part(dir.path() / "straight", name)) << name;
}

TEST_F(JobTest, MpirunGivesRolesAndTheJobEnds) {
  if (std::system("command -v mpirun > /dev/null") != 0) GTEST_SKIP() << "mpirun is not installed";
  std::vector<std::string> argv{"mpirun", "-n", "3", "--oversubscribe", "--bind-to", "none"};
  for (const std::string& word : train(run(), {"--set", "train.updates=10"})) argv.push_back(word);
  Running job(argv, {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  expect_clean_ticket_counts(10);
}

TEST_F(JobTest, AnActorWithAWrongKeyOrRunIdIsToldSo) {
  Running job(train(run(), {}));
  ASSERT_TRUE(job.wait_for_line("training:")) << job.seen();
  wire::load_or_make_key_pair(dir.path() / "other.key");
  const auto join = [&](const fs::path& file) {
    return testing::run({"actor", "--join", file.string(), "--run", run().string(), "--key",
                         (dir.path() / "other.key").string(), "--name", "other"});
  };
  const Captured refused = join(run() / "run.json");
  EXPECT_NE(refused.status.code, 0);
  EXPECT_THAT(refused.errors, HasSubstr("key"));
  ASSERT_EQ(testing::run({"keys", "add", "other", "--run", run().string(), "--key",
                          (dir.path() / "other.key").string()})
                .status.code,
            0);
  wire::RunInfo info = wire::RunInfo::load(run() / "run.json");
  info.run_id = "0123456789abcdef";
  info.save(dir.path() / "wrong.json");
  const Captured wrong = join(dir.path() / "wrong.json");
  EXPECT_NE(wrong.status.code, 0);
  EXPECT_THAT(wrong.errors, HasSubstr("run"));
  job.signal(SIGTERM);
  EXPECT_EQ(job.finish().code, 0) << job.seen();
}

TEST_F(JobTest, CurvesShowTheJobWhileItRuns) {
  Running job(train(run(), {"--set", "train.updates=3"}));
  ASSERT_EQ(job.finish().code, 0) << job.seen();
  testing::expect_job_curves(run() / "events");
  const auto values = testing::newest(run() / "events");
  for (const char* tag : {"queue/intake_episodes", "queue/intake_steps", "queue/batch_episodes",
                          "staleness/mean", "staleness/max", "train/steps", "ppo/entropy"})
    EXPECT_TRUE(values.contains(tag)) << tag;
}

TEST_F(JobTest, APortInUseIsAClearError) {
  Running first(train(dir.path() / "first", {}));
  ASSERT_TRUE(first.wait_for_line("training:")) << first.seen();
  const wire::RunInfo info = wire::RunInfo::load(dir.path() / "first" / "run.json");
  Running second(train(run(), {"--set", "wire.port=" + std::to_string(wire::port_of(info.tcp))}));
  EXPECT_NE(second.finish().code, 0);
  EXPECT_THAT(second.seen(), HasSubstr("in use"));
  first.signal(SIGTERM);
  EXPECT_EQ(first.finish().code, 0) << first.seen();
}

}  // namespace
}
