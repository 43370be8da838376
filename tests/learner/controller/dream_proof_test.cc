// The proof that dreams are worth something: random rollouts, a world model that WorldFit makes of them, a
// controller that learns in its dreams alone, and what that controller then does to the real graph.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/base/stats.h"
#include "core/env/synthetic.h"
#include "core/graph/op.h"
#include "core/nn/inference/device.h"
#include "core/nn/model/controller_file.h"
#include "learner/controller/controller_ppo.h"
#include "learner/controller/dyna.h"
#include "learner/optimiser/sep_cma_es.h"
#include "learner/world/world_fit.h"
#include "replay/dream/dream_recorder.h"
#include "replay/dream/dream_validity.h"
#include "replay/dream/dream_work.h"
#include "replay/rollout/play.h"

namespace regraft::learner {
namespace {

constexpr std::uint64_t kSeed = 4127;
constexpr std::uint32_t kHorizon = 8;
constexpr std::uint64_t kEpisodes = 800;
constexpr int kUpdates = 50;

/// A graph of the family with one locked chain, and what a controller is compared with.
class Family {
 public:
  Family()
      : options{.chains = 3, .locked = 1, .valley = 1, .rise_us = 1.0, .seed = 5},
        task(env::make_synthetic_task(options)),
        rules(env::make_synthetic_rules(options.valley)),
        costs(env::make_synthetic_costs(options.rise_us)),
        environment(*task.start, rules, costs, {.horizon = kHorizon, .location_limit = 8}, clock) {}
  double optimum() const { return 1 - task.optimal_us / task.initial_us; }
  double greedy() const { return 1 - task.greedy_us / task.initial_us; }

  env::SyntheticOptions options;
  env::SyntheticTask task;
  rules::RuleSet rules;
  env::TableCostFactory costs;
  SystemClock clock;
  env::Environment environment;
};

/// Random rollouts; their mean return.
double collect(Family& family, replay::SequenceReplay& replay) {
  std::vector<double> returns;
  for (std::uint64_t sequence = 0; sequence < kEpisodes; ++sequence) {
    const replay::Rollout rollout =
        replay::play_rollout(family.environment, 0, kSeed + sequence, sequence, replay::random_chooser(0.1));
    double sum = 0;
    for (const replay::RolloutStep& step : rollout.steps) sum += static_cast<double>(step.reward);
    returns.push_back(sum);
    replay.add(rollout);
  }
  return mean(returns);
}

nn::WorldModel fit(Family& family, const replay::SequenceReplay& replay, std::uint64_t seed) {
  WorldContext context;
  context.rule_set_hash = family.rules.hash().hex();
  for (std::size_t i = 0; i < graph::kOpKinds; ++i)
    context.op_kinds.emplace_back(graph::op_info(static_cast<graph::OpKind>(i)).name);
  context.model_names = {"synthetic"};
  context.horizon = kHorizon;
  context.location_limit = 8;
  WorldOptions options;
  options.seed = seed;
  options.latent = 16;
  options.hidden = 64;
  options.mixtures = 2;
  options.action = 8;
  options.encoder_updates = 150;
  options.dynamics_updates = 1600;
  options.lanes = 64;
  options.time = kHorizon;
  options.scheduled_sampling = 0.5;  // these two as configs/world-model.toml has them
  options.reward_unit = 0.01;
  options.evaluate_every = 1600;
  WorldFit fit(context, replay, options,
               [&](std::uint32_t) -> env::Environment& { return family.environment; });
  while (fit.advance()) {
  }
  return fit.world();
}

std::uint32_t state_of(const nn::WorldModel& world) {
  return world.config.dynamics.latent + world.config.dynamics.hidden;
}

void set_controller(nn::WorldBundle& bundle, const nn::ControllerFile& file) {
  bundle.controller = nn::encode_controller(file);
  bundle.controller_of = bundle.world.version();
}

/// Updates in the dream alone. `look` is told how many are done, from none to all.
void learn(nn::WorldBundle& bundle, std::uint64_t seed, const std::function<void(int)>& look) {
  const nn::WorldModel& world = bundle.world;
  nn::ControllerFile file;
  file.config = {.state = state_of(world),
                 .rules = world.config.dynamics.rules,
                 .locations = world.config.locations,
                 .width = 32};
  file.weights = nn::initial_weights(file.config, seed);
  ControllerPpo ppo(file.config, file.weights,
                    {.learning_rate = 2e-3, .entropy_coefficient = 0.01, .minibatch_steps = 128}, seed);
  nn::Controller controller(file.config, file.weights);
  constexpr std::uint32_t kReplicas = 96;
  nn::Dream dream(world, {}, kReplicas);
  nn::DreamPlayer player(dream, controller);
  const std::vector<nn::DreamStart> starts(kReplicas, nn::start_of(world.starts.front()));
  for (int update = 0;; ++update) {
    file.weights = ppo.weights();
    set_controller(bundle, file);
    look(update);
    if (update == kUpdates) return;
    ppo.anneal(1 - 0.9 * update / kUpdates);
    replay::DreamSegment header;
    header.weight_version = ppo.version();
    header.seed = seed + static_cast<std::uint64_t>(update);
    ppo.update(replay::record_dreams(dream, player, starts, header));
    controller.set_weights(ppo.weights());
  }
}

/// Separable CMA-ES in the dream alone, as actors measure candidates.
void evolve(nn::WorldBundle& bundle, int generations) {
  const nn::WorldModel& world = bundle.world;
  nn::ControllerFile file;
  file.config = {.kind = nn::ControllerKind::linear,
                 .state = state_of(world),
                 .rules = world.config.dynamics.rules,
                 .locations = world.config.locations};
  file.weights = nn::initial_weights(file.config, kSeed);
  const std::size_t parameters = nn::query_parameters(file.config);
  SepCmaEs evolution(std::vector<double>(parameters, 0.0), {.sigma = 0.3, .seed = kSeed});
  nn::Controller controller(file.config, file.weights);
  constexpr std::uint32_t kReplicas = 32;
  nn::Dream dream(world, {}, kReplicas);
  nn::DreamPlayer player(dream, controller);
  const std::vector<nn::DreamStart> starts(kReplicas, nn::start_of(world.starts.front()));
  for (int generation = 0; generation < generations; ++generation) {
    std::vector<double> losses;
    for (const std::vector<double>& candidate : evolution.ask()) {
      std::ranges::copy(candidate, file.weights.values.begin());
      controller.set_weights(file.weights);
      const auto measured =
          replay::measure_returns(dream, player, starts, kSeed + static_cast<std::uint64_t>(generation));
      losses.push_back(-std::accumulate(measured.returns.begin(), measured.returns.end(), 0.0));
    }
    evolution.tell(losses);
  }
  std::ranges::copy(evolution.mean(), file.weights.values.begin());
  set_controller(bundle, file);
}

/// How far Dyna's guards let dreams of this world go along real episodes of this controller.
std::uint32_t believed_steps(const nn::WorldModel& world, const nn::WorldBundle& played, Family& family) {
  Dyna dyna({.branch_steps = kHorizon, .window = 80, .bias = 0.02, .mask_f1 = 0.8});
  nn::LatentTracker tracker(world);
  nn::Controller controller = replay::controller_of(played);
  nn::Dream follower(world, {}, 1);
  std::vector<replay::Branch> branches;
  for (std::uint64_t episode = 0; episode < 20; ++episode) {
    replay::BranchRecorder recorder;
    replay::DreamSegment header;
    header.seed = kSeed + episode;
    family.environment.reset();
    replay::record_episode(family.environment, tracker, controller, nn::ActionSelection::drawn, header,
                           &recorder);
    for (replay::Branch& branch : recorder.branches(follower, 0, 4, kHorizon, header.seed))
      branches.push_back(std::move(branch));
  }
  EXPECT_GE(branches.size(), 40u);
  dyna.add(std::move(branches));
  return dyna.branch_steps();
}

/// What the controller of a bundle is, by the return of its drawn episodes.
double drawn_return(const nn::WorldBundle& bundle, Family& family) {
  return mean(
      replay::play_controller(bundle, family.environment, nn::ActionSelection::drawn, 40, kSeed).returns);
}

class DreamProof : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DreamProof, AControllerTrainedInDreamsAloneNearsTheKnownOptimum) {
  const std::uint64_t seed = GetParam();
  SCOPED_TRACE(seed);
  nn::set_torch_threads(1);
  Family family;
  replay::SequenceReplay replay({});
  const double random = collect(family, replay);
  nn::WorldBundle bundle{fit(family, replay, seed), {}, {}, {}};

