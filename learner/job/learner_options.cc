#include "learner/job/learner_options.h"

#include "core/base/named_by_config.h"

namespace regraft::learner {
namespace {

const BoundOptions<LearnerOptions>& table() {
  static const BoundOptions<LearnerOptions> options({
      {"train.seed", &LearnerOptions::seed, at_least(0).fixed(), "seed of weights, tickets and minibatches"},
      {"train.minutes", &LearnerOptions::minutes, at_least(0),
       "limit in minutes of training, all restarts together; in the phase model-based for each fit and each "
       "dream; 0: none"},
      {"train.updates", &LearnerOptions::updates, at_least(0), "policy updates; 0: no limit"},
      {"train.steps_per_update", &LearnerOptions::steps_per_update, between(0, 1 << 20),
       "fresh steps for one update; 0: train.episodes_per_update instead"},
      {"train.episodes_per_update", &LearnerOptions::episodes_per_update, between(1, 1 << 16).fixed(),
       "fresh episodes for one update, where train.steps_per_update is 0 or train.deterministic is set"},
      {"train.trained_share", &LearnerOptions::trained_share, between(0.01, 1).fixed(),
       "share of an update's episodes that is trained on, drawn at random; the others only count for "
       "ppo.imitation"},
      {"train.staleness", &LearnerOptions::staleness, between(0, 1000),
       "updates that a trajectory may lag behind; one that lags more is dropped"},
      {"train.deterministic", &LearnerOptions::deterministic, any().fixed(),
       "weights depend on the seed alone, not on actors or timing; slower, on one thread of the CPU"},
      {"train.anneal", &LearnerOptions::anneal, any(),
       "learning rate and entropy bonus fall linearly to a tenth at the limit"},
      {"train.device", &LearnerOptions::device, one_of({"auto", "cpu", "cuda"}),
       "where the learner computes, in every phase"},
      {"train.tf32", &LearnerOptions::tf32, any(),
       "on a GPU, matrix products round their factors to 10 bits: errors of 1e-3, little gain "
       "(launch/docs/evidence.md)"},
      {"train.learners", &LearnerOptions::learners, between(1, 64),
       "processes that share each update, in every phase that has gradients; under mpirun the first ranks"},
      {"train.threads", &LearnerOptions::threads, between(1, 1024),
       "threads of the learner's tensor library"},
      {"train.checkpoint_minutes", &LearnerOptions::checkpoint_minutes, between(0.01, 1e6),
       "minutes between checkpoints"},
      {"train.checkpoints_kept", &LearnerOptions::checkpoints_kept, between(1, 1000),
       "newest checkpoints that are kept"},
      {"train.export_every", &LearnerOptions::export_every, at_least(0),
       "updates between exports of the policy, or of a controller's bundle; 0: only at the end"},
      {"wire.port", &LearnerOptions::port, between(0, 65532),
       "TCP port of the learner, which also uses the next three; 0: any free ones"},
      {"wire.address", &LearnerOptions::address, any(),
       "the learner listens here; 0.0.0.0 for several machines"},
      {"wire.plain", &LearnerOptions::plain, any(), "no encryption; on loopback only"},
      {"wire.relay", &LearnerOptions::relay, one_of({"off", "remote", "all"}),
       "where actors of a host share one connection. all: on every host; remote: on hosts without the "
       "learner that have two actors or more"},
      {"wire.ipc", &LearnerOptions::ipc, any(),
       "actors of the learner's host use a socket of that host, not TCP"},
      {"wire.tickets_per_actor", &LearnerOptions::tickets_per_actor, between(1, 1024),
       "episodes an actor may hold"},
      {"wire.outstanding_mib", &LearnerOptions::outstanding_mib, between(16, 1 << 20),
       "memory for results that are under way"},
      {"wire.max_actors", &LearnerOptions::max_actors, between(1, 1 << 16), "actors that may join at a time"},
      {"wire.actor_timeout_s", &LearnerOptions::actor_timeout_s, between(1, 3600),
       "seconds of silence after which an actor's tickets are lost"},
  });
  return options;
}

}  // namespace

std::vector<Option> learner_options() {
  return table().options();
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
  LearnerOptions options = table().from(config);
  if (options.deterministic && options.device == "auto") options.device = "cpu";
  check(options);
  return options;
}

}
