#include "learner/job/learner_options.h"

#include "core/base/usage.h"

namespace regraft::learner {

std::vector<Option> learner_options() {
  const LearnerOptions d;
  const auto count = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  return {
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
