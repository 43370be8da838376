// Controllers have one path, LibTorch's: on the device that REGRAFT_DEVICE names against the CPU.
#include <gtest/gtest.h>

#include "learner/controller/controller_ppo.h"
#include "tests/learner/controller/played_dreams.h"
#include "tests/learner/device_under_test.h"

namespace regraft::learner {
namespace {

constexpr std::uint64_t kSeed = 4421;

TEST(ControllerOnTheDevice, LearnsWhatTheCpuLearnsWithinRounding) {
  const test::PlayedDreams played(kSeed, test::kComparedUpdates);
  const auto trained = [&](const std::string& device, std::uint64_t minibatches = kSeed) {
    ControllerPpo ppo(played.config, played.start, {.minibatch_steps = 16}, minibatches, device);
    for (const auto& segments : played.dreams) EXPECT_GT(ppo.update(segments).steps, 0u);
    return ppo.weights();
  };
  const nn::Weights cpu = trained("cpu");
  EXPECT_LT(test::apart(trained(test::device_under_test()), cpu, played.start), test::kWithinRounding);
  EXPECT_GT(test::apart(trained("cpu", kSeed + 1), cpu, played.start), 10 * test::kWithinRounding);
}

}  // namespace
}
