#include "learner/controller/dyna.h"

#include <algorithm>
#include <cmath>

#include "core/base/log.h"
#include "replay/rollout/byte_reader.h"

namespace regraft::learner {
namespace {

std::span<const replay::BranchStep> first_steps(const replay::Branch& branch, std::uint32_t steps) {
  return std::span(branch.steps).first(std::min<std::size_t>(steps, branch.steps.size()));
}

}  // namespace

std::optional<wire::TicketSpec> Dyna::next(const std::string& kind, TicketPlan& plan,
                                           std::uint64_t published) const {
  if (kind == kControllerKind) return gathering_ ? plan.next(published) : std::nullopt;
  const std::uint32_t steps = branch_steps_;
  if (steps == 0) return std::nullopt;
  auto spec = plan.next(published);
  if (spec) spec->segment_length = steps;
  return spec;
}

void Dyna::add(std::vector<replay::Branch> branches) {
  if (branches.empty()) return;
  for (replay::Branch& branch : branches) {
    std::deque<replay::Branch>& window = branches_[branch.model];
    window.push_back(std::move(branch));
    if (window.size() > options_.window) window.pop_front();
  }
  judge();
}

bool Dyna::ready(std::uint64_t real_episodes, bool enough_steps) const {
  if (branch_steps_ == 0) return real_episodes >= options_.episodes;
  return enough_steps && (!gathering_ || real_episodes >= options_.episodes);
}

void Dyna::updated() {
  since_gathering_ = gathering_ ? 1 : since_gathering_ + 1;
  const bool paused = branch_steps_ == 0;
  paused_updates_ += paused ? 1 : 0;
  gathering_ = paused || since_gathering_ >= options_.updates;
}

std::vector<replay::Branch> Dyna::branches() const {
  std::vector<replay::Branch> all;
  for (const auto& [model, window] : branches_) all.insert(all.end(), window.begin(), window.end());
  return all;
}

double Dyna::bias(std::uint32_t steps) const {
  double worst = 0;
  for (const auto& [model, window] : branches_) {
    double sum = 0;
    for (const replay::Branch& branch : window)
      for (const replay::BranchStep& step : first_steps(branch, steps))
        sum += static_cast<double>(step.predicted) - static_cast<double>(step.real);
    const double mean = sum / static_cast<double>(window.size());
    if (std::abs(mean) > std::abs(worst)) worst = mean;
  }
  return worst;
}

/// 1 where nothing was legal and nothing was said to be.
double Dyna::mask_f1(std::uint32_t steps) const {
  double worst = 1;
  for (const auto& [model, window] : branches_) {
    double hits = 0, errors = 0;
    for (const replay::Branch& branch : window) {
      for (const replay::BranchStep& step : first_steps(branch, steps)) {
        hits += step.hits;
        errors += step.false_alarms + step.misses;
      }
    }
    if (hits + errors > 0) worst = std::min(worst, 2 * hits / (2 * hits + errors));
  }
  return worst;
}

bool Dyna::within_bounds(std::uint32_t steps) const {
  return std::abs(bias(steps)) <= options_.bias && mask_f1(steps) >= options_.mask_f1;
}

void Dyna::judge() {
  std::uint32_t steps = 0;
  while (!branches_.empty() && steps < options_.branch_steps && within_bounds(steps + 1)) ++steps;
  const std::uint32_t before = branch_steps_.exchange(steps);
  if (before == steps) return;
  if (steps == 0)
    log_warning("dyna: dreams pause: over one step predicted - real is {:.4f}, mask F1 {:.3f}", bias(1),
                mask_f1(1));
  else
    log_info("dyna: dreams of {} steps: predicted - real {:.4f}, mask F1 {:.3f}", steps, bias(steps),
             mask_f1(steps));
}

void Dyna::add_to(CurvePoint& point) const {
  const std::uint32_t steps = std::max<std::uint32_t>(branch_steps_, 1);
  point.add("dyna/branch_steps", branch_steps_);
  point.add("dyna/bias", bias(steps));
  point.add("dyna/mask_f1", mask_f1(steps));
  point.add("dyna/paused_updates", static_cast<double>(paused_updates_));
}

std::vector<std::byte> Dyna::save() const {
  replay::Bytes bytes;
  replay::ByteWriter out(bytes);
  out.value(since_gathering_);
  out.value(paused_updates_);
  out.value(static_cast<std::uint8_t>(gathering_ ? 1 : 0));
  out.raw(replay::encode_branches(branches()));
  return bytes;
}

void Dyna::restore(std::span<const std::byte> bytes) {
  replay::ByteReader in(bytes);
  const auto since = in.value<std::uint64_t>(), paused = in.value<std::uint64_t>();
  const bool gathering = in.value<std::uint8_t>() != 0;
  std::vector<replay::Branch> branches = replay::decode_branches(in.raw(in.left()));
  since_gathering_ = since;
  paused_updates_ = paused;
  gathering_ = gathering;
  branches_.clear();
  for (replay::Branch& branch : branches) branches_[branch.model].push_back(std::move(branch));
  judge();
}

}
