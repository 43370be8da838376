#include "replay/dream/branch.h"

#include <cmath>
#include <numeric>

#include "core/base/rng.h"
#include "replay/rollout/checked.h"

namespace regraft::replay {
namespace {

constexpr std::uint32_t kBranchMagic = 0x48435242;  // "BRCH"

constexpr char kBranches[] = "branches";

Branch take_branch(ByteReader& in) {
  Branch branch;
  branch.model = in.value<std::uint32_t>();
  branch.start.steps = in.value<std::uint32_t>();
  for (auto* part : {&branch.start.latent, &branch.start.hidden, &branch.start.cell})
    *part = take_floats(in, kBranches);
  branch.start.counts.resize(in.count());
  for (std::uint16_t& count : branch.start.counts) count = static_cast<std::uint16_t>(in.varint());
  branch.steps.resize(in.count(2 * sizeof(float)));
  require(!branch.steps.empty(), "one has no steps", kBranches);
  for (BranchStep& step : branch.steps) {
    step.predicted = in.value<float>();
    step.real = in.value<float>();
    require(std::isfinite(step.predicted) && std::isfinite(step.real), "a number is not finite", kBranches);
    for (auto* count : {&step.hits, &step.false_alarms, &step.misses})
      *count = static_cast<std::uint16_t>(in.varint());
  }
  return branch;
}

}  // namespace

Bytes encode_branches(std::span<const Branch> branches) {
  Bytes bytes;
  ByteWriter out(bytes);
  out.value(kBranchMagic);
  out.varint(branches.size());
  for (const Branch& branch : branches) {
    out.value(branch.model);
    out.value(branch.start.steps);
    for (const auto* part : {&branch.start.latent, &branch.start.hidden, &branch.start.cell})
      put_floats(out, *part);
    out.varint(branch.start.counts.size());
    for (const std::uint16_t count : branch.start.counts) out.varint(count);
    out.varint(branch.steps.size());
    for (const BranchStep& step : branch.steps) {
      out.value(step.predicted);
      out.value(step.real);
      for (const std::uint16_t count : {step.hits, step.false_alarms, step.misses}) out.varint(count);
    }
  }
  return bytes;
}

std::vector<Branch> decode_branches(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  require(in.value<std::uint32_t>() == kBranchMagic, "these are none", kBranches);
  std::vector<Branch> branches(in.count());
  for (Branch& branch : branches) branch = take_branch(in);
  in.finish();
  return branches;
}

void BranchRecorder::acted(env::Action action, double reward) {
  actions_.push_back(action);
  rewards_.push_back(reward);
}

std::vector<Branch> BranchRecorder::branches(nn::Dream& dream, std::uint32_t model, std::uint32_t count,
                                             std::uint32_t depth, std::uint64_t seed) const {
  Rng rng(seed, "branches");
  std::vector<std::size_t> points(actions_.size());
  std::iota(points.begin(), points.end(), std::size_t{0});
  for (std::size_t i = points.size(); i > 1; --i) std::swap(points[i - 1], points[rng.below(i)]);
  std::vector<Branch> made;
  for (const std::size_t from : points) {
    if (made.size() == count) break;
    made.push_back(follow(dream, from, depth, rng.next()));
    made.back().model = model;
  }
  return made;
}

Branch BranchRecorder::follow(nn::Dream& dream, std::size_t from, std::uint32_t depth,
                              std::uint64_t seed) const {
  Branch branch{0, states_[from], {}};
  dream.reset(0, branch.start, seed);
  for (std::size_t t = from; t < actions_.size() && t < from + depth; ++t) {
    BranchStep step;  // where the dream has ended too early it promises nothing, and nothing is legal in it
    if (!dream.done(0)) step.predicted = static_cast<float>(dream.step({&actions_[t], 1}).front().reward);
    step.real = static_cast<float>(rewards_[t]);
    const bool ended = t + 1 == actions_.size();
    for (std::uint32_t rule = 0; rule < dream.noop(); ++rule) {
      const bool said = !dream.done(0) && dream.location_count(0, rule) > 0,
                 is = !ended && states_[t + 1].counts[rule] > 0;
      step.hits += said && is ? 1 : 0;
      step.false_alarms += said && !is ? 1 : 0;
      step.misses += !said && is ? 1 : 0;
    }
    branch.steps.push_back(step);
  }
  return branch;
}

}
