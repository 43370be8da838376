#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "core/base/clock.h"
#include "learner/controller/dream_options.h"
#include "learner/controller/dream_summary.h"
#include "learner/job/learner_options.h"
#include "learner/job/run_folder.h"
#include "learner/ppo/ppo_options.h"
#include "learner/world/world_context.h"

namespace regraft::learner {

struct DreamPhaseSetup {
  RunFolder folder;
  LearnerOptions options;
  PpoOptions ppo;
  DreamPhaseOptions dream;
  std::optional<DynaOptions> dyna;  // the phase `dyna`
  std::string config_toml;          // of the whole job: kept in checkpoints
  WorldContext job;                 // the world model must belong to it
  bool show_progress = true;        // on standard error
};

/// Throws UsageError where options of the phases `dream` and `dyna` do not go together.
void check_dream_options(const LearnerOptions& options, const DreamPhaseOptions& dream, bool dyna);

/// The learner of the phases `dream` and `dyna`:
///   hub -> decode, verdict, journal -> DreamTrainer -> bundle {world, controller, work} -> hub
/// Trained by PPO, episodes come from dream actors and from actors in real environments, in any mixture, or
/// as Dyna says; a linear controller is evolved in dreams alone. Made in a run folder that has a checkpoint
/// it goes on from the newest intact one. Bundles are exported as policies every n updates and at the end.
/// One thread; the stop token and save() may be used from others.
class DreamPhase {
 public:
  /// Opens journal and sockets, restores the newest checkpoint, publishes the first bundle and writes the run
  /// file. Throws WireError, CheckpointError, NnError (no world model, one of other rules).
  DreamPhase(DreamPhaseSetup setup, const Clock& clock);
  ~DreamPhase();

  /// Trains until a limit of the options or a stop; then saves, exports the bundle and says goodbye.
  DreamPhaseSummary run(const std::stop_token& stopped);
  /// Asks for a checkpoint as soon as the running update is done.
  void save() { save_requested_ = true; }
  std::uint64_t generation() const;

 private:
  struct State;

  double seconds() const;
  double done_share() const;
  bool limit_reached() const;
  void gather(const std::stop_token& stopped);
  void update();
  void publish();
  void export_bundle(const std::string& name);
  void note_trained();
  void checkpoint();
  void restore();
  void report_progress();
  bool ready() const;
  const char* phase() const { return setup_.dyna ? "dyna" : "dream"; }
  DreamPhaseSummary summary() const;

  DreamPhaseSetup setup_;
  const Clock& clock_;
  std::unique_ptr<State> state_;
  std::atomic<bool> save_requested_ = false;
};

}  // namespace regraft::learner
