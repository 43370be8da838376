#include "learner/ppo_options.h"

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

}  // namespace regraft::learner