  // How well dreams rank trajectories is a question where these differ: those of an untrained controller,
  // which does everything. A trained one's are alike; what dreams must rank is how far it has come.
  double untrained = 0;
  replay::DreamValidity wide, trained;
  std::vector<double> predicted, real;
  learn(bundle, seed, [&](int updates) {
    if (updates == 0) untrained = drawn_return(bundle, family);
    if (updates == 0) wide = replay::measure_validity(bundle, {}, family.environment, 200, kSeed);
    if (updates % 10 != 0) return;
    trained = replay::measure_validity(bundle, {}, family.environment, 100, kSeed);
    predicted.push_back(mean(trained.predicted));
    real.push_back(mean(trained.real));
    std::printf("after %d updates: %s", updates, describe(trained).c_str());
  });
  const double drawn = drawn_return(bundle, family);
  const double best =
      replay::play_controller(bundle, family.environment, nn::ActionSelection::most_likely, 1, kSeed)
          .returns[0];
  std::printf("optimum %.4f, greedy %.4f, random %.4f, untrained %.4f: %sdrawn %.4f, most probable %.4f\n",
              family.optimum(), family.greedy(), random, untrained, describe(wide).c_str(), drawn, best);
  EXPECT_GT(family.optimum(), family.greedy() + 0.05) << "greedy must fail here";
  EXPECT_GT(best, 0.9 * family.optimum());
  EXPECT_GT(drawn, family.greedy());
  EXPECT_GT(drawn, untrained + 0.1);
  EXPECT_LT(trained.mean_error, 0.02) << "two points";
  EXPECT_GT(wide.rank_correlation, 0.5);
  EXPECT_GT(spearman(predicted, real), 0.8);

  nn::WorldBundle evolved{bundle.world, {}, {}, {}};
  evolve(evolved, 40);
  const double linear = drawn_return(evolved, family);
  std::printf("linear controller, evolved in dreams alone: %.4f\n", linear);
  EXPECT_GT(linear, random + 0.1);

  nn::WorldModel spoiled = bundle.world;
  for (float& weight : spoiled.dynamics.values) weight = -weight;
  const std::uint32_t believed = believed_steps(bundle.world, bundle, family);
  std::printf("dyna: dreams of %u steps, of a spoiled world model %u\n", believed,
              believed_steps(spoiled, bundle, family));
  EXPECT_GE(believed, 4u);
  EXPECT_EQ(believed_steps(spoiled, bundle, family), 0u) << "dreams pause";
}

INSTANTIATE_TEST_SUITE_P(Seeds, DreamProof, testing::Range<std::uint64_t>(1, 6));

}  // namespace
}
