#include "launch/evaluate/controller_choice_options.h"

namespace regraft::launch {

const BoundOptions<ControllerChoiceOptions>& controller_choice_options() {
  static const BoundOptions<ControllerChoiceOptions> options({
      {"model_based.check_every", &ControllerChoiceOptions::check_every, between(0, 1e9),
       "in the last round, a controller is checked every so many updates and at the end. The best one whose "
       "dreams are trusted is kept; 0: the last one, unchecked. Dreams export controllers as often, whatever "
       "train.export_every says"},
      {"model_based.dreams_per_check", &ControllerChoiceOptions::dreams_per_check,
       between(1, 100000).formerly("model_based.check_dreams"),
       "dreams of each checked controller whose actions are taken for real; they count as its training"},
      {"model_based.trust", &ControllerChoiceOptions::trust, at_least(0),
       "dreams are trusted where their mean of |predicted - real| is at most this"},
  });
  return options;
}

}
