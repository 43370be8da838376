// Learners that share the updates of one controller.
#include <gtest/gtest.h>

#include "learner/controller/controller_ppo.h"
#include "learner/job/update_sharing.h"
#include "tests/learner/controller/played_dreams.h"
#include "tests/learner/device_under_test.h"
#include "tests/learner/learners.h"

namespace regraft::learner {
namespace {

constexpr std::uint64_t kSeed = 4423;

class ControllerGroupTest : public testing::Test {
 protected:
  ControllerPpo make() const { return {played_.config, played_.start, options_, kSeed}; }
  /// What the first learner does.
  std::vector<PpoMetrics> lead(ControllerPpo& ppo, UpdateSharing sharing) const {
    std::vector<PpoMetrics> metrics;
    sharing.begin([&] { return ppo.save(); });
    double share = 1;
    for (const auto& segments : played_.dreams) {
      sharing.tell([&] { return encode_controller_update(share, segments); });
      ppo.anneal(share);
      metrics.push_back(ppo.update(segments));
      share *= 0.9;
    }
    if (const auto farewell = sharing.farewell()) farewell();
    return metrics;
  }
  /// The first learner's state, as all of its peers have it, too.
  std::vector<std::byte> learnt(std::uint32_t learners, std::vector<PpoMetrics>* metrics) const {
    std::vector<std::vector<std::byte>> states(learners);
    test::run_learners(learners, [&](std::uint32_t rank, const JoinLearners& join) {
      ControllerPpo ppo = make();
      if (rank == 0)
        *metrics = lead(ppo, {ppo, join});
      else
        follow_updates(join, ppo);
      states[rank] = ppo.save();
    });
    for (const std::vector<std::byte>& state : states) EXPECT_EQ(state == states[0], true) << "bit for bit";
    return states[0];
  }
  double apart(const std::vector<std::byte>& one, const std::vector<std::byte>& other) const {
    const auto weights_of = [&](const std::vector<std::byte>& state) {
      ControllerPpo ppo = make();
      ppo.restore(state);
      return ppo.weights();
    };
    return test::apart(weights_of(one), weights_of(other), played_.start);
  }

  PpoOptions options_{.minibatch_steps = 33};
  test::PlayedDreams played_{kSeed, 6};
};

TEST_F(ControllerGroupTest, SeveralLearnersLearnWhatOneLearnsWithinRounding) {
  std::vector<PpoMetrics> alone, shared;
  const std::vector<std::byte> one = learnt(1, &alone);
  for (const std::uint32_t learners : {2U, 3U}) {
    const std::vector<std::byte> state = learnt(learners, &shared);
    EXPECT_LT(apart(state, one), test::kWithinRounding);
    ASSERT_EQ(shared.size(), alone.size());
    for (std::size_t update = 0; update < alone.size(); ++update) {
      EXPECT_EQ(shared[update].steps, alone[update].steps);
      EXPECT_NEAR(shared[update].policy_loss, alone[update].policy_loss, 1e-3);
      EXPECT_NEAR(shared[update].value_loss, alone[update].value_loss, 1e-3);
      EXPECT_NEAR(shared[update].entropy, alone[update].entropy, 1e-3);
      EXPECT_NEAR(shared[update].gradient_norm, alone[update].gradient_norm, 1e-3);
    }
    EXPECT_EQ(learnt(learners, &shared) == state, true) << "again, bit for bit";
  }
}

TEST_F(ControllerGroupTest, AnUpdateMayLeaveALearnerWithoutSteps) {
  options_.minibatch_steps = 2;
  played_.dreams.resize(1);
  played_.dreams.front().resize(1);  // an episode that is cut behind its first step
  std::vector<PpoMetrics> metrics;
  const std::vector<std::byte> one = learnt(1, &metrics);
  EXPECT_EQ(metrics.front().steps, 1u);
  EXPECT_LT(apart(learnt(2, &metrics), one), test::kWithinRounding);
}

}  // namespace
}
