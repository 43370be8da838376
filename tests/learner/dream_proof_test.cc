// The proof that dreams are worth something: a world model fitted to random rollouts, a controller that
// learns in its dreams alone, and what that controller then does to the real graphs.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/base/stats.h"
#include "core/env/synthetic.h"
#include "core/graph/op.h"
#include "core/nn/device.h"
#include "core/nn/encoder.h"
#include "core/nn/internal/mdn_rnn.h"
#include "learner/controller_ppo.h"
#include "learner/dyna.h"
#include "learner/sep_cma_es.h"
#include "replay/dream_recorder.h"
#include "replay/dream_validity.h"
#include "replay/dream_work.h"

namespace regraft::learner {
namespace {

using torch::Tensor;

constexpr std::uint64_t kSeed = 4127;
constexpr std::uint32_t kHorizon = 8;
constexpr std::int64_t kEpisodes = 800, kBatch = 64;
constexpr int kFits = 600, kUpdates = 50;

struct Rollouts {
  std::vector<std::vector<std::vector<float>>> latents;         // [episode][step, the last state too]
  std::vector<std::vector<std::vector<std::uint16_t>>> counts;  // likewise
  std::vector<std::vector<env::Action>> actions;
  std::vector<std::vector<double>> rewards;
  std::vector<double> returns;
};

/// Graphs of the family with one locked chain, and what a controller is compared with.
class Family {
 public:
  Family()
      : options{.chains = 3, .locked = 1, .valley = 1, .rise_us = 1.0, .seed = 5},
        task(env::make_synthetic_task(options)),
        rules(env::make_synthetic_rules(options.valley)),
        costs(env::make_synthetic_costs(options.rise_us)),
        environment(*task.start, rules, costs, {.horizon = kHorizon}, clock) {}
  double optimum() const { return 1 - task.optimal_us / task.initial_us; }
  double greedy() const { return 1 - task.greedy_us / task.initial_us; }

