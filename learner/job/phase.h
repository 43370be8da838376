#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/wire/counters.h"
#include "core/wire/delivery.h"
#include "core/wire/hub.h"
#include "core/wire/ticket_counts.h"

namespace regraft::learner {

/// What a phase read from one delivery; it adds to this what it wants to keep.
struct TicketResult {
  virtual ~TicketResult() = default;
  std::uint64_t steps = 0;
  std::optional<std::uint64_t> weight_version;  // it was acted with; nothing: it is never stale
};
using TicketResults = std::vector<std::unique_ptr<TicketResult>>;

/// Deliveries of this generation, and what is queued now.
struct IntakeCounts {
  std::uint64_t admitted = 0, stale = 0, rejected = 0;
  std::uint64_t steps = 0;                             // of admitted results
  std::uint64_t played_steps = 0;                      // of all that could be read, whatever the verdict
  std::uint64_t payload_bytes = 0;                     // of all deliveries
  std::uint64_t queued_results = 0, queued_steps = 0;  // admitted and not yet taken in
};

/// A job in figures, at one moment.
struct JobFigures {
  std::uint64_t updates = 0;             // done; the weights' version is one higher
  double seconds = 0, seconds_here = 0;  // of training: of all generations, of this one
  double done_share = 0;  // of train.updates or train.minutes, the nearer one; 0 without either
  bool ending = false;    // it stops, here or for good
  bool finished = false;  // a limit was reached, or the phase is done
  IntakeCounts intake;
  wire::HubStatus hub;
  wire::TransportCounters moved;

  /// The factor of learning rate and entropy bonus, where they fall to a tenth over the run.
  double annealed() const { return 1 - 0.9 * done_share; }
};

/// A point of some curves, in RUN/events or a folder in it.
struct CurvePoint {
  std::string folder{};
  std::int64_t x = 0;
  std::vector<std::pair<std::string, double>> scalars{};
  std::vector<double> staleness{};  // in updates, of the results it stands for

  void add(const std::string& name, double value) { scalars.emplace_back(name, value); }
};

/// A line of progress for people.
struct PhaseProgress {
  std::string label{}, unit{};  // a new label begins a new count
  std::uint64_t total = 0, done = 0;
  std::string note{};
};

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

struct PhaseReport {
  std::optional<CurvePoint> point{};  // where one is due; JobRunner adds the curves of every job
  PhaseProgress progress{};
};

/// A job that has ended.
struct PhaseSummary {
  nlohmann::json figures{};          // for RUN/summary.json
  std::string text{};                // for people
  bool sound = true;                 // its own counts are free of contradictions
  std::function<void()> farewell{};  // is called last, once RUN/summary.json is written; null: nothing
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

}  // namespace regraft::learner
