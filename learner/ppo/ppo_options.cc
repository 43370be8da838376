#include "learner/ppo/ppo_options.h"

namespace regraft::learner {

const BoundOptions<PpoOptions>& ppo_options() {
  static const BoundOptions<PpoOptions> options({
      {"ppo.learning_rate", &PpoOptions::learning_rate, above(0, 1).formerly("ppo.lr"),
       "learning rate of Adam, for policies and for controllers that dream; train.anneal lowers it"},
      {"ppo.value_learning_rate", &PpoOptions::value_learning_rate, between(0, 1).formerly("ppo.value_lr"),
       "the same for the layers of the value functions; 0: ppo.learning_rate"},
      {"ppo.gamma", &PpoOptions::gamma, above(0, 1), "discount"},
      {"ppo.lambda", &PpoOptions::lambda, between(0, 1),
       "decay of generalised advantage estimation, or factor of V-trace's c"},
      {"ppo.clip", &PpoOptions::clip, above(0, 1),
       "PPO's clip range: the ratio of new to proximal policy counts within 1 - clip to 1 + clip"},
      {"ppo.value_coefficient", &PpoOptions::value_coefficient, between(0, 100), "weight of the value loss"},
      {"ppo.entropy_coefficient", &PpoOptions::entropy_coefficient, between(0, 10),
       "weight of the entropy bonus"},
      {"ppo.gradient_norm", &PpoOptions::gradient_norm, between(1e-6, 1e6),
       "gradients are clipped to this L2 norm"},
      {"ppo.ratio_limit", &PpoOptions::ratio_limit, between(1, 100),
       "greatest weight of old data: the ratio of proximal to behaviour policy"},
      {"ppo.epochs", &PpoOptions::epochs, between(1, 100), "passes over the steps of an update"},
      {"ppo.minibatch_steps", &PpoOptions::minibatch_steps, between(1, 1 << 16), "steps of one gradient"},
      {"ppo.normalise_advantages", &PpoOptions::normalise_advantages, any(),
       "advantages are scaled to mean 0 and deviation 1 in an update"},
      {"ppo.normalise_by_model", &PpoOptions::normalise_by_model, any(),
       "each model's advantages are scaled by themselves, so that models with little to gain count as much"},
      {"ppo.imitation", &PpoOptions::imitation, between(0, 100),
       "weight of the best episodes so far, where they did better than expected; fresh episodes have 1"},
      {"ppo.imitated_episodes", &PpoOptions::imitated_episodes, between(1, 16),
       "best episodes of each model that are kept for ppo.imitation"},
      {"ppo.imitated_models", &PpoOptions::imitated_models, between(1, 4096),
       "most models whose best episodes an update trains on; of more, so many are drawn at random"},
      {"ppo.correction", &PpoOptions::correction, any(), "how data from older weights is corrected"},
  });
  return options;
}

}