  env::SyntheticOptions options;
  env::SyntheticTask task;
  rules::RuleSet rules;
  env::TableCostFactory costs;
  SystemClock clock;
  env::Environment environment;
};

/// An untrained graph network already tells these small graphs apart.
nn::WorldModel blank_world(const Family& family) {
  nn::WorldModel world;
  const auto xfers = static_cast<std::uint32_t>(family.rules.size() + 1);
  for (std::size_t i = 0; i < graph::kOpKinds; ++i)
    world.op_kinds.emplace_back(graph::op_info(static_cast<graph::OpKind>(i)).name);
  world.config.encoder = {
      .width = 16, .steps = 2, .node_kinds = static_cast<std::uint32_t>(world.op_kinds.size())};
  world.config.dynamics = {
      .latent = 16, .action = 8, .hidden = 64, .mixtures = 2, .xfers = xfers, .sigma_floor = 0.05};
  world.config.locations = 8;
  world.horizon = kHorizon;
  world.location_limit = 200;
  world.rule_set_hash = family.rules.hash().hex();
  world.rule_count = xfers - 1;
  for (std::uint32_t x = 0; x < xfers; ++x) world.xfers.push_back(static_cast<std::uint16_t>(x));
  world.model_names = {"synthetic"};
  world.encoder = {nn::encoder_layout(world.config), nn::initial_weights(world.config.encoder, kSeed).values};
  Rng rng(kSeed, "latent projection");
  const std::size_t all = world.encoder.tensors.back().offset + world.encoder.tensors.back().count;
  while (world.encoder.values.size() < all)
    world.encoder.values.push_back(static_cast<float>(rng.normal() / 4));
  world.latents = {std::vector<float>(16, 0.0f), std::vector<float>(16, 1.0f)};
  return world;
}

Rollouts collect(Family& family, nn::WorldModel& world) {
  Rollouts rollouts;
  nn::Encoder encoder(world);
  Rng rng(kSeed, "collector");
  for (std::int64_t episode = 0; episode < kEpisodes; ++episode) {
    env::Environment& environment = family.environment;
    environment.reset();
    auto& latents = rollouts.latents.emplace_back();
    auto& counts = rollouts.counts.emplace_back();
    auto& actions = rollouts.actions.emplace_back();
    auto& rewards = rollouts.rewards.emplace_back();
    for (;;) {
      latents.push_back(encoder.encode(environment.observation()));
      counts.push_back(nn::world_counts(world, environment.observation()));
      if (environment.done()) break;
      std::vector<std::uint32_t> legal;
      for (std::uint32_t x = 0; x < environment.noop(); ++x)
        if (counts.back()[x] > 0) legal.push_back(x);
      env::Action action{environment.noop(), 0};
      if (!legal.empty() && rng.uniform() > 0.1) {
        action.xfer = legal[rng.below(legal.size())];
        action.location = static_cast<std::uint32_t>(rng.below(counts.back()[action.xfer]));
      }
      actions.push_back(action);
      rewards.push_back(environment.step(action).reward);
    }
    rollouts.returns.push_back(std::accumulate(rewards.begin(), rewards.end(), 0.0));
  }
  return rollouts;
}

/// Freezes the statistics of latents and rewards and writes the start down.
void standardise(nn::WorldModel& world, Rollouts& rollouts) {
  std::vector<double> rewards, sum(16, 0.0), squares(16, 0.0);
  double count = 0;
  for (const auto& episode : rollouts.latents) {
    for (const auto& z : episode) {
      for (std::size_t i = 0; i < 16; ++i) {
        sum[i] += z[i];
        squares[i] += z[i] * z[i];
      }
      ++count;
    }
  }
  for (std::size_t i = 0; i < 16; ++i) {
    world.latents.mean[i] = static_cast<float>(sum[i] / count);
    const double variance = squares[i] / count - sum[i] / count * sum[i] / count;
    world.latents.sd[i] = static_cast<float>(std::sqrt(std::max(variance, 1e-6)));
  }
  for (auto& episode : rollouts.latents)
    for (auto& z : episode)
      for (std::size_t i = 0; i < 16; ++i) z[i] = (z[i] - world.latents.mean[i]) / world.latents.sd[i];
  for (const auto& episode : rollouts.rewards) rewards.insert(rewards.end(), episode.begin(), episode.end());
  const double center = mean(rewards);
  double spread = 0;
  for (const double reward : rewards) spread += (reward - center) * (reward - center);
  world.rewards = {
      static_cast<float>(center), static_cast<float>(std::sqrt(spread / static_cast<double>(rewards.size()))),
      static_cast<float>(std::ranges::min(rewards)), static_cast<float>(std::ranges::max(rewards))};
  world.starts = {{"synthetic", rollouts.latents.front().front(), rollouts.counts.front().front()}};
}

/// All rollouts as tensors [time, episodes].
struct Sequences {
  Tensor z, xfers, locations;
  nn::internal::DynamicsTargets targets;
};

Sequences sequences_of(const nn::WorldModel& world, const Rollouts& rollouts) {
  const std::int64_t time = kHorizon, latent = 16, xfers = world.config.dynamics.xfers;
  Sequences all;
  all.z = torch::zeros({time, kEpisodes, latent});
  all.xfers = torch::zeros({time, kEpisodes}, torch::kInt64);
  all.locations = torch::zeros({time, kEpisodes}, torch::kInt64);
  all.targets = {
      torch::zeros({time, kEpisodes}),        torch::zeros({time, kEpisodes, latent}),
      torch::zeros({time, kEpisodes}),        torch::zeros({time, kEpisodes}),
      torch::zeros({time, kEpisodes, xfers}), torch::zeros({time, kEpisodes, xfers}, torch::kInt64)};
  for (std::int64_t e = 0; e < kEpisodes; ++e) {
    const auto at = static_cast<std::size_t>(e);
    const auto steps = static_cast<std::int64_t>(rollouts.actions[at].size());
    for (std::int64_t t = 0; t < steps; ++t) {
      const auto step = static_cast<std::size_t>(t);
      all.z[t][e] = torch::tensor(rollouts.latents[at][step]);
      all.xfers[t][e] = std::int64_t{rollouts.actions[at][step].xfer};
      all.locations[t][e] = std::int64_t{std::min(rollouts.actions[at][step].location, 7u)};
      all.targets.valid[t][e] = 1;
      all.targets.latent[t][e] = torch::tensor(rollouts.latents[at][step + 1]);
      all.targets.reward[t][e] = (rollouts.rewards[at][step] - world.rewards.mean) / world.rewards.sd;
      all.targets.terminal[t][e] = t + 1 == steps ? 1 : 0;
      for (std::int64_t x = 0; x < xfers; ++x) {
        const std::uint16_t count = rollouts.counts[at][step + 1][static_cast<std::size_t>(x)];
        all.targets.xfers[t][e][x] = count > 0 ? 1 : 0;
        if (count > 0)
          all.targets.counts[t][e][x] = std::int64_t{nn::count_bin(count, world.config.dynamics.count_bins)};
      }
    }
  }
  return all;
}

void fit(nn::WorldModel& world, const Rollouts& rollouts) {
  const nn::DynamicsConfig& config = world.config.dynamics;
  nn::internal::MdnRnn model(config, torch::kCPU);
  model.load(nn::initial_weights(config, kSeed));
  torch::manual_seed(kSeed);
  Tensor xfer_rows = torch::randn({config.xfers, config.action}).requires_grad_(true);
  Tensor location_rows = torch::randn({world.config.locations, config.action}).requires_grad_(true);
  torch::optim::Adam adam({model.parameters().values(), xfer_rows, location_rows},
                          torch::optim::AdamOptions(4e-3));
  const Sequences all = sequences_of(world, rollouts);
  Rng rng(kSeed, "fit");
  for (int step = 0; step < kFits; ++step) {
    for (auto& group : adam.param_groups())
      static_cast<torch::optim::AdamOptions&>(group.options())
          .lr(4e-3 * std::pow(1 - static_cast<double>(step) / kFits, 2) + 1e-4);
    std::vector<std::int64_t> chosen;
    for (std::int64_t i = 0; i < kBatch; ++i)
      chosen.push_back(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(kEpisodes))));
    const Tensor rows = torch::tensor(chosen);
    const auto pick = [&](const Tensor& from) { return from.index_select(1, rows); };
    const Tensor action =
        torch::embedding(xfer_rows, pick(all.xfers)) + torch::embedding(location_rows, pick(all.locations));
    const auto output = model.unroll(pick(all.z), action, torch::zeros({kHorizon, kBatch}));
    const nn::internal::DynamicsTargets& targets = all.targets;
    const auto losses =
        nn::internal::losses(output, {pick(targets.valid), pick(targets.latent), pick(targets.reward),
                                      pick(targets.terminal), pick(targets.xfers), pick(targets.counts)});
    model.parameters().gradients().zero_();
    adam.zero_grad();
    (losses.latent + losses.reward + losses.terminal + losses.xfers + losses.counts).backward();
    model.parameters().values().mutable_grad() = model.parameters().gradients();
    adam.step();
  }
  world.dynamics = {nn::dynamics_layout(world.config), model.store().values};
  for (const Tensor& rows : {xfer_rows, location_rows}) {
    const float* values = rows.data_ptr<float>();
    world.dynamics.values.insert(world.dynamics.values.end(), values, values + rows.numel());
  }
  world.dynamics_of = world.encoder_version();
  world.reward_of = world.dynamics_version();
}

