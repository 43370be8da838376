// Learners that share the updates of one policy.
#include <gmock/gmock.h>

#include "core/nn/inference/device.h"
#include "learner/job/update_sharing.h"
#include "learner/ppo/ppo.h"
#include "learner/ppo/ppo_update.h"
#include "tests/learner/device_under_test.h"
#include "tests/learner/learners.h"
#include "tests/learner/ppo/chain_world.h"

namespace regraft::learner {
namespace {

using test::ChainWorld;

constexpr std::uint64_t kSeed = 2203;
constexpr int kUpdates = 6;

class PpoGroupTest : public testing::TestWithParam<nn::Head> {
 protected:
  PpoGroupTest() : network_(ChainWorld::network(GetParam())), start_(nn::initial_weights(network_, kSeed)) {
    nn::set_torch_threads(1);
    options_.minibatch_steps = 33;
    options_.imitation = 0.5;
    nn::Policy policy(network_, start_, ChainWorld::rules());
    Rng rng(kSeed, "group test");
    for (int update = 0; update < kUpdates; ++update) {
      fresh_.push_back(test::play(policy, 24, rng, 1));
      best_.push_back(test::play(policy, 3, rng, 1));
    }
  }

  Ppo make() const { return Ppo(network_, start_, ChainWorld::rules(), options_, "cpu", kSeed); }
  /// What the first learner does.
  std::vector<PpoMetrics> lead(Ppo& ppo, UpdateSharing sharing) const {
    std::vector<PpoMetrics> metrics;
    sharing.begin([&] { return ppo.save(); });
    for (int update = 0; update < static_cast<int>(fresh_.size()); ++update) {
      const double share = 1 - 0.1 * update;
      sharing.tell([&] { return encode_ppo_update(share, fresh_[update], best_[update]); });
      ppo.anneal(share);
      metrics.push_back(ppo.update(fresh_[update], best_[update]));
    }
    if (const auto farewell = sharing.farewell()) farewell();
    return metrics;
  }
  /// The first learner's state, as all of its peers have it, too.
  std::vector<std::byte> learnt(std::uint32_t learners, std::vector<PpoMetrics>* metrics) const {
    std::vector<std::vector<std::byte>> states(learners);
    test::run_learners(learners, [&](std::uint32_t rank, const JoinLearners& join) {
      Ppo ppo = make();
      if (rank == 0)
        *metrics = lead(ppo, {ppo, join});
      else
        follow_updates(join, ppo);
      states[rank] = ppo.save();
    });
    for (const std::vector<std::byte>& state : states) EXPECT_EQ(state, states[0]) << "bit for bit";
    return states[0];
  }
  nn::Weights weights_of(const std::vector<std::byte>& state) const {
    Ppo ppo = make();
    ppo.restore(state);
    return ppo.weights();
  }

  nn::NetworkConfig network_;
  nn::Weights start_;
  PpoOptions options_;
  std::vector<std::vector<replay::Segment>> fresh_, best_;
};

TEST_P(PpoGroupTest, SeveralLearnersLearnWhatOneLearnsWithinRounding) {
  std::vector<PpoMetrics> alone, shared;
  const nn::Weights one = weights_of(learnt(1, &alone));
  for (const std::uint32_t learners : {2U, 3U}) {
    const std::vector<std::byte> state = learnt(learners, &shared);
    EXPECT_LT(test::apart(weights_of(state), one, start_), test::kWithinRounding);
    for (int update = 0; update < kUpdates; ++update) {
      EXPECT_EQ(shared[update].steps, alone[update].steps);
      EXPECT_EQ(shared[update].imitated_steps, alone[update].imitated_steps);
      EXPECT_NEAR(shared[update].policy_loss, alone[update].policy_loss, 1e-3);
      EXPECT_NEAR(shared[update].value_loss, alone[update].value_loss, 1e-3);
      EXPECT_NEAR(shared[update].entropy, alone[update].entropy, 1e-3);
      EXPECT_NEAR(shared[update].gradient_norm, alone[update].gradient_norm, 1e-3);
    }
    EXPECT_EQ(learnt(learners, &shared), state) << "again, bit for bit";
  }
}

TEST_P(PpoGroupTest, AMinibatchMayLeaveALearnerWithoutSteps) {
  options_.minibatch_steps = 2;
  fresh_.resize(1);
  std::vector<PpoMetrics> alone, shared;
  const nn::Weights one = weights_of(learnt(1, &alone));
  EXPECT_LT(test::apart(weights_of(learnt(3, &shared)), one, start_), test::kWithinRounding);
}

INSTANTIATE_TEST_SUITE_P(Both, PpoGroupTest, testing::Values(nn::Head::pointer, nn::Head::hierarchical),
                         [](const auto& head) { return std::string(enum_name(head.param)); });

}  // namespace
}
