#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/wire/ticket_counts.h"
#include "learner/job/curve_point.h"
#include "learner/job/job_figures.h"
#include "learner/job/job_hub.h"
#include "learner/job/learner_options.h"
#include "learner/job/phase.h"
#include "learner/job/phase_report.h"
#include "learner/job/run_folder.h"
#include "learner/job/update_sharing.h"

namespace regraft::learner {

/// What the learner of any phase needs to know of the job.
struct JobSetup {
  RunFolder folder;
  LearnerOptions options;
  std::string config_toml;    // of the whole job: kept in checkpoints
  bool show_progress = true;  // on standard error
  JoinLearners join{};        // the learners that share the updates; null: it learns alone
};

/// How a run ended.
struct JobSummary {
  std::uint64_t updates = 0;
  bool finished = false;  // a limit was reached, or the phase is done; false: it was stopped before
  bool sound = true;      // ticket counts balance, and the phase found no contradiction
  std::string json{};     // as in RUN/summary.json
  std::string text{};     // for people
  wire::JobTicketCounts ticket_counts{};
};

/// The learner of a job, whatever its phase learns:
///   hub -> intake (judge, verdict, journal) -> phase -> weights -> hub
/// beside it checkpoints, curves, exports, progress, and a summary at the end. It never waits for a
/// particular actor. Made in a run folder that has a checkpoint it goes on from the newest intact one. One
/// thread; the stop token and save() may be used from others.
class JobRunner {
 public:
  /// Opens journal and sockets, restores the newest checkpoint, publishes the first weights and writes the
  /// run file. Throws WireError (a port in use, a damaged journal), CheckpointError, and what the phase's
  /// restore() throws. The clock outlives it. `make_hub`: another than listening_hub().
  JobRunner(JobSetup setup, std::unique_ptr<Phase> phase, const Clock& clock, MakeHub make_hub = {});
  ~JobRunner();

  /// Works until a limit of the options, until the phase is done or a stop; then saves, exports and says
  /// goodbye to the actors. Throws LearnerError where a restart would not help, and what the phase throws.
  JobSummary run(const std::stop_token& stopped);

  /// Asks for a checkpoint as soon as the running update is done.
  void save() { save_requested_ = true; }

  std::uint64_t generation() const;

 private:
  struct State;
  double seconds() const;
  double done_share() const;
  bool finished() const;
  JobFigures figures(bool ending = false) const;
  PhaseStatus status() const;
  void gather(const std::stop_token& stopped);
  void update();
  void publish(std::vector<std::byte> weights);
  void write(const CurvePoint& point);
  void show(const PhaseProgress& line);
  void checkpoint_when_due();
  void checkpoint();
  void shorten_journal();
  PhaseStart restore();

  JobSetup setup_;
  const Clock& clock_;
  std::unique_ptr<Phase> phase_;
  const PhaseTraits& traits_;
  std::unique_ptr<State> state_;
  std::atomic<bool> save_requested_ = false;
};

}
