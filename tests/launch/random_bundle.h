#pragma once

#include <cstdint>

#include "core/graph/op_kind_names.h"
#include "core/nn/dream_world.h"
#include "core/nn/model/controller_file.h"
#include "core/nn/model/world_bundle.h"
#include "core/rules/set/rule_set.h"

namespace regraft::launch::testing {

/// A world model of random weights that belongs to these rules, and a controller of it.
inline nn::WorldBundle random_bundle(std::uint64_t seed, const rules::RuleSet& rules, std::uint32_t horizon,
                                     std::uint32_t locations) {
  nn::WorldModel world =
      test::random_world(seed, static_cast<std::uint32_t>(rules.size() + 1), 0, graph::op_kind_names());
  world.rule_set_hash = rules.hash().hex();
  world.horizon = horizon;
  world.location_limit = locations;
  nn::ControllerConfig config;
  config.state = world.config.dynamics.latent + world.config.dynamics.hidden;
  config.rules = world.config.dynamics.rules;
  config.locations = world.config.locations;
  nn::WorldBundle bundle{world, {}, {}, {}};
  bundle.controller = nn::encode_controller({config, nn::initial_weights(config, seed)});
  bundle.controller_of = world.version();
  return bundle;
}

}
