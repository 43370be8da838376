#include "core/nn/inference/dream.h"

#include <gtest/gtest.h>

#include "core/env/episode_conformance.h"
#include "core/nn/dream_returns.h"
#include "core/nn/dream_world.h"
#include "core/nn/inference/device.h"
#include "core/nn/training/mdn_rnn.h"

namespace regraft::nn {
namespace {

constexpr std::uint64_t kSeed = 1711;

DreamOptions options_of(const env::EnvOptions& options) {
  DreamOptions dream;
  dream.horizon = options.horizon;
  dream.horizon_mode = options.horizon_mode;
  dream.invalid_penalty = options.invalid_penalty;
  return dream;
}

/// One replica of several as the suite for all episodes sees it.
class DreamtWorld : public env::EpisodeWorld {
 public:
  static constexpr std::uint32_t kReplicas = 3, kPlayed = 1;

  DreamtWorld(const WorldModel& world, const env::EnvOptions& options, bool foretells_ends)
      : foretells_ends_(foretells_ends),
        start_(start_of(world.starts.front())),
        dream_(world, options_of(options), kReplicas) {}
  void reset(std::uint64_t seed) override { dream_.reset(kPlayed, start_, seed); }
  Outcome step(env::Action action) override {
    std::vector<env::Action> actions(kReplicas);
    actions[kPlayed] = action;
    const DreamStep result = dream_.step(actions)[kPlayed];
    return {result.reward, result.terminated, result.truncated, result.invalid};
  }
  bool done() const override { return dream_.done(kPlayed); }
  std::uint32_t steps() const override { return dream_.steps(kPlayed); }
  std::uint32_t noop() const override { return dream_.noop(); }
  bool may_end_early() const override { return foretells_ends_; }
  std::vector<std::uint16_t> counts() const override { return dream_.location_counts(kPlayed); }
  std::string fingerprint() const override {
    const std::span<const float> state = dream_.state(kPlayed);
    return {reinterpret_cast<const char*>(state.data()), state.size_bytes()};
  }

