#include "launch/job/model_based_options.h"

namespace regraft::launch {

const BoundOptions<ModelBasedOptions>& model_based_options() {
  static const BoundOptions<ModelBasedOptions> options({
      {"model_based.rounds", &ModelBasedOptions::rounds, between(1, 1000),
       "phase model-based: rounds of collecting, fitting and dreaming. From the second on, the last "
       "controller plays the share world.on_policy of the new episodes. May be raised when a job is resumed"},
      {"model_based.further_steps", &ModelBasedOptions::further_steps, between(1, 1e9).fixed(),
       "steps that each round after the first adds to world.collect_steps"},
      {"model_based.episodes", &ModelBasedOptions::episodes, between(1, 1000000),
       "real episodes of the controller that is kept, in the evaluation"},
      {"model_based.trajectories", &ModelBasedOptions::trajectories, between(2, 100000),
       "dreams whose actions are taken for real, in the evaluation"},
  });
  return options;
}

}
