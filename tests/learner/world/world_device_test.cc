// The path that a GPU uses, on the CPU or on the device that REGRAFT_DEVICE names, against the fused kernels.
#include <gtest/gtest.h>

#include "core/nn/inference/device.h"
#include "tests/learner/device_under_test.h"
#include "tests/learner/world/synthetic_world.h"

namespace regraft::learner {
namespace {

WorldOptions twenty_updates() {
  WorldOptions options = test::small_world_options();
  options.encoder_updates = options.dynamics_updates = options.reward_updates = test::kComparedUpdates;
  options.evaluate_every = 10;
  options.scheduled_sampling = 0.5;
  options.reward_unit = 0.01;
  return options;
}

class WorldOnTheDevice : public testing::Test {
 protected:
  WorldOnTheDevice() : replay_({}) {
    nn::set_torch_threads(1);
    world_.collect(replay_, 40);
  }

  nn::WorldModel fitted(const WorldOptions& options, const nn::PolicyOptions& compute) {
    WorldFit fit(world_.context(), replay_, options, world_.environment_of(), compute);
    while (fit.advance()) {
    }
    EXPECT_FALSE(fit.open_loop_figures(3).empty());
    return fit.world();
  }

 private:
  test::SyntheticWorld world_;
  replay::SequenceReplay replay_;
};

TEST_F(WorldOnTheDevice, FitsWhatTheFusedKernelsFitWithinRounding) {
  const WorldOptions options = twenty_updates();
  WorldOptions unmoved = options, other_data = options;
  unmoved.encoder_learning_rate = unmoved.learning_rate = unmoved.final_learning_rate =
      unmoved.reward_learning_rate = 0;
  other_data.encoder_states += 8;
  other_data.lanes += 1;
  const nn::PolicyOptions on_cpu{.device = "cpu", .engine = nn::Engine::fused};
  const nn::WorldModel start = fitted(unmoved, on_cpu), fused = fitted(options, on_cpu);
  const nn::WorldModel torch =
      fitted(options, {.device = test::device_under_test(), .engine = nn::Engine::torch});
  const nn::WorldModel other = fitted(other_data, on_cpu);
  for (const auto part : {&nn::WorldModel::encoder, &nn::WorldModel::dynamics, &nn::WorldModel::reward}) {
    EXPECT_LT(test::apart(torch.*part, fused.*part, start.*part), test::kWithinRounding);
    EXPECT_GT(test::apart(other.*part, fused.*part, start.*part), 10 * test::kWithinRounding);
  }
}

}  // namespace
}
