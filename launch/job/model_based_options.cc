#include "launch/job/model_based_options.h"

namespace regraft::launch {

std::vector<Option> model_based_options() {
  return {
      Option("model_based.rounds", 2,
             "phase model-based: rounds of collecting, fitting and dreaming; from the second on the last "
             "controller plays world.on_policy of the new episodes; may be raised when a job is resumed")
          .between(1, 1000),
      Option("model_based.further_steps", 3000,
             "steps that each round after the first adds to world.collect_steps")
          .between(1, 1e9)
          .fixed_on_resume(),
      Option(
          "model_based.check_every", 5,
          "updates between the controllers of the last round of which one is kept, the last among them: the "
          "best whose dreams are true; 0: the last one is kept. Dreams export controllers as often, whatever "
          "train.export_every says")
          .between(0, 1e9),
      Option("model_based.check_dreams", 64,
             "dreams of each such controller whose actions are taken for real; they count as its training")
          .between(1, 100000),
      Option("model_based.trust", 0.02,
             "greatest mean of |predicted - real| over these dreams at which a controller is believed")
          .at_least(0),
      Option("model_based.episodes", 20, "real episodes of the controller that is kept, in the evaluation")
          .between(1, 1000000),
      Option("model_based.trajectories", 200, "dreams whose actions are taken for real, in the evaluation")
          .between(2, 100000),
  };
}

}  // namespace regraft::launch
