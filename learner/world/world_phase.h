#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "core/base/clock.h"
#include "core/wire/books.h"
#include "core/wire/ledger.h"
#include "learner/job/learner_options.h"
#include "learner/job/run_folder.h"
#include "learner/world/world_fit.h"

namespace regraft::learner {

/// Where the phase keeps its results, within a run folder.
struct WorldFolder {
  std::filesystem::path root;

  explicit WorldFolder(const RunFolder& run) : root(run.root / "world") {}
  std::filesystem::path model() const { return root / "model.world"; }
  std::filesystem::path rollouts() const { return root / "collected.rollouts"; }
  std::filesystem::path spill() const { return root / "replay.spill"; }
};

/// What the phase needs to know of the job.
struct WorldPhaseSetup {
  RunFolder folder;
  LearnerOptions options;  // transport, seed, checkpoints
  WorldOptions world;
  WorldContext context;
  std::string config_toml;          // kept in checkpoints
  std::vector<std::string> models;  // as in workload.models, for the file of rollouts
  EnvironmentOf environment_of;     // for replaying what was collected
  bool collect_only = false;
  bool show_progress = true;  // on standard error
};

/// Throws UsageError where a replay forgot episodes before it held `wanted` steps: it would never hold them.
void require_room(const replay::SequenceReplay& replay, std::uint64_t wanted);

/// How the phase ended.
struct WorldPhaseSummary {
  std::uint64_t episodes = 0, steps = 0;  // collected
  std::uint64_t lost_episodes = 0;        // of them, could not be replayed and were left out
  double collect_seconds = 0, replay_seconds = 0, fit_seconds = 0;
  bool finished = false;  // false: stopped before; resume
  std::string fit;        // newest figures
  wire::JobBooks books;

  std::string text() const;
  std::string to_json() const;
};

/// Collects and fits a world model:
///   hub -> action logs -> replay, until there are enough steps; replay -> fit -> RUN/world
/// The replay, and the fit between any two updates, are in the checkpoints; made in a run folder that has one
/// it goes on from there. With train.deterministic tickets are given out in rounds that are taken whole, so
/// that the replay holds the same episodes in the same order for any number of actors, and the fit ends in
/// the same bits, interrupted or not. One thread; the stop token and save() may be used from others.
class WorldPhase {
 public:
  /// Opens journal and sockets, restores the newest checkpoint, writes the run file. Throws as Learner does.
  WorldPhase(WorldPhaseSetup setup, const Clock& clock);
  ~WorldPhase();

  /// Until all is done or a stop; saves, writes RUN/world/{model.world, rollouts, *.csv} when done, and says
  /// goodbye to the actors.
  WorldPhaseSummary run(const std::stop_token& stopped);
  void save() { save_requested_ = true; }
  std::uint64_t generation() const;

 private:
  struct State;
  void restore();
  void take_earlier();
  bool collected() const;
  void collect(const std::stop_token& stopped);
  void take_in(replay::Rollout rollout);
  wire::JournalMark mark();
  void fit(const std::stop_token& stopped);
  void checkpoint();
  void checkpoint_when_due();
  void write_results(const WorldFit* fit) const;
  double seconds_since(std::int64_t start_ns) const;

  WorldPhaseSetup setup_;
  const Clock& clock_;
  std::unique_ptr<State> state_;
  std::atomic<bool> save_requested_ = false;
};

}  // namespace regraft::learner