/// Updates in the dream alone.
void learn(nn::WorldBundle& bundle, int updates) {
  const nn::WorldModel& world = bundle.world;
  nn::ControllerFile file;
  file.config = {.state = 80, .xfers = world.config.dynamics.xfers, .locations = 8, .width = 32};
  file.weights = nn::initial_weights(file.config, kSeed);
  ControllerPpo ppo(file.config, file.weights,
                    {.lr = 2e-3, .entropy_coefficient = 0.01, .minibatch_steps = 128}, kSeed);
  nn::Controller controller(file.config, file.weights);
  constexpr std::uint32_t kReplicas = 96;
  nn::Dream dream(world, {}, kReplicas);
  nn::DreamPlayer player(dream, controller);
  const std::vector<nn::DreamStart> starts(kReplicas, nn::start_of(world.starts.front()));
  for (int update = 0; update < updates; ++update) {
    ppo.anneal(1 - 0.9 * update / updates);
    replay::DreamSegment header;
    header.weight_version = ppo.version();
    header.seed = kSeed + static_cast<std::uint64_t>(update);
    ppo.update(replay::record_dreams(dream, player, starts, header));
    controller.set_weights(ppo.weights());
  }
  file.weights = ppo.weights();
  bundle.controller = nn::encode_controller(file);
  bundle.controller_of = world.version();
}

