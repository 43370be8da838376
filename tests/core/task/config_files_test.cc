#include "core/task/config_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"

namespace regraft::task {
namespace {

namespace fs = std::filesystem;

class ConfigFiles : public ::testing::Test {
 protected:
  void SetUp() override { fs::current_path(folder_.path()); }
  void TearDown() override { fs::current_path(before_); }

 private:
  const fs::path before_ = fs::current_path();
  const TempDir folder_;
};

TEST_F(ConfigFiles, OfTheInstallationAreFoundFromAnywhere) {
  EXPECT_TRUE(fs::equivalent(find_config("configs/rules"), REGRAFT_SOURCE_DIR "/configs/rules"));
  fs::create_directories("configs/rules");
  EXPECT_TRUE(fs::equivalent(find_config("configs/rules"), REGRAFT_SOURCE_DIR "/configs/rules"))
      << "a namesake here is passed over";
  EXPECT_EQ(find_config("./configs/rules"), "./configs/rules");
}

TEST_F(ConfigFiles, WhatIsNowhereStaysAsGiven) {
  EXPECT_EQ(find_config("configs/no-such-file"), "configs/no-such-file");
  EXPECT_EQ(find_config("/no/such/file"), "/no/such/file");
}

TEST_F(ConfigFiles, AStatusNamesTheInstallationsRulesOfThatStatusOrBetter) {
  const std::size_t proved = load_rule_set("proved").size(),
                    bounded = load_rule_set("bounded_checked").size();
  EXPECT_GT(proved, 0u);
  EXPECT_GT(bounded, proved);
  EXPECT_EQ(load_rule_set("configs/rules").size(), bounded);
  EXPECT_THAT([] { load_rule_set("bounded"); },
              ::testing::ThrowsMessage<UsageError>("bounded: 'bounded' is called 'bounded_checked' now"));
  EXPECT_EQ(load_rule_set("proved:" REGRAFT_SOURCE_DIR "/configs/rules").size(), proved);
}

}  // namespace
}  // namespace regraft::task
