#include "launch/job/world_job.h"

#include <gmock/gmock.h>

#include "core/nn/world_bundle.h"
#include "core/task/workload.h"
#include "launch/job/job_config.h"
#include "launch/random_bundle.h"

namespace regraft::launch {
namespace {

using ::testing::HasSubstr;

// What its actions mean is another thing there.
TEST(CollectingChooser, AControllerOfAnotherWorkloadEverywhereIsRefused) {
  const TempDir folder;
  const std::string file = (folder.path() / "c.world").string();
  for (const bool learned_with : {false, true}) {
    for (const bool job_with : {false, true}) {
      const Config config = load_job_config(
          {}, {"train.phase=collect", "workload.models=synthetic:4:1:1:7", "world.policy=" + file,
               std::string("workload.everywhere=") + (job_with ? "true" : "false")});
      const rules::RuleSet rules = task::load_rules(task::workload_options_from(config));
      nn::WorldBundle bundle = testing::random_bundle(3, rules, 12, 200);
      bundle.world.everywhere = learned_with;
      bundle.controller_of = bundle.world.version();
      nn::save_bundle(bundle, file);
      try {
        collecting_chooser(config, rules);
        EXPECT_EQ(learned_with, job_with) << "accepted";
      } catch (const UsageError& error) {
        EXPECT_NE(learned_with, job_with) << error.what();
        EXPECT_EQ(error.where(), file);
        EXPECT_THAT(error.problem(),
                    HasSubstr(learned_with ? "learned with rules" : "learned without rules"));
        EXPECT_THAT(error.remedy(), HasSubstr("workload.everywhere"));
      }
    }
  }
}

}  // namespace
}  // namespace regraft::launch
