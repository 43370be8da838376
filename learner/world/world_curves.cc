#include "learner/world/world_curves.h"

#include <string>

namespace regraft::learner {
namespace {

constexpr double kSecondsBetween = 5;  // points while collecting

}  // namespace

WorldCurves::WorldCurves(const RunFolder& folder, bool resumed, const Clock& clock)
    : root_(folder.events()), resumed_(resumed), clock_(clock), job_(clock), written_ns_(clock.steady_ns()) {}

/// Made with the first point, at `first`.
EventWriter& WorldCurves::events(std::unique_ptr<EventWriter>& held, const char* name, std::uint64_t first) {
  if (held) return *held;
  held = std::make_unique<EventWriter>(root_ / name, clock_);
  if (resumed_) held->restart(static_cast<std::int64_t>(first));
  return *held;
}

void WorldCurves::add(const replay::Rollout& rollout) {
  ++added_;
  final_ratios_ += static_cast<double>(rollout.final_cost_ratio);
  best_ratios_ += static_cast<double>(rollout.best_cost_ratio);
  steps_ += static_cast<double>(rollout.steps.size());
}

void WorldCurves::write_collected(std::uint64_t steps, std::uint64_t episodes, bool last,
                                  const wire::Hub& hub, const wire::Ledger& ledger) {
  const std::int64_t now_ns = clock_.steady_ns();
  const double passed_s =
      static_cast<double>(now_ns - written_ns_) / static_cast<double>(nanoseconds_per_second);
  if (added_ == 0 || (!last && passed_s < kSecondsBetween)) return;
  written_ns_ = now_ns;
  EventWriter& out = events(collected_, "collect", steps);
  const auto x = static_cast<std::int64_t>(steps);
  const auto count = static_cast<double>(added_);
  out.scalar("collect/steps", x, static_cast<double>(steps));
  out.scalar("collect/episodes", x, static_cast<double>(episodes));
  out.scalar("collect/return", x, 1 - final_ratios_ / count);
  out.scalar("collect/best_return", x, 1 - best_ratios_ / count);
  out.scalar("collect/episode_length", x, steps_ / count);
  job_.write(out, x, hub, ledger);
  out.flush();
  added_ = 0;
  final_ratios_ = best_ratios_ = steps_ = 0;
}

void WorldCurves::write_fit(const WorldFit& fit, std::uint64_t steps, const wire::Hub& hub,
                            const wire::Ledger& ledger) {
  const auto figures = fit.newest_figures();
  if (figures.empty()) return;
  EventWriter& out = events(fitted_, "fit", fit.updates_done());
  const auto x = static_cast<std::int64_t>(fit.updates_done());
  for (const auto& [name, value] : figures) out.scalar(name, x, value);
  out.scalar("train/steps", x, static_cast<double>(steps));
  job_.write(out, x, hub, ledger);
  out.flush();
}

}  // namespace regraft::learner
