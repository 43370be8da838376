// The path that a GPU uses, on the CPU or on the device that REGRAFT_DEVICE names, against the fused kernels.
#include <gtest/gtest.h>

#include "core/nn/inference/device.h"
#include "learner/ppo/ppo.h"
#include "tests/learner/device_under_test.h"
#include "tests/learner/ppo/chain_world.h"

namespace regraft::learner {
namespace {

using test::ChainWorld;

constexpr std::uint64_t kSeed = 4417;

/// Episodes of every update, all by the first weights: what is learnt from is the same for all learners.
struct Episodes {
  explicit Episodes(nn::Head head) {
    const nn::NetworkConfig network = ChainWorld::network(head);
    nn::Policy policy(network, nn::initial_weights(network, kSeed), ChainWorld::rules(), {.device = "cpu"});
    Rng rng(kSeed, "device test");
    for (int update = 0; update < test::kComparedUpdates; ++update) {
      fresh.push_back(test::play(policy, 24, rng, test::kFreshVersion));
      best.push_back(test::play(policy, 2, rng, test::kFreshVersion));
    }
  }
  std::vector<std::vector<replay::Segment>> fresh, best;
};

/// Which minibatches there are, and how often the best episodes are imitated.
struct Course {
  std::uint64_t minibatches = kSeed;
  std::size_t updates = test::kComparedUpdates;
  double imitation = 0;
};

nn::Weights trained(nn::Head head, const Episodes& episodes, const std::string& device, nn::Engine engine,
                    const Course& course) {
  nn::set_torch_threads(1);
  const nn::NetworkConfig network = ChainWorld::network(head);
  PpoOptions options;
  options.imitation = course.imitation;
  options.minibatch_steps = 32;
  Ppo ppo(network, nn::initial_weights(network, kSeed), ChainWorld::rules(), options, device,
          course.minibatches, engine);
  std::size_t imitated = 0;
  for (std::size_t update = 0; update < course.updates; ++update)
    imitated += ppo.update(episodes.fresh[update], episodes.best[update]).imitated_steps;
  EXPECT_EQ(imitated > 0, course.imitation > 0);
  return ppo.weights();
}

class PpoOnTheDevice : public testing::TestWithParam<nn::Head> {};

TEST_P(PpoOnTheDevice, LearnsWhatTheFusedKernelsLearnWithinRounding) {
  const Episodes episodes(GetParam());
  const nn::Weights start = nn::initial_weights(ChainWorld::network(GetParam()), kSeed);
  const nn::Weights fused = trained(GetParam(), episodes, "cpu", nn::Engine::fused, {});
  const nn::Weights torch = trained(GetParam(), episodes, test::device_under_test(), nn::Engine::torch, {});
  EXPECT_LT(test::apart(torch, fused, start), test::kWithinRounding);
  // The same data in another order of minibatches: what this test would take for another path.
  const nn::Weights other =
      trained(GetParam(), episodes, "cpu", nn::Engine::fused, {.minibatches = kSeed + 1});
  EXPECT_GT(test::apart(other, fused, start), 10 * test::kWithinRounding);
}

/// For a few updates only: which steps did better than expected, and are imitated, is a matter of one bit
/// where a value has become the return.
TEST_P(PpoOnTheDevice, ImitatesAsTheFusedKernelsDoWithinRounding) {
  const Episodes episodes(GetParam());
  const Course course{.updates = 3, .imitation = 0.5};
  const nn::Weights start = nn::initial_weights(ChainWorld::network(GetParam()), kSeed);
  const nn::Weights fused = trained(GetParam(), episodes, "cpu", nn::Engine::fused, course);
  const nn::Weights torch =
      trained(GetParam(), episodes, test::device_under_test(), nn::Engine::torch, course);
  EXPECT_LT(test::apart(torch, fused, start), test::kWithinRounding);
}

INSTANTIATE_TEST_SUITE_P(Both, PpoOnTheDevice, testing::Values(nn::Head::pointer, nn::Head::hierarchical),
                         [](const auto& head) { return std::string(enum_name(head.param)); });

}  // namespace
}
