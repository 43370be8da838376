#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/wire/delivery.h"
#include "core/wire/ticket_counts.h"
#include "learner/job/job_figures.h"
#include "learner/job/phase_report.h"
#include "learner/job/ticket_result.h"

namespace regraft::learner {

/// How a JobRunner is to treat a phase.
struct PhaseTraits {
  std::string name;     // in checkpoints; one of another name is refused
  bool limited = true;  // by train.updates and train.minutes, and exported every train.export_every updates
  bool lock_step = false;       // every ticket has its place: one that cannot be used ends the job
  std::uint32_t max_parts = 0;  // of a result; 0: the transport's default
  /// With one of them, a thread of its own judges results while update() runs, until so many steps, or else
  /// results, are queued. With neither they are judged between updates.
  std::size_t queued_steps = 0, queued_results = 0;
};

/// A phase's part of a checkpoint.
struct PhaseState {
  nlohmann::json values = nlohmann::json::object();       // what is small, beside the job's own
  std::map<std::string, std::vector<std::byte>> parts{};  // by the names of their files
  std::optional<std::uint64_t> number{};                  // of the checkpoint; nothing: the updates done
};

/// What a job goes on from.
struct PhaseStart {
  TicketResults queued{};            // was admitted, and is to be admitted again
  std::vector<std::byte> weights{};  // for actors, until the next update; empty: they need none
};

/// Where a phase stands between two calls.
struct PhaseStatus {
  bool ready = false;   // there is enough for the next update
  bool done = false;    // all is learned that there is to learn, apart from limits
  bool settled = true;  // save() holds all that was admitted; else a checkpoint goes back to when it did last
};

struct UpdateResult {
  bool made = true;                  // one more update; false: there was none to make
  bool save_now = false;             // a checkpoint is worth its time
  std::vector<std::byte> weights{};  // as PhaseStart's
};

/// What a job learns, and all that differs between kinds of learning; JobRunner does the rest:
///   restore; next_ticket -> actors -> judge -> admit ... ready -> update -> weights -> actors; summary
/// All calls come from one thread but for next_ticket (the hub's) and judge (the intake's).
class Phase {
 public:
  explicit Phase(PhaseTraits traits) : traits_(std::move(traits)) {}
  virtual ~Phase() = default;
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;
  const PhaseTraits& traits() const { return traits_; }

  /// Called once, before all others, with the state of the checkpoint that the job goes on from, after so
  /// many updates; null: it begins. `values` holds the job's own as well. Throws replay::ReplayError,
  /// nn::NnError, CheckpointError, UsageError.
  virtual PhaseStart restore(const PhaseState* saved, std::uint64_t updates) = 0;
  /// Called when an actor asks, on the hub's thread: what it shall do, with the weights published last
  /// (version 0: there are none yet); nothing: no work for it now. It must not wait.
  virtual std::optional<wire::TicketSpec> next_ticket(const wire::ActorInfo& actor,
                                                      std::uint64_t published) = 0;
  /// Called for each delivery, beside update() where the traits ask for a queue: decodes and checks. Throws
  /// replay::ReplayError: it is rejected.
  virtual std::unique_ptr<TicketResult> judge(const wire::Delivery& delivery) = 0;
  /// Called with each result of judge() that was admitted, one after another, until status() is ready: takes
  /// it in, after so many updates.
  virtual void admit(std::unique_ptr<TicketResult> result, std::uint64_t updates) = 0;
  /// Called around all others, often: it must be cheap.
  virtual PhaseStatus status(std::uint64_t updates) const = 0;
  /// Called when status() is ready: makes an update. What it throws ends the process, LearnerError the job.
  virtual UpdateResult update(const JobFigures& job) = 0;

  /// Called every train.checkpoint_minutes, when asked for and at the end, between updates. `queued` was
  /// admitted and is not yet taken in.
  virtual PhaseState save(std::span<const std::unique_ptr<TicketResult>> queued, const JobFigures& job) = 0;
  /// Called after each update, and where none is made every fifth of a second.
  virtual PhaseReport report(const JobFigures& job) = 0;
  /// Called every train.export_every updates, with "update-20", and at the end with "latest": writes what is
  /// learned so far into the run folder.
  virtual void export_as(const std::string& name, const JobFigures& job) = 0;
  /// Called once, where the job has come to its end or was asked to stop, behind save() and export_as().
  virtual PhaseSummary summary(const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const = 0;

 private:
  const PhaseTraits traits_;
};

}
