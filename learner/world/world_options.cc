#include "learner/world/world_options.h"

#include <cmath>

namespace regraft::learner {
namespace {

const BoundOptions<WorldOptions>& table() {
  static const auto options = BoundOptions<WorldOptions>::fixed_on_resume({
      {"world.collect_steps", &WorldOptions::collect_steps, between(1, 1e9),
       "steps of real environments to fit a world model to"},
      {"world.noop", &WorldOptions::noop, between(0, 1), "probability of NO-OP in random rollouts"},
      {"world.random_choices", &WorldOptions::random_choices, between(1, 1024).formerly("world.trials"),
       "a step of a random rollout takes the cheapest of so many random actions; each rollout draws how many "
       "from 1, 2, 4, ... up to this"},
      {"world.rollouts", &WorldOptions::rollouts, any(),
       "file of rollouts that were collected before; they count towards world.collect_steps"},
      {"world.policy", &WorldOptions::policy, any(),
       "bundle (.world) whose controller plays world.on_policy of the episodes"},
      {"world.on_policy", &WorldOptions::on_policy, between(0, 1),
       "share of the episodes that the controller of world.policy plays"},
      {"world.held_out_every", &WorldOptions::held_out_every, between(2, 1e6),
       "one episode in so many is kept for evaluation"},
      {"world.peeks", &WorldOptions::peeks, between(0, 64),
       "legal actions of each state whose cost change the encoder learns"},
      {"world.replay_mib", &WorldOptions::replay_mib, between(1, 1 << 20), "memory for action logs"},
      {"world.spill", &WorldOptions::spill, any(),
       "older action logs go to disk, in the run folder, instead of being dropped"},
      {"world.cache_mib", &WorldOptions::cache_mib, between(0, 1 << 20),
       "memory for the observations of action logs"},
      {"world.encoder", &WorldOptions::encoder, one_of({"cpu", "gpu"}),
       "size of the encoder's graph network"},
      {"world.latent", &WorldOptions::latent, between(1, 1024), "dims of z"},
      {"world.hidden", &WorldOptions::hidden, between(1, 4096), "width of the LSTM"},
      {"world.mixtures", &WorldOptions::mixtures, between(1, 64), "Gaussians of the next z"},
      {"world.action", &WorldOptions::action, between(1, 1024), "dims of an embedded action"},
      {"world.count_bins", &WorldOptions::count_bins, between(1, 16),
       "classes of location counts: 1 to 8 by themselves, then half octaves"},
      {"world.sigma_floor", &WorldOptions::sigma_floor, between(1e-6, 10),
       "least deviation of a Gaussian, in units of z"},
      {"world.encoder_updates", &WorldOptions::encoder_updates, at_least(0), "updates of the encoder"},
      {"world.encoder_states", &WorldOptions::encoder_states, between(2, 1 << 16),
       "states of an update of the encoder"},
      {"world.encoder_learning_rate", &WorldOptions::encoder_learning_rate,
       between(0, 1).formerly("world.encoder_lr"), "learning rate of the encoder"},
      {"world.dynamics_updates", &WorldOptions::dynamics_updates, at_least(0),
       "updates of the recurrent model"},
      {"world.lanes", &WorldOptions::lanes, between(1, 1 << 14),
       "sequences of an update of the recurrent model"},
      {"world.packed", &WorldOptions::packed, any(),
       "a sequence holds short episodes one after another; false: one episode each"},
      {"world.time", &WorldOptions::time, between(1, 1 << 14),
       "steps of each sequence; what an episode has beyond them is not fitted"},
      {"world.learning_rate", &WorldOptions::learning_rate, between(0, 1).formerly("world.lr"),
       "learning rate of the recurrent model"},
      {"world.final_learning_rate", &WorldOptions::final_learning_rate,
       between(0, 1).formerly("world.final_lr"), "what the learning rate of the recurrent model falls to"},
      {"world.learning_rate_power", &WorldOptions::learning_rate_power,
       between(0, 10).formerly("world.lr_power"), "power of the polynomial by which it falls; 0: it stays"},
      {"world.target_noise", &WorldOptions::target_noise, between(0, 10),
       "deviation of the fixed noise on the next z that is learnt"},
      {"world.scheduled_sampling", &WorldOptions::scheduled_sampling,
       between(0, 1).formerly("world.own_latents"),
       "share of the sequences fitted on latents that the model itself drew, as in a dream"},
      {"world.reward_unit", &WorldOptions::reward_unit, between(0, 1e6),
       "rewards are learnt as sign ln(1 + |reward| / this); 0: as they are"},
      {"world.reward_hidden", &WorldOptions::reward_hidden, between(0, 4096),
       "width of a separate reward network; 0: there is none"},
      {"world.reward_updates", &WorldOptions::reward_updates, at_least(0), "updates of the reward network"},
      {"world.reward_learning_rate", &WorldOptions::reward_learning_rate,
       between(0, 1).formerly("world.reward_lr"), "learning rate of the reward network"},
      {"world.evaluate_every", &WorldOptions::evaluate_every, at_least(1),
       "updates between evaluations on held-out episodes"},
  });
  return options;
}

}  // namespace

std::vector<Option> world_options() {
  return table().options();
}

WorldOptions world_options_from(const Config& config) {
  WorldOptions options = table().from(config);
  options.seed = static_cast<std::uint64_t>(config.integer("train.seed"));
  return options;
}

double decayed_rate(const WorldOptions& options, std::uint64_t update) {
  if (options.learning_rate_power == 0) return options.learning_rate;
  const double left = 1 - static_cast<double>(update) / static_cast<double>(options.dynamics_updates);
  return options.final_learning_rate + (options.learning_rate - options.final_learning_rate) *
                                           std::pow(std::max(left, 0.0), options.learning_rate_power);
}

}
