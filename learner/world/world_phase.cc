#include "learner/world/world_phase.h"

#include <cstdio>
#include <utility>

#include "core/base/log.h"
#include "core/nn/device.h"
#include "core/nn/world_bundle.h"
#include "learner/world/final_errors.h"
#include "learner/world/world_fit.h"
#include "learner/world/world_folder.h"

namespace regraft::learner {
namespace {

using nlohmann::json;

constexpr double kCollectShare = 0.5;  // of train.minutes at most

class WorldPhase : public CollectPhase {
 public:
  WorldPhase(WorldPhaseSetup setup, const Clock& clock)
      : CollectPhase("world-model", std::move(setup.collect), kCollectShare, clock),
        environment_of_(std::move(setup.environment_of)),
        clock_(clock) {}

  PhaseStart restore(const PhaseState* saved, std::uint64_t updates) override;
  PhaseStatus status(std::uint64_t updates) const override {
    PhaseStatus status = CollectPhase::status(updates);
    status.done = fit_ && fit_->stage() == WorldFit::Stage::done;
    status.ready = enough() && !status.done;
    return status;
  }
  UpdateResult update(const JobFigures& job) override;

  PhaseState save(std::span<const std::unique_ptr<TicketResult>> queued, const JobFigures& job) override;
  PhaseReport report(const JobFigures& job) override;
  void export_as(const std::string& name, const JobFigures& job) override;
  PhaseSummary summary(const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const override;

 private:
  double seconds_since(std::int64_t start_ns) const {
    return static_cast<double>(clock_.steady_ns() - start_ns) / static_cast<double>(nanoseconds_per_second);
  }
  double fit_time_share(const JobFigures& job) const;
  void start_fit();
  std::optional<CurvePoint> fit_point();

  const EnvironmentOf environment_of_;
  const Clock& clock_;
  replay::Bytes saved_fit_;
  std::unique_ptr<WorldFit> fit_;
  std::uint64_t shown_updates_ = 0;  // of the fit, at its last point
  double replay_seconds_ = 0, fit_seconds_ = 0;
};

UpdateResult WorldPhase::update(const JobFigures& job) {
  if (!complete()) return CollectPhase::update(job);
  return final_errors([&]() -> UpdateResult {
    if (!fit_) start_fit();
    if (fit_->stage() == WorldFit::Stage::done) return {.made = false};
    const std::int64_t start_ns = clock_.steady_ns();
    fit_->advance(fit_time_share(job));
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
  fit_ = std::make_unique<WorldFit>(setup().context, replay(), setup().world, environment_of_,
                                    nn::PolicyOptions{.device = options().device});
  if (!saved_fit_.empty()) fit_->restore(saved_fit_);
  log_info("fitting from update {} on", fit_->updates_done());
  replay_seconds_ += seconds_since(start_ns);
}

/// RUN/events/fit, over the updates: where the newest one's figures were due and have no point yet.
std::optional<CurvePoint> WorldPhase::fit_point() {
  const auto figures = fit_->newest_figures();
  if (figures.empty() || fit_->updates_done() == shown_updates_) return std::nullopt;
  shown_updates_ = fit_->updates_done();
  CurvePoint point{.folder = "fit", .x = static_cast<std::int64_t>(shown_updates_)};
  for (const auto& [name, value] : figures) point.add(name, value);
  point.add("train/steps", static_cast<double>(replay().steps()));
  return point;
}

PhaseReport WorldPhase::report(const JobFigures& job) {
  if (!fit_) return CollectPhase::report(job);
  return {fit_point(),
          {.label = "fitting",
           .unit = "updates",
           .total = fit_->updates_in_all(),
           .done = fit_->updates_done(),
           .note = fit_->status()}};
}

PhaseState WorldPhase::save(std::span<const std::unique_ptr<TicketResult>> queued, const JobFigures& job) {
  PhaseState state = CollectPhase::save(queued, job);
  state.parts["fit"] = fit_ ? fit_->save() : saved_fit_;
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
  fit_->write_figures(folder.root);
  nn::save_bundle({fit_->world(), {}, {}, {}}, folder.model());
}

PhaseSummary WorldPhase::summary(const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const {
  char line[128];
  std::snprintf(line, sizeof line, ", replayed in %.1f s, fitted in %.1f s\n", replay_seconds_, fit_seconds_);
  std::string line_end = line, lines;
  if (fit_ && fit_->lost_episodes() > 0)
    line_end += std::to_string(fit_->lost_episodes()) + " episodes could not be replayed and were left out\n";
  if (job.finished && fit_ && fit_->updates_done() < fit_->updates_in_all())
    lines = "train.minutes ended the fit after " + std::to_string(fit_->updates_done()) + " of " +
            std::to_string(fit_->updates_in_all()) + " updates\n";
  if (fit_) lines += "  " + fit_->status() + "\n";
  return summary_with({{"lost_episodes", fit_ ? fit_->lost_episodes() : 0},
                       {"updates", fit_ ? fit_->updates_done() : 0},
                       {"replay_seconds", replay_seconds_},
                       {"fit_seconds", fit_seconds_}},
                      line_end, lines, job, ticket_counts);
}

}  // namespace

std::unique_ptr<Phase> make_world_phase(WorldPhaseSetup setup, const Clock& clock) {
  return std::make_unique<WorldPhase>(std::move(setup), clock);
}

}  // namespace regraft::learner
