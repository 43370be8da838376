#include "learner/controller/dream_options.h"

namespace regraft::learner {
namespace {

const BoundOptions<DreamPhaseOptions>& dream_table() {
  static const BoundOptions<DreamPhaseOptions> options({
      {"dream.world", &DreamPhaseOptions::world, any().fixed(),
       "file of the world model that the phase `dream` learns in"},
      {"dream.replicas", &DreamPhaseOptions::replicas, between(1, 4096),
       "dreams side by side: the episodes of a ticket"},
      {"dream.horizon", &DreamPhaseOptions::horizon, between(0, 100000),
       "most steps of a dream; 0: as in the world model's data"},
      {"dream.tau", &DreamPhaseOptions::tau, between(0, 100),
       "temperature of the mixture that dreams are drawn from; 0: its mode"},
      {"dream.scale_sigma", &DreamPhaseOptions::scale_sigma, any(),
       "deviations are multiplied by the square root of dream.tau as well"},
      {"dream.legality_threshold", &DreamPhaseOptions::legality_threshold,
       between(0.5, 0.9999).formerly("dream.certainty"),
       "a rule or location is offered in dreams where it is legal with at least this probability"},
      {"dream.controller", &DreamPhaseOptions::controller, any().fixed(),
       "hierarchical: trained by PPO; linear: a query matched against actions, evolved by separable CMA-ES"},
      {"dream.sigma", &DreamPhaseOptions::sigma, between(1e-6, 100).fixed(),
       "linear: first step size of the evolution"},
      {"dream.population", &DreamPhaseOptions::population, between(0, 4096).fixed(),
       "linear: individuals of a generation, at least 4; 0: by the number of parameters"},
      {"dream.width", &DreamPhaseOptions::width, between(1, 4096).fixed(),
       "width of the controller's hidden layers"},
  });
  return options;
}

const BoundOptions<DynaOptions>& dyna_table() {
  static const BoundOptions<DynaOptions> options({
      {"dyna.updates", &DynaOptions::updates, between(1, 1 << 20),
       "phase dyna: updates between gatherings of real episodes"},
      {"dyna.episodes", &DynaOptions::episodes, between(1, 1 << 16), "least real episodes of a gathering"},
      {"dyna.branch_steps", &DynaOptions::branch_steps, between(1, 16),
       "most steps of a dream that branches off a real episode; the guards may allow fewer"},
      {"dyna.window", &DynaOptions::window, between(1, 4096).fixed(),
       "newest branches of each model: the guards judge them, and dreams begin at them"},
      {"dyna.bias", &DynaOptions::bias, between(0, 100),
       "guard: greatest |mean of predicted minus real return| over a branch"},
      {"dyna.mask_f1", &DynaOptions::mask_f1, between(0, 1), "guard: least F1 of dreamt masks over a branch"},
  });
  return options;
}

}  // namespace

std::vector<Option> dream_options() {
  std::vector<Option> all = dream_table().options();
  for (Option& option : dyna_table().options()) all.push_back(std::move(option));
  return all;
}

DreamPhaseOptions dream_options_from(const Config& config) {
  DreamPhaseOptions options = dream_table().from(config);
  assign(options.horizon_mode, config.value("workload.horizon_mode"));
  options.invalid_penalty = config.number("workload.invalid_penalty");
  return options;
}

DynaOptions dyna_options_from(const Config& config) {
  return dyna_table().from(config);
}

nn::DreamOptions dream_of(const DreamPhaseOptions& options) {
  nn::DreamOptions dream;
  dream.horizon = options.horizon;
  dream.horizon_mode = options.horizon_mode;
  dream.sample = {.tau = options.tau, .scale_sigma = options.scale_sigma};
  dream.legality_threshold = options.legality_threshold;
  dream.invalid_penalty = options.invalid_penalty;
  return dream;
}

}
