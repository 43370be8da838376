#include "learner/job/job_runner.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/event_writer.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/progress.h"
#include "learner/job/checkpoint.h"
#include "learner/job/intake.h"
#include "learner/job/job_curves.h"

namespace regraft::learner {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kPatience{200};  // of gathering, before looking what else is due
constexpr double kNsPerS = 1e9;
constexpr double kMuchWaiting = 0.05;  // of the actors' time

}  // namespace

/// Everything that lives while the job runs, in the order in which it is made; what stands later uses what
/// stands before.
struct JobRunner::State {
  State(const JobSetup& setup, const Clock& clock)
      : ledger(setup.folder.journal(), run_id_of(setup.folder)),
        store(setup.folder.checkpoints(), setup.options.checkpoints_kept),
        curves(clock) {}

  std::atomic<std::uint64_t> version{1};    // of the weights: 1 + updates
  std::atomic<std::uint64_t> published{0};  // what tickets ask for
  wire::Ledger ledger;
  CheckpointStore store;
  std::map<std::string, EventWriter> events;  // by folder, each made with its first point
  JobCurves curves;
  std::string progress_label;
  bool said_waiting = false;
  std::optional<Progress> progress;
  std::unique_ptr<JobHub> hub;
  std::unique_ptr<Intake> intake;

  wire::JournalMark settled_mark;  // when the phase was settled last
  double seconds_before = 0;       // of earlier generations
  std::int64_t started_ns = 0, saved_ns = 0;
};

JobRunner::JobRunner(JobSetup setup, std::unique_ptr<Phase> phase, const Clock& clock, MakeHub make_hub)
    : setup_(std::move(setup)),
      clock_(clock),
      phase_(std::move(phase)),
      traits_(phase_->traits()),
      state_(std::make_unique<State>(setup_, clock)) {
  PhaseStart start = restore();
  if (!make_hub)
    make_hub = listening_hub(setup_.folder, setup_.options, traits_.max_parts, traits_.lock_step);
  const auto source = [phase = phase_.get(), &published = state_->published](const wire::ActorInfo& actor) {
    return phase->next_ticket(actor, published);
  };
  state_->hub = make_hub(state_->ledger, source, clock_);
  state_->settled_mark = state_->ledger.mark();
  state_->started_ns = state_->saved_ns = clock_.steady_ns();
  publish(std::move(start.weights));
  state_->intake = std::make_unique<Intake>(
      *state_->hub, state_->ledger,
      [phase = phase_.get()](const wire::Delivery& delivery) { return phase->judge(delivery); },
      state_->version,
      Intake::Options{.staleness = setup_.options.staleness,
                      .queued_steps = traits_.queued_steps,
                      .queued_results = traits_.queued_results,
                      .lock_step = traits_.lock_step},
      std::move(start.queued));
  state_->hub->announce(setup_.folder.run_file());
}

JobRunner::~JobRunner() = default;

std::uint64_t JobRunner::generation() const {
  return state_->ledger.generation();
}

double JobRunner::seconds() const {
  return state_->seconds_before + static_cast<double>(clock_.steady_ns() - state_->started_ns) / kNsPerS;
}

/// In deterministic mode by updates alone.
double JobRunner::done_share() const {
  const LearnerOptions& options = setup_.options;
  double share = 0;
  if (options.updates > 0)
    share = static_cast<double>(state_->version - 1) / static_cast<double>(options.updates);
  if (options.minutes > 0 && !options.deterministic)
    share = std::max(share, seconds() / (options.minutes * 60));
  return std::min(share, 1.0);
}

PhaseStatus JobRunner::status() const {
  return phase_->status(state_->version - 1);
}

bool JobRunner::finished() const {
  const LearnerOptions& options = setup_.options;
  if (status().done) return true;
  return traits_.limited && ((options.updates > 0 && state_->version - 1 >= options.updates) ||
                             (options.minutes > 0 && seconds() >= options.minutes * 60));
}

JobFigures JobRunner::figures(bool ending) const {
  JobFigures job;
  job.updates = state_->version - 1;
  job.seconds = seconds();
  job.seconds_here = job.seconds - state_->seconds_before;
  job.done_share = done_share();
  job.ending = ending;
  job.finished = finished();
  if (state_->intake) job.intake = state_->intake->counts();
  job.hub = state_->hub->status();
  job.moved = state_->hub->counters();
  return job;
}

JobSummary JobRunner::run(const std::stop_token& stopped) {
  while (!stopped.stop_requested() && !finished()) {
    gather(stopped);
    if (status().ready) update();
    const PhaseReport report = phase_->report(figures(stopped.stop_requested()));
    if (report.point) write(*report.point);
    checkpoint_when_due();
    if (setup_.show_progress) show(report.progress);
  }
  state_->hub->stop_issuing();
  checkpoint();
  const JobFigures last = figures(true);
  phase_->export_as("latest", last);
  state_->intake.reset();
  state_->hub->stop();
  for (auto& [folder, events] : state_->events) events.flush();
  JobSummary result{
      .updates = last.updates, .finished = last.finished, .ticket_counts = state_->ledger.ticket_counts()};
  if (state_->progress) state_->progress->finish();
  PhaseSummary summary = phase_->summary(last, result.ticket_counts);
  result.text = summary.text + result.ticket_counts.table();
  const bool balance = result.ticket_counts.check().empty();
  summary.figures["ticket_counts_balance"] = balance;
  const wire::TicketCounts all = result.ticket_counts.total();
  summary.figures["tickets"] = {{"issued", all.issued},
                                {"admitted", all.admitted},
                                {"rolled_back", all.rolled_back},
                                {"lost", all.lost}};
  result.sound = summary.sound && balance;
  result.json = summary.figures.dump(2) + "\n";
  write_file_atomic(setup_.folder.summary(), result.json);
  if (summary.farewell) summary.farewell();
  return result;
}

