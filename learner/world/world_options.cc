#include "learner/world/world_options.h"

#include <cmath>

namespace regraft::learner {

std::vector<Option> world_options() {
  const WorldOptions d;
  const auto count = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  std::vector<Option> options{
      Option("world.collect_steps", count(d.collect_steps),
             "steps of real environments to fit a world model to")
          .between(1, 1e9),
      Option("world.noop", d.noop, "probability of NO-OP in random rollouts").between(0, 1),
      Option(
          "world.trials", std::int64_t{d.trials},
          "random rollouts take the cheapest of so many random actions; each has 1, 2, 4, ... up to this; 1: "
          "plain random")
          .between(1, 1024),
      Option("world.rollouts", "", "file of rollouts collected before: they count among world.collect_steps"),
      Option("world.policy", "", "bundle (.world) whose controller plays world.on_policy of the episodes"),
      Option("world.on_policy", d.on_policy,
             "share of the episodes that the controller of world.policy plays")
          .between(0, 1),
      Option("world.held_out_every", count(d.held_out_every), "one episode in so many is kept for evaluation")
          .between(2, 1e6),
      Option("world.peeks", count(d.peeks), "legal actions a state whose cost change the encoder learns")
          .between(0, 64),
      Option("world.replay_mib", count(d.replay_mib), "memory for action logs").between(1, 1 << 20),
      Option("world.spill", d.spill, "older action logs go to disk, in the run folder, and not away"),
      Option("world.cache_mib", count(d.cache_mib), "memory for the observations of action logs")
          .between(0, 1 << 20),
      Option("world.encoder", d.encoder.c_str(), "size of the encoder's graph network")
          .one_of({"cpu", "gpu"}),
      Option("world.latent", count(d.latent), "dims of z").between(1, 1024),
      Option("world.hidden", count(d.hidden), "of the LSTM").between(1, 4096),
      Option("world.mixtures", count(d.mixtures), "Gaussians of the next z").between(1, 64),
      Option("world.action", count(d.action), "dims of an embedded action").between(1, 1024),
      Option("world.count_bins", count(d.count_bins),
             "of location counts: 1 to 8 by themselves, then half octaves")
          .between(1, 16),
      Option("world.sigma_floor", d.sigma_floor, "least deviation of a Gaussian, in units of z")
          .between(1e-6, 10),
      Option("world.encoder_updates", count(d.encoder_updates), "updates of the encoder").at_least(0),
      Option("world.encoder_states", count(d.encoder_states), "states of one of them").between(2, 1 << 16),
      Option("world.encoder_lr", d.encoder_lr, "its learning rate").between(0, 1),
      Option("world.dynamics_updates", count(d.dynamics_updates), "updates of the recurrent model")
          .at_least(0),
      Option("world.lanes", count(d.lanes), "sequences of one of them").between(1, 1 << 14),
      Option("world.packed", d.packed,
             "short episodes follow each other in a sequence; else it holds one each"),
      Option("world.time", count(d.time),
             "steps of each sequence; what an episode has beyond them is not fitted")
          .between(1, 1 << 14),
      Option("world.lr", d.lr, "learning rate of the recurrent model").between(0, 1),
      Option("world.final_lr", d.final_lr, "what it falls to").between(0, 1),
      Option("world.lr_power", d.lr_power, "of the polynomial by which it falls; 0: it stays").between(0, 10),
      Option("world.target_noise", d.target_noise, "fixed noise on the next z that is learnt").between(0, 10),
      Option("world.own_latents", d.own_latents,
             "share of the sequences fitted on latents that the model itself drew, as in a dream")
          .between(0, 1),
      Option("world.reward_unit", d.reward_unit,
             "rewards are learnt as sign ln(1 + |reward| / this); 0: as they are")
          .between(0, 1e6),
      Option("world.reward_hidden", count(d.reward_hidden), "width of a reward network apart; 0: none")
          .between(0, 4096),
      Option("world.reward_updates", count(d.reward_updates), "its updates").at_least(0),
      Option("world.reward_lr", d.reward_lr, "its learning rate").between(0, 1),
      Option("world.evaluate_every", count(d.evaluate_every), "updates between held-out figures").at_least(1),
  };
  for (Option& option : options) std::move(option).fixed_on_resume();  // in place
  return options;
}

WorldOptions world_options_from(const Config& config) {
  const auto count = [&](const char* name) { return static_cast<std::uint64_t>(config.integer(name)); };
  const auto small = [&](const char* name) { return static_cast<std::uint32_t>(config.integer(name)); };
  WorldOptions o;
  o.seed = count("train.seed");
  o.collect_steps = count("world.collect_steps");
  o.noop = config.number("world.noop");
  o.trials = small("world.trials");
  o.rollouts = config.text("world.rollouts");
  o.policy = config.text("world.policy");
  o.on_policy = config.number("world.on_policy");
  o.held_out_every = count("world.held_out_every");
  o.peeks = small("world.peeks");
  o.replay_mib = count("world.replay_mib");
  o.spill = config.flag("world.spill");
  o.cache_mib = count("world.cache_mib");
  o.encoder = config.text("world.encoder");
  o.latent = small("world.latent");
  o.hidden = small("world.hidden");
  o.mixtures = small("world.mixtures");
  o.action = small("world.action");
  o.count_bins = small("world.count_bins");
  o.sigma_floor = config.number("world.sigma_floor");
  o.encoder_updates = count("world.encoder_updates");
  o.encoder_states = count("world.encoder_states");
  o.encoder_lr = config.number("world.encoder_lr");
  o.dynamics_updates = count("world.dynamics_updates");
  o.lanes = small("world.lanes");
  o.packed = config.flag("world.packed");
  o.time = small("world.time");
  o.lr = config.number("world.lr");
  o.final_lr = config.number("world.final_lr");
  o.lr_power = config.number("world.lr_power");
  o.target_noise = config.number("world.target_noise");
  o.own_latents = config.number("world.own_latents");
  o.reward_unit = config.number("world.reward_unit");
  o.reward_hidden = small("world.reward_hidden");
  o.reward_updates = count("world.reward_updates");
  o.reward_lr = config.number("world.reward_lr");
  o.evaluate_every = count("world.evaluate_every");
  return o;
}

double decayed_rate(const WorldOptions& options, std::uint64_t update) {
  if (options.lr_power == 0) return options.lr;
  const double left = 1 - static_cast<double>(update) / static_cast<double>(options.dynamics_updates);
  return options.final_lr + (options.lr - options.final_lr) * std::pow(std::max(left, 0.0), options.lr_power);
}

}  // namespace regraft::learner
