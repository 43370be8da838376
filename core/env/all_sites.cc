#include "core/env/all_sites.h"
#include "core/graph/order.h"

#include <algorithm>
#include <span>
#include <vector>

namespace regraft::env {
namespace {

/// The match of the most nodes, the first of equals, that is none of `spent` and holds a node below `bound`;
/// null: there is none.
const rules::Match* largest(std::span<const rules::Match> matches, const std::vector<rules::Match>& spent,
                            graph::NodeId bound) {
  const rules::Match* choice = nullptr;
  for (const rules::Match& match : matches) {
    if (choice && match.nodes.size() <= choice->nodes.size()) continue;
    if (*std::min_element(match.nodes.begin(), match.nodes.end()) >= bound) continue;
    if (std::find(spent.begin(), spent.end(), match) == spent.end()) choice = &match;
  }
  return choice;
}

std::size_t apply_one(RewriteState& state, std::uint32_t rule, std::size_t most, const ApplyMatch& apply) {
  const std::size_t bottom = state.depth();
  const graph::NodeId bound = state.graph().id_bound();
  std::vector<Hash128> seen{graph::structural_hash(state.graph())};
  std::vector<rules::Match> spent;
  double least_us = state.cost_model().latency_us();
  std::size_t least_depth = bottom, applied = 0;
  while (applied < most) {
    const rules::Match* next = largest(state.index().matches(rule), spent, bound);
    if (!next) break;
    const rules::Match match = *next;  // it lives in the index, which the rewrite changes
    const Applied outcome = apply(match);
    if (outcome == Applied::stopped) {
      state.rewind_to(bottom);
      return applied;
    }
    if (outcome == Applied::refused) {
      spent.push_back(match);
      continue;
    }
    ++applied;
    const Hash128 hash = graph::structural_hash(state.graph());
    if (std::find(seen.begin(), seen.end(), hash) != seen.end()) {
      state.rewind_to(state.depth() - 1);
      spent.push_back(match);
      continue;
    }
    seen.push_back(hash);
    const double latency_us = state.cost_model().latency_us();
    if (!cheaper(latency_us, least_us)) continue;
    least_us = latency_us;
    least_depth = state.depth();
  }
  if (least_depth > bottom) state.rewind_to(least_depth);
  return applied;
}

}  // namespace

std::size_t apply_at_all_sites(RewriteState& state, std::uint32_t rule, const ApplyMatch& apply) {
  const std::vector<std::uint32_t> family = state.rules().together_with(rule);
  if (family.size() == 1) return apply_one(state, rule, kMostRewritesAtAllSites, apply);
  constexpr std::size_t kMost = 8 * kMostRewritesAtAllSites;
  const std::size_t bottom = state.depth();
  bool stopped = false;
  const auto watched = [&](const rules::Match& match) {
    const Applied outcome = apply(match);
    stopped = stopped || outcome == Applied::stopped;
    return outcome;
  };
  std::vector<Hash128> rounds;  // the graphs that they ended at
  std::size_t applied = 0;
  Hash128 now = graph::structural_hash(state.graph());
  while (std::ranges::find(rounds, now) == rounds.end()) {
    rounds.push_back(now);
    for (const std::uint32_t member : family) {
      if (state.index().matches(member).empty()) continue;
      applied += apply_one(state, member, std::min(kMostRewritesAtAllSites, kMost - applied), watched);
      if (stopped) {
        state.rewind_to(bottom);
        return applied;
      }
    }
    now = graph::structural_hash(state.graph());
  }
  if (now == rounds[0]) state.rewind_to(bottom);
  return applied;
}

}