 private:
  bool foretells_ends_;
  DreamStart start_;
  Dream dream_;
};

/// The suite of all episodes, in this world.
void check_episodes(const WorldModel& world, bool foretells_ends, std::uint64_t seed) {
  const auto make = [&](const env::EnvOptions& options) {
    return std::make_unique<DreamtWorld>(world, options, foretells_ends);
  };
  env::EpisodeConformance(make, {.horizon = 9}).check(seed);
}

TEST(Dream, KeepsTheContractOfEveryEnvironment) {
  for (const std::uint64_t seed : {kSeed, kSeed + 1, kSeed + 2}) {
    check_episodes(test::random_world(seed, 6, seed % 2 == 0 ? 7 : 0), true, seed);
    check_episodes(test::endless_world(seed), false, seed);
  }
}

TEST(Dream, OnlyTheHorizonEndsWhatGoesOnAndTheModeSaysHow) {
  const WorldModel world = test::endless_world(kSeed);
  for (const auto mode : {env::HorizonMode::terminate, env::HorizonMode::truncate}) {
    Dream dream(world, {.horizon = 3, .horizon_mode = mode, .sample = {}}, 1);
    dream.reset(0, start_of(world.starts.front()), kSeed);
    for (std::uint32_t step = 1; step <= 3; ++step) {
      const env::Action first{dream.legal(0).front(), 0};
      const DreamStep result = dream.step({&first, 1}).front();
      EXPECT_EQ(result.terminated, step == 3 && mode == env::HorizonMode::terminate);
      EXPECT_EQ(result.truncated, step == 3 && mode == env::HorizonMode::truncate);
      EXPECT_EQ(dream.done(0), step == 3);
    }
  }
}

/// Random legal actions for all replicas.
std::vector<env::Action> random_actions(const Dream& dream, Rng& rng) {
  std::vector<env::Action> actions(dream.replicas());
  for (std::uint32_t replica = 0; replica < dream.replicas(); ++replica) {
    const auto legal = dream.legal(replica);
    if (dream.done(replica)) continue;
    const std::uint32_t rule = legal[rng.below(legal.size())];
    actions[replica] = {rule, static_cast<std::uint32_t>(rng.below(dream.location_count(replica, rule)))};
  }
  return actions;
}

bool any_running(const Dream& dream) {
  for (std::uint32_t replica = 0; replica < dream.replicas(); ++replica)
    if (!dream.done(replica)) return true;
  return false;
}

TEST(Dream, ManyReplicasEqualThemselvesAlone) {
  SCOPED_TRACE(kSeed);
  const WorldModel world = test::random_world(kSeed);
  const std::uint32_t replicas = 17;
  Dream all(world, {}, replicas);
  std::vector<Dream> alone;
  for (std::uint32_t replica = 0; replica < replicas; ++replica) {
    all.reset(replica, start_of(world.starts.front()), replica);
    alone.emplace_back(world, DreamOptions{}, 1);
    alone.back().reset(0, start_of(world.starts.front()), replica);
  }
  Rng rng(kSeed, "dream actions");
  while (any_running(all)) {
    const std::vector<env::Action> actions = random_actions(all, rng);
    std::vector<bool> running;
    for (std::uint32_t replica = 0; replica < replicas; ++replica) running.push_back(!all.done(replica));
    const std::span<const DreamStep> results = all.step(actions);
    for (std::uint32_t replica = 0; replica < replicas; ++replica) {
      if (!running[replica]) continue;
      const DreamStep one = alone[replica].step({&actions[replica], 1}).front();
      ASSERT_EQ(one.reward, results[replica].reward);
      ASSERT_EQ(one.terminated, results[replica].terminated);
      ASSERT_TRUE(std::ranges::equal(alone[replica].state(0), all.state(replica)));
      ASSERT_EQ(alone[replica].location_counts(0), all.location_counts(replica));
    }
  }
}

/// The most locations that are there with this probability, but no more than the likeliest bin says.
std::int64_t certain_bin(const torch::Tensor& logits, double legality_threshold) {
  const torch::Tensor at_least = logits.to(torch::kFloat64).softmax(0).flip(0).cumsum(0).flip(0);
  std::int64_t bin = 0;
  while (bin + 1 < logits.size(0) && at_least[bin + 1].item<double>() >= legality_threshold) ++bin;
  return std::min(bin, logits.argmax().item<std::int64_t>());
}

/// The same episode with the network that is trained, written out.
TEST(Dream, IsTheWorldModelSteppedByHand) {
  SCOPED_TRACE(kSeed);
  set_torch_threads(1);
  const torch::NoGradGuard no_grad;
  struct Case {
    double tau, legality_threshold;
    std::uint64_t worlds;
  };
  std::size_t refused = 0, fewer = 0;
  for (const auto [tau, legality_threshold, worlds] :
       {Case{0.0, 0.5, 1}, Case{0.7, 0.5, 1}, Case{1.5, 0.5, 1}, Case{0.7, 0.7, 40}, Case{1.5, 0.99, 10}})
    for (std::uint64_t number = 0; number < worlds; ++number) {
      SCOPED_TRACE("world " + std::to_string(kSeed + number) + ", tau " + std::to_string(tau) +
                   ", legality threshold " + std::to_string(legality_threshold));
      const WorldModel world = test::random_world(kSeed + number);
      const DynamicsConfig& config = world.config.dynamics;
      training::MdnRnn model(config, torch::kCPU);
      Weights own{weight_layout(config), world.dynamics.values};
      own.values.resize(own.tensors.back().offset + own.tensors.back().count);
      model.load(own);
      Dream dream(world, {.sample = {.tau = tau}, .legality_threshold = legality_threshold}, 1);
      dream.reset(0, start_of(world.starts.front()), kSeed);
      training::RecurrentState state = model.initial_state(1);
      torch::Tensor z = torch::tensor(world.starts.front().latent).unsqueeze(0);
      Rng stream(kSeed, "dream"), rng(kSeed, "actions by hand");
      int steps = 0;
      while (!dream.done(0)) {
        std::vector<env::Action> actions = random_actions(dream, rng);
        if (actions[0].rule == dream.noop() && dream.legal(0).size() > 1) continue;
        const DreamStep result = dream.step(actions).front();
        if (actions[0].rule == dream.noop()) break;
        ++steps;
        torch::Tensor action = torch::empty({1, config.action});
        for (std::uint32_t i = 0; i < config.action; ++i) {
          const float embedded =
              world.dynamics.tensor("action.xfer")[actions[0].rule * config.action + i] +
              world.dynamics.tensor("action.location")[std::min(actions[0].location, 7u) * config.action + i];
          action[0][i] = embedded;
        }
        const training::DynamicsOutput output = model.step(z, action, state);
        z = training::sample(output, {.tau = tau}, stream);
        EXPECT_NEAR(result.reward, std::clamp(0.01f + 0.2f * output.reward.item<float>(), -0.3f, 0.4f), 1e-5);
        for (std::uint32_t i = 0; i < config.latent; ++i)
          ASSERT_NEAR(dream.state(0)[i], z[0][i].item<float>(), 1e-4) << "step " << steps;
        const std::vector<std::uint16_t> counts = dream.location_counts(0);
        for (std::uint32_t rule = 0; rule < dream.noop(); ++rule) {
          const double probability = output.rules[0][rule].sigmoid().item<double>();
          const bool legal = probability > legality_threshold;
          const torch::Tensor logits = output.counts[0][rule];
          const auto likely = logits.argmax().item<std::int64_t>();
          const std::int64_t bin =
              legality_threshold > 0.5 ? certain_bin(logits, legality_threshold) : likely;
          refused += probability > 0.5 && !legal ? 1 : 0;
          fewer += legal && bin < likely ? 1 : 0;
          EXPECT_EQ(counts[rule],
                    legal ? std::min(least_count(static_cast<std::uint32_t>(bin)), world.location_limit) : 0);
        }
        const bool ends = output.terminal.item<float>() > 0 || dream.legal(0).size() == 1 ||
                          dream.steps(0) == world.horizon;
        EXPECT_EQ(result.terminated, ends);
      }
      EXPECT_GT(steps, 0);
    }
  EXPECT_GT(refused, 0u) << "the threshold must take something away";
  EXPECT_GT(fewer, 0u);
}

TEST(Dream, RewardsStayWithinWhatWasObserved) {
  WorldModel world = test::random_world(kSeed);
  world.rewards.sd = 100;
  Dream dream(world, {}, 50);
  Rng rng(kSeed, "clipped");
  for (std::uint32_t replica = 0; replica < 50; ++replica)
    dream.reset(replica, start_of(world.starts.front()), replica);
  bool low = false, high = false;
  while (any_running(dream)) {
    for (const DreamStep& result : dream.step(random_actions(dream, rng))) {
      low |= static_cast<float>(result.reward) == world.rewards.low;
      high |= static_cast<float>(result.reward) == world.rewards.high;
      EXPECT_GE(result.reward, world.rewards.low);
      EXPECT_LE(result.reward, world.rewards.high);
    }
  }
  EXPECT_TRUE(low && high) << "the comparison must compare something";
}

TEST(Dream, AWarmStartGoesOnFromItsHiddenStateAndItsSteps) {
  const WorldModel world = test::random_world(kSeed);
  Dream dream(world, {}, 2);
  DreamStart warm = start_of(world.starts.front());
  warm.steps = world.horizon - 1;
  warm.hidden.assign(21, 0.5f);
  warm.cell.assign(21, 0.25f);
  dream.reset(0, warm, 1);
  dream.reset(1, start_of(world.starts.front()), 1);
  EXPECT_EQ(dream.state(0)[5], 0.5f);
  const std::vector<env::Action> actions(2, env::Action{0, 0});
  const auto results = dream.step(actions);
  EXPECT_TRUE(results[0].terminated) << "the horizon counts the steps before";
  EXPECT_NE(dream.state(0)[6], dream.state(1)[6]);
  warm.cell.pop_back();
  EXPECT_THROW(dream.reset(0, warm, 1), NnError);
}

TEST(Dream, ControllersPlayIt) {
  SCOPED_TRACE(kSeed);
  const WorldModel world = test::random_world(kSeed);
  const std::vector<DreamStart> starts(40, start_of(world.starts.front()));
  for (const ControllerKind kind : {ControllerKind::hierarchical, ControllerKind::linear}) {
    const ControllerConfig config{.kind = kind, .state = 26, .rules = 6, .locations = 8, .width = 16};
    Controller controller(config, initial_weights(config, kSeed));
    const auto once = test::dream_returns(world, {}, starts, controller, ActionSelection::drawn, kSeed);
    EXPECT_EQ(once, test::dream_returns(world, {}, starts, controller, ActionSelection::drawn, kSeed));
    EXPECT_NE(once, test::dream_returns(world, {}, starts, controller, ActionSelection::drawn, kSeed + 1));
  }
  const ControllerConfig other{.state = 27, .rules = 6};
  Controller wrong(other, initial_weights(other, 1));
  EXPECT_THROW(test::dream_returns(world, {}, starts, wrong, ActionSelection::drawn, 1), NnError);
}

}  // namespace
}
