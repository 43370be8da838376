#include "launch/optimise/time_budget.h"

#include <gtest/gtest.h>

#include <array>

namespace regraft::launch {
namespace {

TEST(TimeBudget, PartsShareWhatIsLeft) {
  const TimeBudget budget{.seconds = 120};
  EXPECT_EQ(budget.search_s(), 54);
  EXPECT_EQ(budget.trials_s(20, 30), 30);
  EXPECT_EQ(budget.trials_s(80, 30), 10);
  EXPECT_EQ(budget.trials_s(100, 30), 0);
  EXPECT_EQ(budget.measure_s(20), 48);
  EXPECT_EQ(budget.measure_s(90), 30);
  EXPECT_EQ(budget.measure_s(130), 0);
  EXPECT_EQ(TimeBudget{.seconds = 600}.search_s(), 270);
}

TEST(TimeBudget, TheFirstSizeIsMeasuredTwiceAsLongAsEachOther) {
  const TimeBudget budget{.seconds = 120};
  EXPECT_EQ(budget.measure_s(90, 0, 3), 15);
  EXPECT_EQ(budget.measure_s(105, 1, 3), 7.5);
  EXPECT_EQ(budget.measure_s(112.5, 2, 3), 7.5);
  EXPECT_EQ(budget.measure_s(20, 1, 2), 24) << "half of the share";
  const TimeBudget own{.measure = 300};
  EXPECT_EQ(own.measure_s(1000, 0, 3), 300);
  EXPECT_EQ(own.measure_s(1000, 1, 3), 150);
}

TEST(TimeBudget, APartKeepsSecondsOfItsOwn) {
  const TimeBudget longer{.search = 600, .measure = 10};
  EXPECT_EQ(longer.search_s(), 600);
  EXPECT_EQ(longer.left_s(580), 86);  // the longer search takes nothing from the others
  EXPECT_EQ(longer.measure_s(0), 10);
  EXPECT_EQ(TimeBudget{.trials = 0}.trials_s(0, 0), 0);
}

TEST(TimeBudget, AChecksProbesHaveHalfOfWhatIsFreeAndAtLeastSoMuch) {
  const TimeBudget budget{.seconds = 120};
  EXPECT_EQ(budget.probes_s(60, 20), 20);
  EXPECT_EQ(budget.probes_s(0, 20), 24) << "at most a fifth of all";
  EXPECT_EQ(budget.probes_s(500, 20), 15);
  EXPECT_EQ((TimeBudget{.seconds = 120, .measure = 900}.probes_s(60, 20)), 20) << "those are not free";
  EXPECT_EQ((TimeBudget{.seconds = 1000, .search = 3000}.probes_s(3000, 250)), 150) << "of 1000 - 450";
  EXPECT_EQ(TimeBudget{.seconds = 1e5}.probes_s(0, 0), 600);
}

TEST(TimeBudget, TurnsHaveAQuarterEvenIfALargeModelTookAll) {
  EXPECT_EQ(TimeBudget{.seconds = 120}.turns_s(20), 100);
  EXPECT_EQ(TimeBudget{.seconds = 120}.turns_s(150), 30);
}

TEST(TimeBudget, ALaterTurnHasWhatAnEarlierOneLeft) {
  EXPECT_EQ(share_of_turn(120, 0, 0, 1), 120);
  EXPECT_EQ(share_of_turn(120, 0, 0, 3), 40);
  EXPECT_EQ(share_of_turn(120, 20, 1, 3), 50);
  EXPECT_EQ(share_of_turn(120, 70, 2, 3), 50);
  EXPECT_EQ(share_of_turn(120, 100, 2, 3), 20);
  EXPECT_EQ(share_of_turn(120, 101, 2, 3), 0) << "less than half of what each would have";
  EXPECT_EQ(share_of_turn(120, 90, 1, 3), 30) << "one more, where two would have less";
  EXPECT_EQ(share_of_turn(120, 400, 1, 3), 0);
}

TEST(TimeBudget, SlowModelsNeedMoreToConfirm) {
  constexpr std::array<double, 3> kRuns{0.4, 0.1, 1};
  EXPECT_EQ(seconds_to_confirm({}), 0);
  EXPECT_DOUBLE_EQ(seconds_to_confirm(std::span(kRuns).first(1)), 60);
  EXPECT_DOUBLE_EQ(seconds_to_confirm(kRuns), 60 + 20 + 92);
  EXPECT_DOUBLE_EQ(seconds_to_confirm(std::span(kRuns).first(1), 4), 108) << "the check has one thread";
  EXPECT_DOUBLE_EQ(seconds_to_confirm(std::span(kRuns).first(1), 32), 108);
}

}  // namespace
}
