#pragma once

#include <string>
#include <vector>

namespace regraft::launch::testing {

/// A job of the phase model-based of seconds, on a graph of the synthetic family: what follows `regraft
/// train`.
inline std::vector<std::string> small_model_based(std::vector<std::string> more) {
  std::vector<std::string> words;
  for (const char* setting : {
           "train.phase=model-based",
           "world.collect_steps=200",
           "model_based.further_steps=100",
           "model_based.dreams_per_check=3",
           "model_based.episodes=2",
           "model_based.trajectories=4",
           "world.on_policy=0.8",
           "world.noop=0.1",
           "world.latent=8",
           "world.hidden=16",
           "world.mixtures=2",
           "world.encoder_updates=10",
           "world.encoder_states=32",
           "world.dynamics_updates=20",
           "world.lanes=4",
           "world.time=8",
           "world.scheduled_sampling=0.5",
           "world.reward_unit=0.01",
           "world.evaluate_every=20",
           "train.updates=3",
           "dream.replicas=8",
           "dream.width=16",
           "actors.count=1",
       })
    words.insert(words.end(), {"--set", setting});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}
