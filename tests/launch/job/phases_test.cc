#include "launch/job/phases.h"

#include <gmock/gmock.h>

#include <set>

#include "core/base/atomic_file.h"
#include "core/base/named_by_config.h"
#include "core/wire/keys.h"
#include "launch/job/job_config.h"
#include "launch/job/phase_names.h"
#include "launch/job/prepared_run.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::phase_names;

TEST(JobPhases, AreTheValuesOfTrainPhase) {
  const std::vector<std::string> names = phase_names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_GE(names.size(), 7u);
  const std::string help = phase_option().help();
  for (const std::string& name : names) {
    const JobPhase& phase = job_phase(name);
    const Config config = load_job_config({}, {"train.phase=" + std::string(phase.name)});
    EXPECT_EQ(&job_phase(config), &phase);
    EXPECT_THAT(help, HasSubstr(std::string(phase.name) + ": " + std::string(phase.help)));
  }
  EXPECT_EQ(job_phase(load_job_config({}, {})).name, "ppo");
}

TEST(JobPhases, AnUnknownOneIsAnErrorThatListsTheKnownOnes) {
  try {
    job_phase("pop");
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    for (const std::string& name : phase_names()) EXPECT_THAT(error.remedy(), HasSubstr(name));
  }
  EXPECT_THROW(load_job_config({}, {"train.phase=pop"}), ConfigError);
}

TEST(JobPhases, WhatHasALearnerHasActorsAndTheOtherWayRound) {
  for (const std::string& name : phase_names()) {
    const JobPhase& phase = job_phase(name);
    EXPECT_NE(phase.check, nullptr) << phase.name;
    EXPECT_EQ(phase.make == nullptr, phase.act == nullptr) << phase.name;
    EXPECT_EQ(phase.act == nullptr, phase.actor_kind.empty()) << phase.name;
    EXPECT_TRUE(phase.dreaming_kind.empty() || phase.dreaming_kind != phase.actor_kind) << phase.name;
  }
}

TEST(JobPhases, EachIsCheckedBeforeAnythingIsWritten) {
  const TempDir dir;
  const learner::RunFolder folder{dir.path() / "run"};
  const std::string damaged = dir.path() / "damaged.onnx";
  write_file_atomic(damaged, std::string_view("no model"));
  for (const std::string& name : phase_names()) {
    const JobPhase& phase = job_phase(name);
    const ActorCount actors{phase.dreaming_kind.empty() ? 0 : 1, phase.name == "dream" ? 0 : 1};
    const auto with = [&](const std::string& setting) {
      return load_job_config({}, {"train.phase=" + std::string(phase.name), "train.updates=1",
                                  "workload.models=synthetic:4:1:1:0", setting});
    };
    EXPECT_NO_THROW(check_job(folder, with("train.seed=1"), actors)) << phase.name;
    EXPECT_THROW(check_job(folder, with("workload.models=/no/such.onnx"), actors), UsageError) << phase.name;
    EXPECT_THROW(check_job(folder, with("workload.models=" + damaged), actors), UsageError) << phase.name;
    EXPECT_THROW(check_job(folder, with("workload.models=synthetic:4"), actors), Error) << phase.name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.root));
}

TEST(JobPhases, AnActorOfAnotherKindIsRefused) {
  const TempDir dir;
  const std::string key = (dir.path() / "a.key").string();
  wire::load_or_make_key_pair(key);
  const auto said = [&](const std::string& phase, const std::string& kind) {
    const learner::RunFolder folder{dir.path() / phase};
    make_run(folder, load_job_config({}, {"train.phase=" + phase}));
    const Captured actor = testing::run({"actor", "--join", folder.run_file().string(), "--run",
                                         folder.root.string(), "--key", key, "--name", "a", "--kind", kind});
    EXPECT_EQ(actor.status.code, 2) << actor.errors;
    return actor.errors;
  };
  EXPECT_THAT(said("ppo", "dream"),
              AllOf(HasSubstr("no actors of the kind dream"), HasSubstr("leave it out")));
  EXPECT_THAT(said("dyna", "policy"), HasSubstr("use dream or controller"));
  EXPECT_THAT(said("model-based", "policy"), HasSubstr("no actors of its own"));
}

}  // namespace
}
