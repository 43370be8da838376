#include "core/task/load_rule_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace regraft::task {
namespace {

TEST(RuleFiles, AStatusNamesTheInstallationsRulesOfThatStatusOrBetter) {
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
}
