#include "learner/dream_options.h"

namespace regraft::learner {

std::vector<Option> dream_options() {
  const DreamPhaseOptions d;
  return {
      Option("dream.world", "", "file of the world model that the phase `dream` learns in").fixed_on_resume(),
      Option("dream.replicas", std::int64_t{d.replicas}, "dreams side by side, the episodes of a ticket")
          .between(1, 4096),
      Option("dream.horizon", std::int64_t{d.horizon},
             "steps of a dream at most; 0: as the world model's data")
          .between(0, 100000),
      Option("dream.tau", d.tau, "temperature of the mixture that dreams are drawn from; 0: its mode")
          .between(0, 100),
      Option("dream.scale_sigma", d.scale_sigma, "deviations times the root of the temperature as well"),
      Option("dream.width", std::int64_t{d.width}, "of the controller's hidden layers")
          .between(1, 4096)
          .fixed_on_resume(),
  };
}

DreamPhaseOptions dream_options_from(const Config& config) {
  const auto count = [&](const char* name) { return static_cast<std::uint32_t>(config.integer(name)); };
  return {.world = config.text("dream.world"),
          .replicas = count("dream.replicas"),
          .horizon = count("dream.horizon"),
          .tau = config.number("dream.tau"),
          .scale_sigma = config.flag("dream.scale_sigma"),
          .width = count("dream.width")};
}

nn::DreamOptions dream_of(const DreamPhaseOptions& options) {
  nn::DreamOptions dream;
  dream.horizon = options.horizon;
  dream.sample = {.tau = options.tau, .scale_sigma = options.scale_sigma};
  return dream;
}

}  // namespace regraft::learner
