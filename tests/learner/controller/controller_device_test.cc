// Controllers have one path, LibTorch's: on the device that REGRAFT_DEVICE names against the CPU.
#include <gtest/gtest.h>

#include "core/nn/device.h"
#include "core/nn/dream_world.h"
#include "learner/controller/controller_ppo.h"
#include "replay/dream/dream_recorder.h"
#include "tests/learner/device_under_test.h"

namespace regraft::learner {
namespace {

constexpr std::uint64_t kSeed = 4421;

/// Dreams of every update by the first weights; every other one is cut, as Dyna's branches are.
class ControllerOnTheDevice : public testing::Test {
 protected:
  ControllerOnTheDevice()
      : world_(test::random_world(kSeed)),
        config_({.kind = nn::ControllerKind::hierarchical,
                 .state = world_.config.dynamics.latent + world_.config.dynamics.hidden,
                 .rules = world_.config.dynamics.rules,
                 .locations = world_.config.locations,
                 .width = 32}),
        start_(nn::initial_weights(config_, kSeed)) {
    nn::set_torch_threads(1);
    nn::Controller controller(config_, start_);
    nn::Dream dream(world_, {}, 32);
    nn::DreamPlayer player(dream, controller);
    const std::vector<nn::DreamStart> starts(32, nn::start_of(world_.starts.front()));
    for (int update = 0; update < test::kComparedUpdates; ++update) {
      replay::DreamSegment header;
      header.weight_version = 1;
      header.seed = kSeed + static_cast<std::uint64_t>(update);
      auto segments = replay::record_dreams(dream, player, starts, header);
      for (std::size_t i = 0; i < segments.size(); i += 2) cut(segments[i]);
      dreams_.push_back(std::move(segments));
    }
  }

  /// Behind its first step, where it has more.
  static void cut(replay::DreamSegment& segment) {
    if (segment.steps.size() < 2) return;
    segment.next_state = segment.steps[1].state;
    segment.steps.resize(1);
  }
  nn::Weights trained(const std::string& device, std::uint64_t minibatches = kSeed) const {
    ControllerPpo ppo(config_, start_, {.minibatch_steps = 16}, minibatches, device);
    for (const auto& segments : dreams_) EXPECT_GT(ppo.update(segments).steps, 0u);
    return ppo.weights();
  }

  nn::WorldModel world_;
  nn::ControllerConfig config_;
  nn::Weights start_;
  std::vector<std::vector<replay::DreamSegment>> dreams_;
};

TEST_F(ControllerOnTheDevice, LearnsWhatTheCpuLearnsWithinRounding) {
  const nn::Weights cpu = trained("cpu");
  EXPECT_LT(test::apart(trained(test::device_under_test()), cpu, start_), test::kWithinRounding);
  EXPECT_GT(test::apart(trained("cpu", kSeed + 1), cpu, start_), 10 * test::kWithinRounding);
}

}  // namespace
}  // namespace regraft::learner
