#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/nn/model/world_model.h"

namespace regraft::test {

/// A world model with random weights that holds together: what it dreams means nothing, but obeys the
/// contract.
inline nn::WorldModel random_world(std::uint64_t seed, std::uint32_t rules = 6,
                                   std::uint32_t reward_hidden = 0,
                                   std::vector<std::string> op_kinds = {"Relu", "Add"}) {
  nn::WorldModel world;
  world.config.encoder = {
      .width = 16, .steps = 1, .node_kinds = static_cast<std::uint32_t>(op_kinds.size() + 2)};
  world.config.dynamics = {
      .latent = 5, .action = 3, .hidden = 21, .mixtures = 3, .rules = rules, .count_bins = 6};
  world.config.locations = 8;
  world.config.reward_hidden = reward_hidden;
  world.horizon = 12;
  world.location_limit = 20;
  world.op_kinds = std::move(op_kinds);
  world.rule_set_hash = "abc";
  world.rule_count = rules - 1;
  for (std::uint32_t x = 0; x + 1 < rules; ++x) world.rules.push_back(static_cast<std::uint16_t>(x));
  world.rules.push_back(static_cast<std::uint16_t>(world.rule_count));
  world.model_names = {"net"};
  const auto random = [&](std::vector<nn::TensorSpec> layout, const char* stream, double size) {
    nn::Weights weights{std::move(layout), {}};
    if (weights.tensors.empty()) return weights;
    weights.values.resize(weights.tensors.back().offset + weights.tensors.back().count);
    Rng rng(seed, stream);
    for (float& value : weights.values) value = static_cast<float>(size * rng.normal());
    return weights;
  };
  world.encoder = random(nn::encoder_layout(world.config), "encoder", 0.2);
  world.latents = {std::vector<float>(5, 0.0f), std::vector<float>(5, 1.0f)};
  world.dynamics = random(nn::dynamics_layout(world.config), "dynamics", 0.6);
  world.dynamics_of = world.encoder_version();
  world.reward = random(nn::reward_layout(world.config), "reward", 0.6);
  world.reward_of = world.dynamics_version();
  world.rewards = {0.01f, 0.2f, -0.3f, 0.4f};
  nn::WorldStart start{"net", {0.5f, -1, 0.2f, 1, 0}, std::vector<std::uint16_t>(rules, 0)};
  for (std::uint32_t x = 0; x + 1 < rules; x += 2) start.counts[x] = static_cast<std::uint16_t>(1 + x);
  start.counts.back() = 1;
  world.starts = {start};
  return world;
}

/// A random world in which every rule is nearly always legal and nothing ends by itself: an episode goes on
/// to NO-OP or the horizon.
inline nn::WorldModel endless_world(std::uint64_t seed, std::uint32_t rules = 6) {
  nn::WorldModel world = random_world(seed, rules);
  const nn::DynamicsConfig& dynamics = world.config.dynamics;
  const std::size_t terminal = dynamics.mixtures * (2 * std::size_t{dynamics.latent} + 1) + 1;
  const auto bias = world.dynamics.tensor("head.bias");
  bias[terminal] = -20;
  for (std::uint32_t rule = 0; rule < rules; ++rule) bias[terminal + 1 + rule] = 5;
  world.reward_of = world.dynamics_version();
  return world;
}

}
