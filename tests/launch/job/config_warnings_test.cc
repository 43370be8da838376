#include "launch/job/config_warnings.h"

#include <gmock/gmock.h>

#include "core/base/file.h"
#include "launch/job/job_config.h"
#include "launch/job/phase_names.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Running;
using testing::train;

ConfigWarnings notes(const std::vector<std::string>& settings) {
  return config_warnings(load_job_config(std::nullopt, settings));
}

TEST(ConfigWarnings, NothingIsSaidOfTheDefaults) {
  EXPECT_THAT(notes({}).warnings, IsEmpty());
  EXPECT_THAT(notes({}).remarks, IsEmpty());
}

TEST(ConfigWarnings, ADetailedRewardOfLatencyAloneIsWarnedOf) {
  EXPECT_THAT(notes({"workload.reward=detailed"}).warnings,
              ElementsAre(HasSubstr("workload.reward_weight_flops")));
  EXPECT_THAT(notes({"workload.reward=detailed", "workload.reward_weight_latency=3"}).warnings,
              ElementsAre(HasSubstr("incremental")));
  for (const char* weight : {"workload.reward_weight_flops=0.1", "workload.reward_weight_memory=0.1",
                             "workload.reward_weight_launches=0.1"})
    EXPECT_THAT(notes({"workload.reward=detailed", weight}).warnings, IsEmpty()) << weight;
}

TEST(ConfigWarnings, ImitationOutsideOfPpoIsWarnedOf) {
  EXPECT_THAT(notes({"ppo.imitation=1"}).warnings, IsEmpty());
  EXPECT_THAT(notes({"ppo.imitation=1", "train.phase=dream"}).warnings,
              ElementsAre(HasSubstr("ppo.imitation")));
  EXPECT_THAT(notes({"train.trained_share=0.5", "train.phase=dream"}).warnings,
              ElementsAre(HasSubstr("train.trained_share")));
}

TEST(ConfigWarnings, ImitationThatCannotHelpIsWarnedOf) {
  EXPECT_THAT(notes({"train.trained_share=0.5"}).warnings, ElementsAre(HasSubstr("played for nothing")));
  EXPECT_THAT(notes({"train.trained_share=0.5", "ppo.imitation=0.1"}).warnings, IsEmpty());
  EXPECT_THAT(notes({"ppo.imitation=0.1", "workload.reward=measured"}).warnings,
              ElementsAre(HasSubstr("luckiest")));
}

TEST(ConfigWarnings, SimulatedStepsAreWarnedOf) {
  EXPECT_THAT(notes({"actors.simulated_step_ms=20"}).warnings,
              ElementsAre(HasSubstr("take 20 ms by waiting")));
  EXPECT_THAT(notes({"actors.simulated_step_ms=20", "train.phase=collect"}).warnings,
              ElementsAre(HasSubstr("remove it")));
}

TEST(ConfigWarnings, DeterministicModeSaysThatItIsOnTheCpu) {
  EXPECT_THAT(notes({"train.deterministic=true"}).remarks, ElementsAre(HasSubstr("auto is cpu")));
  EXPECT_THAT(notes({"train.deterministic=true", "train.device=cpu"}).remarks, IsEmpty());
}

TEST(ConfigWarnings, EvolutionSaysThatItIsOnTheCpu) {
  EXPECT_THAT(notes({"train.phase=dream", "dream.controller=linear", "train.device=cuda"}).remarks,
              ElementsAre(HasSubstr("evolves on the CPU")));
  EXPECT_THAT(notes({"train.phase=dream", "train.device=cuda"}).remarks, IsEmpty());
}

TEST(ConfigWarnings, NoPhaseSaysThatItKnowsTheCpuAlone) {
  for (const std::string& phase : testing::phase_names())
    EXPECT_THAT(notes({"train.phase=" + phase}).remarks, IsEmpty()) << phase;
}

TEST(ConfigWarnings, TheLearnersLogHoldsThem) {
  const TempDir dir;
  Running job(train(dir.path() / "run", {"--set", "workload.reward=detailed", "--set", "train.updates=1"}));
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  EXPECT_THAT(read_file(dir.path() / "run" / "learner.log"), HasSubstr("pays what incremental does"));
}

}  // namespace
}
