#include "learner/world/world_phase.h"

#include <cstdio>
#include <utility>

#include "core/base/log.h"
#include "core/nn/model/world_bundle.h"
#include "learner/job/curve_point.h"
#include "learner/job/update_sharing.h"
#include "learner/world/final_errors.h"
#include "learner/world/world_folder.h"
#include "learner/world/world_replica.h"

namespace regraft::learner {
namespace {

constexpr double kCollectShare = 0.5;  // of train.minutes at most

class WorldPhase : public CollectPhase {
 public:
  WorldPhase(WorldPhaseSetup setup, const Clock& clock)
      : CollectPhase("world-model", std::move(setup.collect), kCollectShare, clock),
        clock_(clock),
        replica_(CollectPhase::setup(), std::move(setup.environment_of)),
        sharing_(replica_, CollectPhase::setup().job.join) {}

  PhaseStart restore(const PhaseState* saved, std::uint64_t updates) override;
  PhaseStatus status(std::uint64_t updates) const override {
    PhaseStatus status = CollectPhase::status(updates);
    status.done = fit() && fit()->stage() == WorldFit::Stage::done;
    status.ready = enough() && !status.done;
    return status;
  }
  UpdateResult update(const JobFigures& job) override;

  PhaseState save(std::span<const std::unique_ptr<TicketResult>> queued, const JobFigures& job) override;
  PhaseReport report(const JobFigures& job) override;
  void export_as(const std::string& name, const JobFigures& job) override;
  PhaseSummary summary(const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const override;

 private:
  WorldFit* fit() const { return replica_.fit(); }
  double seconds_since(std::int64_t start_ns) const {
    return static_cast<double>(clock_.steady_ns() - start_ns) / static_cast<double>(nanoseconds_per_second);
  }
  double fit_time_share(const JobFigures& job) const;
  void start_fit();
  std::optional<CurvePoint> fit_point();

  const Clock& clock_;
  replay::Bytes saved_fit_;
  WorldReplica replica_;
  UpdateSharing sharing_;
  std::uint64_t shown_updates_ = 0;  // of the fit, at its last point
  double replay_seconds_ = 0, fit_seconds_ = 0;
};

UpdateResult WorldPhase::update(const JobFigures& job) {
  if (!complete()) return CollectPhase::update(job);
  return final_errors([&]() -> UpdateResult {
    if (!fit()) start_fit();
    if (fit()->stage() == WorldFit::Stage::done) return {.made = false};
    const std::int64_t start_ns = clock_.steady_ns();
    const double time_share = fit_time_share(job);
    sharing_.tell([&] { return encode_world_update(time_share); });
    fit()->advance(time_share);
    fit_seconds_ += seconds_since(start_ns);
    return {};
  });
}

/// How much is over of the time that collecting and replaying left.
double WorldPhase::fit_time_share(const JobFigures& job) const {
  const double limit_s = 60 * options().minutes;  // 0: none
  if (limit_s == 0) return 0;
  const double before_s = seconds(job) + replay_seconds_;
  return before_s < limit_s ? (job.seconds - before_s) / (limit_s - before_s) : 1;
}

void WorldPhase::start_fit() {
  const std::int64_t start_ns = clock_.steady_ns();
  sharing_.begin([&] { return encode_world_start(replay(), saved_fit_); });
  replica_.start(replay(), saved_fit_);
  log_info("fitting from update {} on", fit()->updates_done());
  replay_seconds_ += seconds_since(start_ns);
}

/// RUN/events/fit, over the updates: where the newest one's figures were due and have no point yet.
std::optional<CurvePoint> WorldPhase::fit_point() {
  const auto figures = fit()->newest_figures();
  if (figures.empty() || fit()->updates_done() == shown_updates_) return std::nullopt;
  shown_updates_ = fit()->updates_done();
  CurvePoint point{.folder = "fit", .x = static_cast<std::int64_t>(shown_updates_)};
  for (const auto& [name, value] : figures) point.add(name, value);
  point.add("train/steps", static_cast<double>(replay().steps()));
  return point;
}

PhaseReport WorldPhase::report(const JobFigures& job) {
  if (!fit()) return CollectPhase::report(job);
  return {fit_point(),
          {.label = "fitting",
           .unit = "updates",
           .total = fit()->updates_in_all(),
           .done = fit()->updates_done(),
           .note = fit()->status()}};
}

PhaseState WorldPhase::save(std::span<const std::unique_ptr<TicketResult>> queued, const JobFigures& job) {
  PhaseState state = CollectPhase::save(queued, job);
  state.parts["fit"] = fit() ? fit()->save() : saved_fit_;
  state.values.update({{"replay_seconds", replay_seconds_}, {"fit_seconds", fit_seconds_}});
  return state;
}

PhaseStart WorldPhase::restore(const PhaseState* saved, std::uint64_t updates) {
  PhaseStart start = CollectPhase::restore(saved, updates);
  if (saved == nullptr) return start;
  replay_seconds_ = saved->values.at("replay_seconds");
  fit_seconds_ = saved->values.at("fit_seconds");
  saved_fit_ = saved->parts.at("fit");
  return start;
}

void WorldPhase::export_as(const std::string& name, const JobFigures& job) {
  if (!status(job.updates).done) return;
  CollectPhase::export_as(name, job);
  const WorldFolder folder(setup().job.folder);
  fit()->write_figures(folder.root);
  nn::save_bundle({fit()->world(), {}, {}, {}}, folder.model());
}

PhaseSummary WorldPhase::summary(const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const {
  char line[128];
  std::snprintf(line, sizeof line, ", replayed in %.1f s, fitted in %.1f s\n", replay_seconds_, fit_seconds_);
  std::string line_end = line, lines;
  if (fit() && fit()->lost_episodes() > 0)
    line_end +=
        std::to_string(fit()->lost_episodes()) + " episodes could not be replayed and were left out\n";
  if (job.finished && fit() && fit()->updates_done() < fit()->updates_in_all())
    lines = "train.minutes ended the fit after " + std::to_string(fit()->updates_done()) + " of " +
            std::to_string(fit()->updates_in_all()) + " updates\n";
  if (fit() && fit()->status().find(": ") != std::string::npos) lines += "  " + fit()->status() + "\n";
  PhaseSummary summary = summary_with({{"lost_episodes", fit() ? fit()->lost_episodes() : 0},
                                       {"updates", fit() ? fit()->updates_done() : 0},
                                       {"replay_seconds", replay_seconds_},
                                       {"fit_seconds", fit_seconds_}},
                                      line_end, lines, job, ticket_counts);
  summary.farewell = sharing_.farewell();
  return summary;
}

}  // namespace

void follow_world_phase(const WorldPhaseSetup& setup) {
  WorldReplica replica(setup.collect, setup.environment_of);
  follow_updates(setup.collect.job.join, replica);
}

std::unique_ptr<Phase> make_world_phase(WorldPhaseSetup setup, const Clock& clock) {
  return std::make_unique<WorldPhase>(std::move(setup), clock);
}

}
