#pragma once

#include "core/nn/inference/dream.h"

namespace regraft::test {

/// Plays one episode from each start, all side by side, to the end; returns, in the starts' order.
inline std::vector<double> dream_returns(const nn::WorldModel& world, const nn::DreamOptions& options,
                                         std::span<const nn::DreamStart> starts, nn::Controller& controller,
                                         nn::ActionSelection selection, std::uint64_t seed) {
  const auto replicas = static_cast<std::uint32_t>(starts.size());
  nn::Dream dream(world, options, replicas);
  nn::DreamPlayer player(dream, controller);
  for (std::uint32_t replica = 0; replica < replicas; ++replica) {
    dream.reset(replica, starts[replica], seed + replica);
    player.reset(replica, seed + replica);
  }
  std::vector<double> returns(replicas, 0.0);
  const auto any_running = [&] {
    for (std::uint32_t replica = 0; replica < replicas; ++replica)
      if (!dream.done(replica)) return true;
    return false;
  };
  while (any_running()) {
    player.choose(selection);
    const std::span<const nn::DreamStep> results = dream.step(player.actions());
    for (std::uint32_t replica = 0; replica < replicas; ++replica)
      returns[replica] += results[replica].reward;
  }
  return returns;
}

}
