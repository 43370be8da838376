#include "learner/world/collect_curves.h"

#include <utility>

namespace regraft::learner {
namespace {

constexpr double kSecondsBetween = 5;  // points

}  // namespace

void CollectCurves::add(const replay::Rollout& rollout) {
  ++added_;
  final_ratios_ += static_cast<double>(rollout.final_cost_ratio);
  best_ratios_ += static_cast<double>(rollout.best_cost_ratio);
  steps_ += static_cast<double>(rollout.steps.size());
}

std::optional<CurvePoint> CollectCurves::point(std::uint64_t steps, std::uint64_t episodes, bool last) {
  const std::int64_t now_ns = clock_.steady_ns();
  const double passed_s =
      static_cast<double>(now_ns - written_ns_) / static_cast<double>(nanoseconds_per_second);
  if (added_ == 0 || (!last && passed_s < kSecondsBetween)) return std::nullopt;
  written_ns_ = now_ns;
  const auto count = static_cast<double>(std::exchange(added_, 0));
  CurvePoint point{.folder = "collect", .x = static_cast<std::int64_t>(steps)};
  point.add("collect/steps", static_cast<double>(steps));
  point.add("collect/episodes", static_cast<double>(episodes));
  point.add("collect/return", 1 - std::exchange(final_ratios_, 0) / count);
  point.add("collect/best_return", 1 - std::exchange(best_ratios_, 0) / count);
  point.add("collect/episode_length", std::exchange(steps_, 0) / count);
  return point;
}

}
