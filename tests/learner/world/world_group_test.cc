// Learners that share the updates of one world model.
#include <gtest/gtest.h>

#include "core/nn/inference/device.h"
#include "learner/job/update_sharing.h"
#include "learner/world/world_replica.h"
#include "tests/learner/device_under_test.h"
#include "tests/learner/learners.h"
#include "tests/learner/world/synthetic_world.h"

namespace regraft::learner {
namespace {

/// A fit by one learner, or by several who all have it.
struct Fitted {
  nn::WorldModel world;
  replay::Bytes state;  // figures of the updates included
  std::vector<std::pair<std::string, double>> figures;
};

class WorldGroupTest : public testing::Test {
 protected:
  WorldGroupTest() : replay_({}) {
    nn::set_torch_threads(1);
    test::SyntheticWorld().collect(replay_, 40);
    setup_.job.options.device = "cpu";
    setup_.context = test::SyntheticWorld().context();
    setup_.world = test::small_world_options();
    setup_.world.encoder_updates = setup_.world.dynamics_updates = setup_.world.reward_updates =
        test::kComparedUpdates;
    setup_.world.evaluate_every = 10;
    setup_.world.scheduled_sampling = 0.5;
    setup_.world.reward_unit = 0.01;
  }

  /// What the first learner does, from where an earlier fit was saved.
  void lead(WorldReplica& replica, UpdateSharing sharing, std::span<const std::byte> saved,
            int updates) const {
    sharing.begin([&] { return encode_world_start(replay_, saved); });
    replica.start(replay_, saved);
    for (bool more = true; more && updates > 0; --updates) {
      sharing.tell([] { return encode_world_update(0); });
      more = replica.fit()->advance();
    }
    if (const auto farewell = sharing.farewell()) farewell();
  }
  Fitted fitted(std::uint32_t learners, std::span<const std::byte> saved = {}, int updates = 1000) const {
    std::vector<Fitted> all(learners);
    test::run_learners(learners, [&](std::uint32_t rank, const JoinLearners& join) {
      test::SyntheticWorld world;  // an environment is of one thread
      WorldReplica replica(setup_, world.environment_of());
      if (rank == 0)
        lead(replica, {replica, join}, saved, updates);
      else
        follow_updates(join, replica);
      all[rank].state = replica.fit()->save();
      all[rank].figures = replica.fit()->newest_figures();
      if (replica.fit()->stage() == WorldFit::Stage::done) all[rank].world = replica.fit()->world();
    });
    for (const Fitted& one : all) EXPECT_EQ(one.state == all[0].state, true) << "bit for bit";
    return all[0];
  }
  nn::WorldModel unmoved() {
    const WorldOptions options = setup_.world;
    setup_.world.encoder_learning_rate = setup_.world.learning_rate = setup_.world.final_learning_rate =
        setup_.world.reward_learning_rate = 0;
    const nn::WorldModel start = fitted(1).world;
    setup_.world = options;
    return start;
  }
  void expect_what_one_fits(const nn::WorldModel& many, const nn::WorldModel& one,
                            const nn::WorldModel& start) const {
    for (const auto part : {&nn::WorldModel::encoder, &nn::WorldModel::dynamics, &nn::WorldModel::reward})
      EXPECT_LT(test::apart(many.*part, one.*part, start.*part), test::kWithinRounding);
  }

  replay::SequenceReplay replay_;
  CollectSetup setup_;
};

TEST_F(WorldGroupTest, SeveralLearnersFitWhatOneFitsWithinRounding) {
  const nn::WorldModel start = unmoved();
  const Fitted one = fitted(1);
  for (const std::uint32_t learners : {2U, 3U}) {
    const Fitted many = fitted(learners);
    expect_what_one_fits(many.world, one.world, start);
    ASSERT_EQ(many.figures.size(), one.figures.size());
    for (std::size_t i = 0; i < one.figures.size(); ++i)
      EXPECT_NEAR(many.figures[i].second, one.figures[i].second, 1e-3) << one.figures[i].first;
    EXPECT_EQ(fitted(learners).state == many.state, true) << "again, bit for bit";
  }
}

TEST_F(WorldGroupTest, ABatchMayLeaveALearnerWithoutLanesOrGraphs) {
  setup_.world.encoder_states = 2;  // of one window
  setup_.world.lanes = 1;
  setup_.world.scheduled_sampling = 1;
  const nn::WorldModel start = unmoved();
  expect_what_one_fits(fitted(2).world, fitted(1).world, start);
}

TEST_F(WorldGroupTest, AFitThatGoesOnFromACheckpointEndsInTheSameBits) {
  const replay::Bytes whole = fitted(2).state;
  for (const int updates : {7, 27, 47}) {  // in each stage
    const replay::Bytes saved = fitted(2, {}, updates).state;
    EXPECT_EQ(saved == whole, false);
    EXPECT_EQ(fitted(2, saved).state == whole, true) << updates;
  }
}

}  // namespace
}
