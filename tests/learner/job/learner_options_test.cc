#include "learner/job/learner_options.h"

#include <gmock/gmock.h>

#include "core/base/named_by_config.h"

namespace regraft::learner {
namespace {

using ::testing::HasSubstr;

LearnerOptions options_with(const std::vector<std::string>& settings) {
  Config config{OptionTable(learner_options())};
  for (const std::string& setting : settings) config.set(setting);
  return learner_options_from(config);
}

std::string error_of(const std::vector<std::string>& settings) {
  try {
    options_with(settings);
    return "no error";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(LearnerOptions, DeterministicModeIsOneThreadOfTheCpu) {
  EXPECT_EQ(options_with({"train.deterministic=true"}).device, "cpu");
  EXPECT_EQ(options_with({"train.deterministic=true", "train.device=cpu"}).device, "cpu");
  EXPECT_THAT(error_of({"train.deterministic=true", "train.threads=2"}), HasSubstr("train.threads"));
  EXPECT_THAT(error_of({"train.deterministic=true", "train.device=cuda"}), HasSubstr("train.device"));
}

TEST(LearnerOptions, OtherwiseThreadsAndDeviceAreAsGiven) {
  EXPECT_EQ(options_with({}).device, "auto");
  const LearnerOptions options = options_with({"train.threads=2", "train.device=cuda"});
  EXPECT_EQ(options.threads, 2);
  EXPECT_EQ(options.device, "cuda");
}

TEST(LearnerOptions, RelaysAreStartedOnlyWhereAskedFor) {
  EXPECT_EQ(options_with({}).relay, "off");
  EXPECT_EQ(options_with({"wire.relay=remote"}).relay, "remote");
}

}  // namespace
}
