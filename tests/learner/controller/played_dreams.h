#pragma once

#include <vector>

#include "core/nn/dream_world.h"
#include "core/nn/inference/device.h"
#include "replay/dream/dream_recorder.h"

namespace regraft::test {

/// Dreams of a random world for so many updates of a controller, all by its first weights; every other one is
/// cut, as Dyna's branches are.
struct PlayedDreams {
  PlayedDreams(std::uint64_t seed, int updates)
      : world(random_world(seed)),
        config({.kind = nn::ControllerKind::hierarchical,
                .state = world.config.dynamics.latent + world.config.dynamics.hidden,
                .rules = world.config.dynamics.rules,
                .locations = world.config.locations,
                .width = 32}),
        start(nn::initial_weights(config, seed)) {
    nn::set_torch_threads(1);
    nn::Controller controller(config, start);
    nn::Dream dream(world, {}, 32);
    nn::DreamPlayer player(dream, controller);
    const std::vector<nn::DreamStart> starts(32, nn::start_of(world.starts.front()));
    for (int update = 0; update < updates; ++update) {
      replay::DreamSegment header;
      header.weight_version = 1;
      header.seed = seed + static_cast<std::uint64_t>(update);
      auto segments = replay::record_dreams(dream, player, starts, header);
      for (std::size_t i = 0; i < segments.size(); i += 2) cut(segments[i]);
      dreams.push_back(std::move(segments));
    }
  }

  nn::WorldModel world;
  nn::ControllerConfig config;
  nn::Weights start;
  std::vector<std::vector<replay::DreamSegment>> dreams;  // by update

 private:
  /// Behind its first step, where it has more.
  static void cut(replay::DreamSegment& segment) {
    if (segment.steps.size() < 2) return;
    segment.next_state = segment.steps[1].state;
    segment.steps.resize(1);
  }
};

}
