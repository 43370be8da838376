#include "core/search/all_sites_moves.h"

#include <algorithm>

#include "core/env/all_sites.h"
#include "core/graph/order.h"
#include "core/rules/lang/rule_error.h"
#include "core/search/visited_graphs.h"

namespace regraft::search {

std::vector<std::uint32_t> without_families(const rules::RuleSet& rules, std::vector<std::uint32_t> numbers) {
  std::vector<bool> done(rules.size());
  std::erase_if(numbers, [&](std::uint32_t rule) {
    if (done[rule]) return true;
    for (const std::uint32_t other : rules.together_with(rule)) done[other] = true;
    return false;
  });
  return numbers;
}

std::vector<std::uint32_t> matching_rules(env::RewriteState& state) {
  std::vector<std::uint32_t> matching;
  for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule)
    if (!state.index().matches(rule).empty()) matching.push_back(rule);
  return without_families(state.rules(), std::move(matching));
}

void take_move(env::RewriteState& state, std::uint32_t rule) {
  env::apply_at_all_sites(state, rule, [&](const rules::Match& match) {
    try {
      state.apply(match);
    } catch (const rules::RuleError&) {
      return env::Applied::refused;
    }
    state.cost_model();
    return env::Applied::yes;
  });
}

std::vector<AllSitesMove> all_sites_moves(env::RewriteState& state, double most_us) {
  const std::size_t bottom = state.depth();
  VisitedGraphs visited;
  visited.insert(graph::structural_hash(state.graph()));
  std::vector<AllSitesMove> moves;
  for (const std::uint32_t rule : matching_rules(state)) {
    take_move(state, rule);
    const double latency_us = state.cost_model().latency_us();
    if (latency_us <= most_us && visited.insert(graph::structural_hash(state.graph()))) {
      const auto steps = state.path().subspan(bottom);
      moves.push_back({rule, {steps.begin(), steps.end()}, latency_us});
    }
    state.rewind_to(bottom);
  }
  std::ranges::stable_sort(moves, {}, &AllSitesMove::latency_us);
  return moves;
}

}
