#include "launch/evaluate/controller_choice_options.h"

namespace regraft::launch {

const BoundOptions<ControllerChoiceOptions>& controller_choice_options() {
  static const BoundOptions<ControllerChoiceOptions> options({
      {"model_based.check_every", &ControllerChoiceOptions::check_every, between(0, 1e9),
       "updates between the controllers of the last round of which one is kept, the last among them. It is "
       "the best whose dreams are true; 0: the last one. Dreams export controllers as often, whatever "
       "train.export_every says"},
      {"model_based.dreams_per_check", &ControllerChoiceOptions::dreams_per_check,
       between(1, 100000).formerly("model_based.check_dreams"),
       "dreams of each such controller whose actions are taken for real; they count as its training"},
      {"model_based.trust", &ControllerChoiceOptions::trust, at_least(0),
       "greatest mean of |predicted - real| over these dreams at which they are trusted"},
  });
  return options;
}

}  // namespace regraft::launch
