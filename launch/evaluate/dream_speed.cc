#include "launch/evaluate/dream_speed.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "core/base/resource_usage.h"
#include "core/nn/inference/dream.h"

namespace regraft::launch {
namespace {

constexpr double kUsPerS = 1e6;
constexpr std::uint32_t kStandInHorizon = 100, kStandInLocations = 200;
constexpr float kLegal = 1, kIllegal = -1.5f, kNotTerminal = -8;  // biases of logits
constexpr double kLegalShare = 0.1;                               // of the rules

nn::Weights filled(std::vector<nn::TensorSpec> layout, Rng& rng) {
  nn::Weights weights{std::move(layout), {}};
  if (weights.tensors.empty()) return weights;
  weights.values.resize(weights.tensors.back().offset + weights.tensors.back().count);
  for (float& value : weights.values) value = static_cast<float>(rng.uniform(-0.1, 0.1));
  return weights;
}

class Dreamer {
 public:
  Dreamer(const nn::WorldModel& world, std::uint32_t replicas, std::uint64_t seed)
      : start_(nn::start_of(world.starts.front())),
        dream_(world, {}, replicas),
        config_{.state = static_cast<std::uint32_t>(dream_.state(0).size()),
                .rules = dream_.noop() + 1,
                .locations = world.config.locations},
        controller_(config_, nn::initial_weights(config_, seed)),
        player_(dream_, controller_),
        next_seed_(seed) {
    refill();
    episodes_ = 0;
  }

  void refill() {
    for (std::uint32_t replica = 0; replica < dream_.replicas(); ++replica) {
      if (!dream_.done(replica)) continue;
      dream_.reset(replica, start_, next_seed_);
      player_.reset(replica, next_seed_++);
      ++episodes_;
    }
  }
  void choose() { player_.choose(nn::ActionSelection::drawn); }
  void step() { dream_.step(player_.actions()); }
  std::uint64_t episodes() const { return episodes_; }

 private:
  nn::DreamStart start_;
  nn::Dream dream_;
  nn::ControllerConfig config_;
  nn::Controller controller_;
  nn::DreamPlayer player_;
  std::uint64_t next_seed_, episodes_ = 0;
};

}  // namespace

nn::WorldModel stand_in_world(std::uint32_t rules, std::uint64_t seed) {
  nn::WorldModel world;
  world.config.encoder = {.width = 16, .steps = 1, .node_kinds = 1};
  world.config.dynamics.rules = rules;
  world.horizon = kStandInHorizon;
  world.location_limit = kStandInLocations;
  world.op_kinds = {"Relu"};
  world.rule_count = rules - 1;
  for (std::uint32_t x = 0; x < rules; ++x) world.rules.push_back(static_cast<std::uint16_t>(x));
  world.model_names = {"stand-in"};
  Rng rng(seed, "stand-in world");
  world.encoder = filled(nn::encoder_layout(world.config), rng);
  world.dynamics = filled(nn::dynamics_layout(world.config), rng);
  const nn::DynamicsConfig& config = world.config.dynamics;
  const auto bias = world.dynamics.tensor("head.bias");
  const std::size_t terminal = config.mixtures * (2 * std::size_t{config.latent} + 1) + 1;
  bias[terminal] = kNotTerminal;
  for (std::size_t x = 0; x < rules; ++x)
    bias[terminal + 1 + x] = x == 0 || rng.uniform() < kLegalShare ? kLegal : kIllegal;
  world.latents = {std::vector<float>(config.latent, 0.0f), std::vector<float>(config.latent, 1.0f)};
  world.dynamics_of = world.encoder_version();
  world.reward_of = world.dynamics_version();
  world.rewards = {0, 1, -1, 1};
  world.starts = {
      {"stand-in", std::vector<float>(config.latent, 0.0f), std::vector<std::uint16_t>(rules, 3)}};
  world.starts.front().counts.back() = 1;
  return world;
}

DreamSpeed measure_dream(const nn::WorldModel& world, std::uint32_t replicas, std::uint64_t steps,
                         std::uint64_t seed, const Clock& clock) {
  const nn::DynamicsConfig& config = world.config.dynamics;
  DreamSpeed speed;
  speed.replicas = replicas;
  speed.rules = config.rules;
  speed.latent = config.latent;
  speed.hidden = config.hidden;
  speed.mixtures = config.mixtures;
  speed.seed = seed;
  Dreamer dreamer(world, replicas, seed);
  std::int64_t choosing_ns = 0, stepping_ns = 0, resetting_ns = 0;
  const double cpu_start = cpu_seconds();
  while (speed.steps < steps) {
    const std::int64_t start = clock.steady_ns();
    dreamer.choose();
    const std::int64_t chosen = clock.steady_ns();
    dreamer.step();
    const std::int64_t stepped = clock.steady_ns();
    dreamer.refill();
    choosing_ns += chosen - start;
    stepping_ns += stepped - chosen;
    resetting_ns += clock.steady_ns() - stepped;
    speed.steps += replicas;
  }
  const double cpu_us = (cpu_seconds() - cpu_start) * kUsPerS;
  const auto count = static_cast<double>(speed.steps);
  const auto wall_ns = static_cast<double>(choosing_ns + stepping_ns + resetting_ns);
  const auto part = [&](std::int64_t ns) { return cpu_us / count * static_cast<double>(ns) / wall_ns; };
  speed.episodes = dreamer.episodes();
  speed.us_per_step = cpu_us / count;
  speed.wall_us_per_step = wall_ns / 1000 / count;
  speed.controller_us_per_step = part(choosing_ns);
  speed.world_us_per_step = part(stepping_ns);
  speed.reset_us_per_step = part(resetting_ns);
  return speed;
}

std::string describe(const DreamSpeed& speed) {
  std::ostringstream out;
  out.precision(3);
  out << speed.world << ": " << speed.us_per_step << " us a step by CPU time (" << speed.wall_us_per_step
      << " by the clock), " << speed.replicas << " replicas, " << speed.steps << " steps, " << speed.episodes
      << " episodes ended\n"
      << "  z " << speed.latent << ", LSTM " << speed.hidden << ", " << speed.mixtures << " Gaussians, "
      << speed.rules << " rules\n"
      << "  world model " << speed.world_us_per_step << " us, controller " << speed.controller_us_per_step
      << " us, resets " << speed.reset_us_per_step << " us\n";
  return out.str();
}

nlohmann::json to_json(const DreamSpeed& speed) {
  return {{"world", speed.world},
          {"batch", speed.replicas},
          {"rules", speed.rules},
          {"latent", speed.latent},
          {"hidden", speed.hidden},
          {"mixtures", speed.mixtures},
          {"steps", speed.steps},
          {"episodes", speed.episodes},
          {"seed", speed.seed},
          {"us_per_step", speed.us_per_step},
          {"wall_us_per_step", speed.wall_us_per_step},
          {"parts_us",
           {{"world_model", speed.world_us_per_step},
            {"controller", speed.controller_us_per_step},
            {"reset", speed.reset_us_per_step}}}};
}

}