/// Separable CMA-ES in the dream alone, as actors measure candidates.
void evolve(nn::WorldBundle& bundle, int generations) {
  const nn::WorldModel& world = bundle.world;
  nn::ControllerFile file;
  file.config = {
      .kind = nn::ControllerKind::linear, .state = 80, .xfers = world.config.dynamics.xfers, .locations = 8};
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
  bundle.controller = nn::encode_controller(file);
  bundle.controller_of = world.version();
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
    replay::record_episode(family.environment, tracker, controller, nn::Take::drawn, header, &recorder);
    for (replay::Branch& branch : recorder.branches(follower, 0, 4, kHorizon, header.seed))
      branches.push_back(std::move(branch));
  }
  EXPECT_GE(branches.size(), 40u);
  dyna.add(std::move(branches));
  return dyna.branch_steps();
}

TEST(DreamProof, AControllerTrainedInDreamsAloneNearsTheKnownOptimum) {
  SCOPED_TRACE(kSeed);
  nn::set_torch_threads(1);
  Family family;
  nn::WorldModel blank = blank_world(family);
  Rollouts rollouts = collect(family, blank);
  const double random = mean(rollouts.returns);
  nn::WorldBundle bundle{std::move(blank), {}, {}, {}};
  standardise(bundle.world, rollouts);
  fit(bundle.world, rollouts);
  learn(bundle, 0);
  const double untrained =
      mean(replay::play_controller(bundle, family.environment, nn::Take::drawn, 40, kSeed).returns);
  // A controller that does everything: how well dreams rank what differs.
  const replay::DreamValidity wide = replay::measure_validity(bundle, {}, family.environment, 200, kSeed);
  learn(bundle, kUpdates);
  const double drawn =
      mean(replay::play_controller(bundle, family.environment, nn::Take::drawn, 40, kSeed).returns);
  const double best =
      replay::play_controller(bundle, family.environment, nn::Take::most_likely, 1, kSeed).returns[0];
  const replay::DreamValidity validity = replay::measure_validity(bundle, {}, family.environment, 100, kSeed);
  std::printf("optimum %.4f, greedy %.4f, random %.4f, untrained controller %.4f\n", family.optimum(),
              family.greedy(), random, untrained);
  std::printf("untrained: %strained in dreams alone: drawn %.4f, most probable %.4f\n%s",
              describe(wide).c_str(), drawn, best, describe(validity).c_str());
  EXPECT_GT(family.optimum(), family.greedy() + 0.05) << "greedy must fail here";
  EXPECT_GT(best, 0.9 * family.optimum());
  EXPECT_GT(drawn, family.greedy());
  EXPECT_GT(drawn, untrained + 0.1);
  EXPECT_LT(validity.mean_error, 0.04);
  EXPECT_GT(wide.rank_correlation, 0.5);

  nn::WorldBundle evolved{bundle.world, {}, {}, {}};
  evolve(evolved, 40);
  const double linear =
      mean(replay::play_controller(evolved, family.environment, nn::Take::drawn, 40, kSeed).returns);
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

}  // namespace
}  // namespace regraft::learner
