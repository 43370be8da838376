#include "learner/controller/dyna.h"

#include <gtest/gtest.h>

#include "core/base/file.h"

namespace regraft::learner {
namespace {

const DynaOptions kOptions{
    .updates = 3, .episodes = 2, .branch_steps = 8, .window = 10, .bias = 0.05, .mask_f1 = 0.8};

/// A branch of `steps` steps whose dream promises `error` too much at each from `good` steps on.
replay::Branch branch(std::size_t steps, std::size_t good, float error, std::uint32_t model = 1) {
  replay::Branch made{model, {{0.5f}, {0.25f}, {1.0f}, {2, 1}, 3}, {}};
  for (std::size_t t = 0; t < steps; ++t)
    made.steps.push_back({0.01f + (t < good ? 0.0f : error), 0.01f, 5, 0, 0});
  return made;
}

class DynaTest : public testing::Test {
 protected:
  DynaTest() : plan({7, 2, 32}), dyna(kOptions) {}
  TicketPlan plan;
  Dyna dyna;
};

TEST_F(DynaTest, BeginsWithRealEpisodesAndDreamsOnceTheyCameBack) {
  EXPECT_TRUE(dyna.next(kControllerKind, plan, 1));
  EXPECT_FALSE(dyna.next(kDreamKind, plan, 1)) << "there is nothing to branch off";
  EXPECT_FALSE(dyna.ready(1, true));
  EXPECT_TRUE(dyna.ready(2, false));
  dyna.add({branch(8, 8, 0), branch(8, 8, 0)});
  dyna.updated();
  EXPECT_EQ(dyna.branch_steps(), 8u);
  const auto dream = dyna.next(kDreamKind, plan, 1);
  ASSERT_TRUE(dream);
  EXPECT_EQ(dream->segment_length, 8u);
  EXPECT_FALSE(dyna.next(kControllerKind, plan, 1));
  EXPECT_TRUE(dyna.ready(0, true));
}

TEST_F(DynaTest, RealEpisodesAreGatheredEverySoManyUpdates) {
  dyna.add({branch(8, 8, 0)});
  int gathered = 0;
  for (int update = 0; update < 9; ++update) {
    const bool gathering = dyna.next(kControllerKind, plan, 1).has_value();
    gathered += gathering ? 1 : 0;
    EXPECT_EQ(dyna.ready(0, true), !gathering);
    EXPECT_TRUE(dyna.ready(2, true));
    dyna.updated();
  }
  EXPECT_EQ(gathered, 3);
  EXPECT_EQ(dyna.paused_updates(), 0u);
}

TEST_F(DynaTest, DreamsAreAsLongAsPredictedAndRealReturnAgree) {
  dyna.add({branch(8, 3, 0.04f), branch(8, 3, 0.04f)});  // 0.04 a step from the fourth on: within 0.05 once
  EXPECT_EQ(dyna.branch_steps(), 4u);
  EXPECT_NEAR(dyna.bias(5), 0.08, 1e-6);
  dyna.add(std::vector<replay::Branch>(10, branch(8, 3, -0.04f)));
  EXPECT_EQ(dyna.branch_steps(), 4u) << "too little is as wrong as too much, and old branches are forgotten";
  dyna.add(std::vector<replay::Branch>(10, branch(8, 8, 0)));
  EXPECT_EQ(dyna.branch_steps(), 8u);
}

TEST_F(DynaTest, DreamsAreAsLongAsTheirMasksHold) {
  replay::Branch wrong = branch(8, 8, 0);
  for (std::size_t t = 2; t < 8; ++t) wrong.steps[t] = {0.01f, 0.01f, 1, 2, 2};
  dyna.add({wrong});  // F1: 1, 1, 22 / 26, 24 / 32
  EXPECT_EQ(dyna.branch_steps(), 3u);
}

TEST_F(DynaTest, TheWorstModelDecides) {
  dyna.add({branch(8, 8, 0, 1), branch(8, 3, 0.04f, 2), branch(8, 3, -0.04f, 3)});
  EXPECT_EQ(dyna.branch_steps(), 4u) << "errors of two models do not cancel";
  dyna.add(std::vector<replay::Branch>(20, branch(8, 8, 0, 1)));
  EXPECT_EQ(dyna.branch_steps(), 4u) << "nor is a model drowned or pushed out by another one's branches";
  EXPECT_EQ(dyna.branches().size(), 12u);
  replay::Branch blind = branch(8, 8, 0, 4);
  blind.steps[1] = {0.01f, 0.01f, 1, 4, 4};
  dyna.add({blind});
  EXPECT_EQ(dyna.branch_steps(), 1u);
  EXPECT_NEAR(dyna.mask_f1(2), 12.0 / 20, 1e-9);
}

TEST_F(DynaTest, ASpoiledWorldModelPausesDreamsUntilItAgreesAgain) {
  dyna.add({branch(8, 0, 0.5f)});
  EXPECT_EQ(dyna.branch_steps(), 0u);
  for (int update = 0; update < 5; ++update) {
    EXPECT_FALSE(dyna.next(kDreamKind, plan, 1));
    EXPECT_TRUE(dyna.next(kControllerKind, plan, 1)) << "real episodes go on";
    dyna.updated();
  }
  EXPECT_EQ(dyna.paused_updates(), 5u);
  dyna.add(std::vector<replay::Branch>(10, branch(8, 8, 0)));
  EXPECT_TRUE(dyna.next(kDreamKind, plan, 1));
}

TEST_F(DynaTest, ComesBackFromACheckpoint) {
  dyna.add({branch(8, 3, 0.04f), branch(8, 3, 0.04f)});
  dyna.updated();
  Dyna other(kOptions);
  other.restore(dyna.save());
  EXPECT_EQ(other.save(), dyna.save());
  EXPECT_EQ(other.branch_steps(), 4u);
  EXPECT_FALSE(other.next(kControllerKind, plan, 1));
  auto bytes = dyna.save();
  for (std::size_t size = 0; size < bytes.size(); size += 7)
    EXPECT_THROW(other.restore(std::span(bytes).first(size)), Error) << size;
  EXPECT_EQ(other.save(), dyna.save());
}

}  // namespace
}
