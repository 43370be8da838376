#include "learner/ppo/ppo_options.h"

#include <string>

#include "core/base/error.h"

namespace regraft::learner {

void check(const PpoOptions& options) {
  const auto require = [](bool holds, const char* key) {
    if (!holds) throw UsageError("the value is out of range", std::string("ppo.") + key, "");
  };
  require(options.lr > 0, "lr");
  require(options.value_lr >= 0, "value_lr");
  require(options.gamma > 0 && options.gamma <= 1, "gamma");
  require(options.lambda >= 0 && options.lambda <= 1, "lambda");
  require(options.clip > 0, "clip");
  require(options.gradient_norm > 0, "gradient_norm");
  require(options.ratio_limit >= 1, "ratio_limit");
  require(options.epochs >= 1, "epochs");
  require(options.minibatch_steps >= 1, "minibatch_steps");
  require(options.imitation >= 0, "imitation");
  require(options.imitated_episodes >= 1, "imitated_episodes");
}

std::vector<Option> ppo_options() {
  const PpoOptions d;
  return {
      Option("ppo.lr", d.lr, "learning rate of Adam, for policies and for controllers that dream")
          .between(0, 1),
      Option("ppo.value_lr", d.value_lr, "the same for the layers of the value functions; 0: ppo.lr")
          .between(0, 1),
      Option("ppo.gamma", d.gamma, "discount").between(0, 1),
      Option("ppo.lambda", d.lambda, "of generalised advantage estimation, or of V-trace's c").between(0, 1),
      Option("ppo.clip", d.clip, "of the ratio of new to proximal policy, around 1").between(0, 1),
      Option("ppo.value_coefficient", d.value_coefficient, "weight of the value loss").between(0, 100),
      Option("ppo.entropy_coefficient", d.entropy_coefficient, "weight of the entropy bonus").between(0, 10),
      Option("ppo.gradient_norm", d.gradient_norm, "gradients are clipped to this L2 norm")
          .between(1e-6, 1e6),
      Option("ppo.ratio_limit", d.ratio_limit, "of the weight of old data, proximal over behaviour policy")
          .between(1, 100),
      Option("ppo.epochs", d.epochs, "passes over the steps of an update").between(1, 100),
      Option("ppo.minibatch_steps", d.minibatch_steps, "steps of one gradient").between(1, 1 << 16),
      Option("ppo.normalise_advantages", d.normalise_advantages, "to mean 0 and deviation 1 in an update"),
      Option("ppo.normalise_by_model", d.normalise_by_model,
             "each model's by themselves, so that those with little to gain count as much"),
      Option("ppo.imitation", d.imitation,
             "what the best episodes so far count, where they did better than expected, fresh ones being 1")
          .between(0, 100),
      Option("ppo.imitated_episodes", d.imitated_episodes,
             "kept of each model for that; all of them pass through the network in every update")
          .between(1, 16),
      Option("ppo.correction", "decoupled", "of data from older weights").one_of({"decoupled", "v-trace"}),
  };
}

PpoOptions ppo_options_from(const Config& config) {
  PpoOptions options;
  options.lr = config.number("ppo.lr");
  options.value_lr = config.number("ppo.value_lr");
  options.gamma = config.number("ppo.gamma");
  options.lambda = config.number("ppo.lambda");
  options.clip = config.number("ppo.clip");
  options.value_coefficient = config.number("ppo.value_coefficient");
  options.entropy_coefficient = config.number("ppo.entropy_coefficient");
  options.gradient_norm = config.number("ppo.gradient_norm");
  options.ratio_limit = config.number("ppo.ratio_limit");
  options.epochs = static_cast<int>(config.integer("ppo.epochs"));
  options.minibatch_steps = static_cast<int>(config.integer("ppo.minibatch_steps"));
  options.normalise_advantages = config.flag("ppo.normalise_advantages");
  options.normalise_by_model = config.flag("ppo.normalise_by_model");
  options.imitation = config.number("ppo.imitation");
  options.imitated_episodes = static_cast<int>(config.integer("ppo.imitated_episodes"));
  options.correction =
      config.text("ppo.correction") == "v-trace" ? Correction::v_trace : Correction::decoupled;
  return options;
}

}  // namespace regraft::learner
