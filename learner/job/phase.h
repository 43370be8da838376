#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
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

struct Checkpoint;

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

enum class UpdateResult {
  nothing,   // there was none to make
  made,      // one more update
  save_now,  // one more, and a checkpoint is worth its time
};

/// What a job learns, and all that differs between kinds of learning; JobRunner does the rest:
///   next_ticket -> actors -> judge -> admit ... ready -> update -> weights -> actors
/// All calls come from one thread but for next_ticket (the hub's) and judge (the intake's).
class Phase {
 public:
  virtual ~Phase() = default;
  virtual PhaseTraits traits() const = 0;

  /// What this actor shall do, with these weights (version 0: there are none yet); nothing: no work for it
  /// now. It must not wait.
  virtual std::optional<wire::TicketSpec> next_ticket(const wire::ActorInfo& actor,
                                                      std::uint64_t published) = 0;
  /// Decodes and checks. Throws replay::ReplayError: the delivery is rejected.
  virtual std::unique_ptr<TicketResult> judge(const wire::Delivery& delivery) = 0;
  /// Takes in what was admitted after so many updates, each result of judge() at most once.
  virtual void admit(std::unique_ptr<TicketResult> result, std::uint64_t updates) = 0;

  /// Whether there is enough for the next update, `updates` being done.
  virtual bool ready(std::uint64_t updates) const = 0;
  virtual UpdateResult update(const JobFigures& job) = 0;
  /// Whether all is learned that there is to learn, apart from limits.
  virtual bool done() const { return false; }
  /// The newest weights, for version updates + 1; asked once before the first update and after each. Empty:
  /// actors need none.
  virtual std::vector<std::byte> weights(const JobFigures& /*job*/) { return {}; }

  /// Whether save() holds all that was admitted; a checkpoint at other moments goes back to the last such
  /// one.
  virtual bool settled() const { return true; }
  /// Adds its own keys to the state, and its parts; `queued` was admitted and is not yet taken in. The number
  /// is the count of updates unless it sets another one.
  virtual void save(Checkpoint& into, nlohmann::json& state,
                    std::span<const std::unique_ptr<TicketResult>> queued, const JobFigures& job) = 0;
  /// Gives back what was admitted and not taken in. Throws replay::ReplayError, nn::NnError, CheckpointError.
  virtual TicketResults restore(const Checkpoint& from, const nlohmann::json& state,
                                std::uint64_t updates) = 0;
  /// Instead of restore(), where there is no checkpoint.
  virtual void begin() {}

  /// A point, where one is due; JobRunner adds the curves of every job (job_curves.h).
  virtual std::optional<CurvePoint> point(const JobFigures& job) = 0;
  virtual PhaseProgress progress(const JobFigures& job) const = 0;
  /// Writes what is learned so far into the run folder: as "update-20", at the end as "latest".
  virtual void export_as(const std::string& name, const JobFigures& job) = 0;
  /// For RUN/summary.json, of a job that has ended; and the same for people.
  virtual nlohmann::json summary(const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const = 0;
  virtual std::string describe(const nlohmann::json& summary) const = 0;
  /// The job has come to its end, or was asked to stop: all is saved, the summary too.
  virtual void end() {}
  /// Whether its own counts are free of contradictions.
  virtual bool sound() const { return true; }
};

}  // namespace regraft::learner
