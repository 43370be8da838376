#include "learner/controller/dream_options.h"

namespace regraft::learner {

std::vector<Option> dream_options() {
  const DreamPhaseOptions d;
  const DynaOptions y;
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
      Option("dream.certainty", d.certainty,
             "an xfer or location is offered in dreams where it is legal with at least this probability")
          .between(0.5, 0.9999),
      Option("dream.controller", "hierarchical",
             "hierarchical: trained by PPO; linear: a query matched against actions, evolved by separable "
             "CMA-ES")
          .one_of({"hierarchical", "linear"})
          .fixed_on_resume(),
      Option("dream.sigma", d.sigma, "linear: first step size of the evolution")
          .between(1e-6, 100)
          .fixed_on_resume(),
      Option("dream.population", std::int64_t{d.population},
             "linear: candidates of a generation, at least 4; 0: by the number of parameters")
          .between(0, 4096)
          .fixed_on_resume(),
      Option("dyna.updates", static_cast<std::int64_t>(y.updates),
             "phase dyna: updates between gatherings of real episodes")
          .between(1, 1 << 20),
      Option("dyna.episodes", static_cast<std::int64_t>(y.episodes), "real episodes of a gathering, at least")
          .between(1, 1 << 16),
      Option("dyna.branch_steps", std::int64_t{y.branch_steps},
             "steps of a dream that branches off a real episode, at most; fewer while guards say so")
          .between(1, 16),
      Option("dyna.window", std::int64_t{y.window},
             "newest branches of each model that guards judge and dreams begin at")
          .between(1, 4096)
          .fixed_on_resume(),
      Option("dyna.bias", y.bias, "guard: most of predicted minus real return over a branch, either way")
          .between(0, 100),
      Option("dyna.mask_f1", y.mask_f1, "guard: least F1 of dreamt masks over a branch").between(0, 1),
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
          .horizon_mode = config.text("workload.horizon_mode") == "truncate" ? env::HorizonMode::truncate
                                                                             : env::HorizonMode::terminate,
          .tau = config.number("dream.tau"),
          .scale_sigma = config.flag("dream.scale_sigma"),
          .certainty = config.number("dream.certainty"),
          .invalid_penalty = config.number("workload.invalid_penalty"),
          .controller = config.text("dream.controller") == "linear" ? nn::ControllerKind::linear
                                                                    : nn::ControllerKind::hierarchical,
          .width = count("dream.width"),
          .sigma = config.number("dream.sigma"),
          .population = count("dream.population")};
}

DynaOptions dyna_options_from(const Config& config) {
  const auto count = [&](const char* name) { return static_cast<std::uint32_t>(config.integer(name)); };
  return {.updates = count("dyna.updates"),
          .episodes = count("dyna.episodes"),
          .branch_steps = count("dyna.branch_steps"),
          .window = count("dyna.window"),
          .bias = config.number("dyna.bias"),
          .mask_f1 = config.number("dyna.mask_f1")};
}

nn::DreamOptions dream_of(const DreamPhaseOptions& options) {
  nn::DreamOptions dream;
  dream.horizon = options.horizon;
  dream.horizon_mode = options.horizon_mode;
  dream.sample = {.tau = options.tau, .scale_sigma = options.scale_sigma};
  dream.certainty = options.certainty;
  dream.invalid_penalty = options.invalid_penalty;
  return dream;
}

}  // namespace regraft::learner
