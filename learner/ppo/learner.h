#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/config.h"
#include "core/env/observation.h"
#include "core/wire/books.h"
#include "core/wire/counters.h"
#include "learner/job/learner_options.h"
#include "learner/job/run_folder.h"
#include "learner/ppo/lag0_check.h"
#include "learner/ppo/network_options.h"
#include "learner/ppo/ppo_options.h"

namespace regraft::learner {

class LearnerError : public Error {
 public:
  using Error::Error;
};

/// What a learner needs to know of the job.
struct LearnerSetup {
  RunFolder folder;
  LearnerOptions options;
  NetworkOptions network;
  PpoOptions ppo;
  std::string config_toml;  // of the whole job: kept in checkpoints
  std::vector<std::string> model_names;
  env::RuleFeatureTable rule_features;
  std::vector<std::string> rule_names;
  std::string rule_set_hash;
  env::EpisodeLimits limits;  // of the actors' episodes
  std::vector<std::string> op_kind_names;
  bool show_progress = true;  // on standard error
};

/// How a run ended.
struct LearnerSummary {
  std::uint64_t updates = 0;
  // Taken by updates; of these train.trained_share was trained on.
  std::uint64_t episodes = 0;
  std::uint64_t steps = 0;              // of the episodes that updates were made from
  std::uint64_t played_steps = 0;       // of all that actors sent, those too old or too late to train on too
  double seconds = 0;                   // of training, all generations
  double mean_return = 0;               // last 100 episodes
  std::vector<double> best_cost_ratio;  // by model
  std::uint64_t trained_twice = 0;
  std::uint64_t expired = 0;  // admitted, but too old when their turn came
  double policy_steps_per_s = 0, samples_per_s = 0, payload_bytes_per_s = 0;  // of this generation
  double transport_cpu_share = 0;  // of the CPU time of learner and actors, this generation
  Lag0Record lag0;
  wire::JobBooks books;

  std::string to_json(const std::vector<std::string>& model_names) const;
  std::string text(const std::vector<std::string>& model_names) const;
};

/// The learner of a job:
///   hub -> intake (decode, verdict, journal) -> batcher -> PPO -> weights -> hub; beside it curves,
///   checkpoints, policies.
/// It never waits for a particular actor. Made in a run folder that has a checkpoint it goes on from the
/// newest intact one. One thread; the stop token and save() may be used from others.
class Learner {
 public:
  /// Opens journal and sockets, restores the newest checkpoint, publishes the first weights and writes the
  /// run file. Throws WireError (a port in use, a damaged journal), CheckpointError, LearnerError (a fixed
  /// option differs from the checkpoint's).
  Learner(LearnerSetup setup, const Clock& clock);
  ~Learner();

  /// Trains until a limit of the options or a stop; then saves, exports the policy and says goodbye to the
  /// actors.
  LearnerSummary run(const std::stop_token& stopped);

  /// Asks for a checkpoint as soon as the running update is done.
  void save() { save_requested_ = true; }

  std::uint64_t generation() const;

 private:
  struct State;
  double done_share() const;
  bool limit_reached() const;
  void gather(const std::stop_token& stopped);
  void update();
  void publish(std::uint64_t version);
  void write_curves(const PpoMetrics& metrics);
  void checkpoint();
  void restore();
  void export_policy(const std::filesystem::path& path) const;
  void report_progress();
  double seconds() const;
  std::uint64_t played_steps() const;
  LearnerSummary summary() const;

  LearnerSetup setup_;
  const Clock& clock_;
  std::unique_ptr<State> state_;
  std::atomic<bool> save_requested_ = false;
};

}  // namespace regraft::learner