/// Takes results in until there are enough for an update, something else is due, or none came for a while.
void JobRunner::gather(const std::stop_token& stopped) {
  const std::int64_t until_ns = clock_.steady_ns() + std::chrono::nanoseconds(kPatience).count();
  for (PhaseStatus now = status();
       !now.ready && !stopped.stop_requested() && !save_requested_ && clock_.steady_ns() < until_ns;) {
    std::unique_ptr<TicketResult> result = state_->intake->next(kPatience);
    if (!result) return;
    phase_->admit(std::move(result), state_->version - 1);
    const PhaseStatus before = std::exchange(now, status());
    if (before.settled || !now.settled) continue;
    state_->settled_mark = state_->ledger.mark();
    state_->hub->wake();  // a round is whole: the next one may begin
  }
}

void JobRunner::update() {
  const bool before = status().settled;
  UpdateResult result = phase_->update(figures());
  if (!result.made) return;
  ++state_->version;
  if (!before && status().settled) state_->settled_mark = state_->ledger.mark();
  publish(std::move(result.weights));
  state_->hub->wake();
  const std::uint64_t updates = state_->version - 1;
  const std::uint64_t every = setup_.options.export_every;
  if (traits_.limited && every > 0 && updates % every == 0)
    phase_->export_as("update-" + std::to_string(updates), figures());
  if (result.save_now) save_requested_ = true;
}

void JobRunner::publish(std::vector<std::byte> weights) {
  if (weights.empty()) return;
  state_->hub->publish(state_->version, std::move(weights));
  state_->published = state_->version.load();  // not before: an actor would be given older ones
}

/// What an interrupted generation wrote of it and of later ones does not count.
void JobRunner::write(const CurvePoint& point) {
  auto place = state_->events.find(point.folder);
  if (place == state_->events.end()) {
    place = state_->events.try_emplace(point.folder, setup_.folder.events() / point.folder, clock_).first;
    if (generation() > 1) place->second.restart(point.x);
  }
  EventWriter& events = place->second;
  for (const auto& [name, value] : point.scalars) events.scalar(name, point.x, value);
  write_staleness(events, point.x, point.staleness);
  state_->curves.write(events, point.x, state_->hub->status(), state_->hub->counters(),
                       state_->ledger.ticket_counts().total());
  if (const double share = state_->curves.waiting_for_memory_share();
      share > kMuchWaiting && !std::exchange(state_->said_waiting, true))
    log_warning(
        "actors waited {:.0f} % of their time for memory for results: raise wire.outstanding_mib ({} now)",
        100 * share, setup_.options.outstanding_mib);
  events.flush();
}

void JobRunner::show(const PhaseProgress& line) {
  if (!state_->progress || state_->progress_label != line.label) {
    state_->progress_label = line.label;
    state_->progress.emplace(
        ProgressOptions{
            .label = line.label, .unit = line.unit, .total = line.total, .terminal = is_terminal(2)},
        clock_, std::cerr);
  }
  state_->progress->update(line.done, line.note);
}

void JobRunner::checkpoint_when_due() {
  const double since_save_s = static_cast<double>(clock_.steady_ns() - state_->saved_ns) / kNsPerS;
  if (save_requested_.exchange(false) || since_save_s >= setup_.options.checkpoint_minutes * 60) checkpoint();
}

void JobRunner::checkpoint() {
  const JobFigures job = figures();
  Checkpoint checkpoint;
  state_->intake->snapshot([&](const wire::JournalMark& mark, auto queued) {
    json all =
        checkpoint_state(traits_.name, setup_.config_toml, status().settled ? mark : state_->settled_mark);
    all.update({{"updates", job.updates}, {"seconds", job.seconds}, {"job_curves", state_->curves.save()}});
    PhaseState own = phase_->save(queued, job);
    all.update(own.values);
    checkpoint = {own.number.value_or(job.updates), all.dump(), std::move(own.parts)};
  });
  state_->store.save(checkpoint);
  state_->saved_ns = clock_.steady_ns();
  shorten_journal();
}

/// To what the checkpoints that are kept need. A longer one does no harm.
void JobRunner::shorten_journal() {
  try {
    state_->ledger.forget_before(state_->store.oldest_mark());
  } catch (const std::exception& error) {
    log_warning("the journal is not shortened: {}", error.what());
  }
}

PhaseStart JobRunner::restore() {
  PhaseStart start;
  auto checkpoint = state_->store.resume(traits_.name);
  if (checkpoint) {
    PhaseState saved{json::parse(checkpoint->state), std::move(checkpoint->parts), checkpoint->number};
    const std::uint64_t updates = saved.values.value("updates", std::uint64_t{0});
    state_->version = 1 + updates;
    state_->seconds_before = saved.values.value("seconds", 0.0);
    state_->curves.restore(saved.values.at("job_curves"));
    start = phase_->restore(&saved, updates);
    log_info("resumed at update {}", updates);
  } else {
    start = phase_->restore(nullptr, 0);
  }
  roll_back(state_->ledger, checkpoint);
  return start;
}

}
