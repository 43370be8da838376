#include "learner/options.h"

#include "core/base/usage.h"

namespace regraft::learner {

std::vector<Option> learner_options() {
  const LearnerOptions d;
  const auto count = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  std::vector<Option> options{
      Option(
          "train.phase", "ppo",
          "ppo: a policy in real environments; collect: random rollouts to disk; world-model: these, and a "
          "world model fitted to them; dream: a controller in that model (dream.world); model-based: all of "
          "it, "
          "in rounds, and an evaluation; dyna: real episodes and short dreams that branch off them")
          .one_of({"ppo", "collect", "world-model", "dream", "model-based", "dyna"})
          .fixed_on_resume(),
      Option("train.seed", 0, "seed of weights, tickets and minibatches").at_least(0).fixed_on_resume(),
      Option("train.minutes", d.minutes, "minutes of training, all restarts together; 0: no limit")
          .at_least(0),
      Option("train.updates", count(d.updates), "policy updates; 0: no limit").at_least(0),
      Option("train.steps_per_update", count(d.steps_per_update),
             "fresh steps for one update; 0: train.episodes_per_update instead")
          .between(0, 1 << 20),
      Option("train.episodes_per_update", count(d.episodes_per_update),
             "the same in episodes; what counts with train.deterministic")
          .between(1, 1 << 16)
          .fixed_on_resume(),
      Option("train.trained_share", d.trained_share,
             "of these, whole episodes drawn at random; the others only count for ppo.imitation")
          .between(0.01, 1)
          .fixed_on_resume(),
      Option("train.staleness", count(d.staleness),
             "updates that a trajectory may lag behind; beyond it is dropped")
          .between(0, 1000),
      Option("train.deterministic", d.deterministic,
             "weights depend on the seed alone, not on actors and timing; slower; one thread of the CPU")
          .fixed_on_resume(),
      Option("train.anneal", d.anneal,
             "learning rate and entropy bonus fall linearly to a tenth at the limit"),
      Option("train.device", d.device.c_str(),
             "where the learner computes; other phases than ppo: on the CPU alone")
          .one_of({"auto", "cpu", "cuda"}),
      Option("train.threads", d.threads, "threads of the learner's tensor library").between(1, 1024),
      Option("train.checkpoint_minutes", d.checkpoint_minutes, "between checkpoints").between(0.01, 1e6),
      Option("train.checkpoints_kept", count(d.checkpoints_kept), "newest checkpoints that are kept")
          .between(1, 1000),
      Option("train.export_every", count(d.export_every),
             "updates between exported policies, or bundles of a controller; 0: only at the end")
          .at_least(0),
      Option("wire.port", d.port, "of the learner, the two after it are used too; 0: free ones")
          .between(0, 65533),
      Option("wire.address", d.address.c_str(), "the learner listens here; 0.0.0.0 for several machines"),
      Option("wire.plain", d.plain, "no encryption; on loopback only"),
      Option("wire.tickets_per_actor", count(d.tickets_per_actor), "episodes an actor may hold")
          .between(1, 1024),
      Option("wire.outstanding_mib", count(d.outstanding_mib), "memory for results that are under way")
          .between(16, 1 << 20),
      Option("wire.actor_timeout_s", d.actor_timeout_s, "silence after which an actor's tickets are lost")
          .between(1, 3600),
  };
  for (auto more : {network_options(), ppo_options()})
    for (Option& option : more) options.push_back(std::move(option));
  return options;
}

std::vector<Option> network_options() {
  const NetworkOptions d;
  return {
      Option("network.preset", d.preset.c_str(), "size of the policy network")
          .one_of({"cpu", "gpu", "seeds"})
          .fixed_on_resume(),
      Option("network.head", std::string(nn::head_name(d.head)).c_str(),
             "one softmax over all rewrites, or first the rule and then its location")
          .one_of({"pointer", "hierarchical"})
          .fixed_on_resume(),
      Option("network.width", 0, "of every embedding, a multiple of 8; 0: the preset's")
          .between(0, 512)
          .fixed_on_resume(),
      Option("network.steps", 0, "of message passing; 0: the preset's").between(0, 16).fixed_on_resume(),
      Option("network.head_width", 0, "of a hierarchical head's hidden layers; 0: the preset's")
          .between(0, 512)
          .fixed_on_resume(),
  };
}

nn::NetworkConfig network_config(const NetworkOptions& options, std::size_t node_kinds,
                                 std::size_t rule_count) {
  nn::NetworkConfig network = nn::preset(options.preset, static_cast<std::uint32_t>(node_kinds));
  network.head = options.head;
  if (options.width != 0) network.width = options.width;
  if (options.steps != 0) network.steps = options.steps;
  if (options.head_width != 0) network.head_width = options.head_width;
  network.everywhere = options.everywhere;
  if (network.head == nn::Head::hierarchical) network.xfers = static_cast<std::uint32_t>(rule_count + 1);
  nn::check(network);
  return network;
}

NetworkOptions network_options_from(const Config& config) {
  const auto count = [&](const char* name) { return static_cast<std::uint32_t>(config.integer(name)); };
  return {.preset = config.text("network.preset"),
          .head = nn::head_from_name(config.text("network.head")),
          .width = count("network.width"),
          .steps = count("network.steps"),
          .head_width = count("network.head_width")};
}

std::vector<Option> ppo_options() {
  const PpoOptions d;
  return {
      Option("ppo.lr", d.lr, "learning rate of Adam").between(0, 1),
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

void check(const LearnerOptions& options) {
  if (!options.deterministic) return;
  if (options.threads > 1)
    throw UsageError("sums depend on the number of threads, so several are not deterministic",
                     "train.threads", "set it to 1, or leave out train.deterministic");
  if (options.device == "cuda")
    throw UsageError("a GPU is not deterministic", "train.device",
                     "use cpu or auto, or leave out train.deterministic");
}

LearnerOptions learner_options_from(const Config& config) {
  const auto count = [&](const char* name) { return static_cast<std::uint64_t>(config.integer(name)); };
  LearnerOptions options;
  options.seed = count("train.seed");
  options.minutes = config.number("train.minutes");
  options.updates = count("train.updates");
  options.steps_per_update = count("train.steps_per_update");
  options.episodes_per_update = count("train.episodes_per_update");
  options.trained_share = config.number("train.trained_share");
  options.staleness = count("train.staleness");
  options.deterministic = config.flag("train.deterministic");
  options.anneal = config.flag("train.anneal");
  options.device = config.text("train.device");
  options.threads = static_cast<int>(config.integer("train.threads"));
  options.checkpoint_minutes = config.number("train.checkpoint_minutes");
  options.checkpoints_kept = count("train.checkpoints_kept");
  options.export_every = count("train.export_every");
  options.network = network_options_from(config);
  options.port = static_cast<std::uint16_t>(config.integer("wire.port"));
  options.address = config.text("wire.address");
  options.plain = config.flag("wire.plain");
  options.tickets_per_actor = count("wire.tickets_per_actor");
  options.outstanding_mib = count("wire.outstanding_mib");
  options.actor_timeout_s = config.number("wire.actor_timeout_s");
  if (options.deterministic && options.device == "auto") options.device = "cpu";
  check(options);
  return options;
}

}  // namespace regraft::learner
