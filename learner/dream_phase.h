#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "core/base/clock.h"
#include "core/wire/books.h"
#include "learner/dream_options.h"
#include "learner/lag0_check.h"
#include "learner/options.h"
#include "learner/run_folder.h"
#include "learner/world_context.h"

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

/// How the phase ended. Dreamed and real interactions are counted apart.
struct DreamPhaseSummary {
  bool finished = false;  // a limit was reached; false where it was stopped before
  std::uint64_t updates = 0;
  std::uint64_t dreamed_episodes = 0, real_episodes = 0;  // trained on, as the next two
  std::uint64_t dreamed_steps = 0, real_steps = 0;
  double seconds = 0;                          // of training, all generations
  double dreamed_return = 0, real_return = 0;  // means of the last 500 episodes of each kind
  double first_dreamed_return = 0;             // of the first update
  double steps_per_s = 0;                      // of this generation
  Lag0Record lag0;
  std::uint64_t refused_bundles = 0;            // results refused for a mixture of versions
  std::optional<std::uint64_t> paused_updates;  // dyna: while guards did not let dreams go on
  std::uint32_t branch_steps = 0;               // dyna: of a dream, at last
  wire::JobBooks books;

  std::string to_json() const;
  std::string text() const;
};

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
