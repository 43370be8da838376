#include "core/search/all_sites_moves.h"

#include <algorithm>

#include "core/env/all_sites.h"
#include "core/graph/order.h"
#include "core/rules/lang/rule_error.h"
#include "core/search/visited_graphs.h"

namespace regraft::search {
namespace {

constexpr int kMostRounds = 64;  // of a family whose rules would go on for ever

env::Applied applied(env::RewriteState& state, const rules::Match& match) {
  try {
    state.apply(match);
  } catch (const rules::RuleError&) {
    return env::Applied::refused;
  }
  state.cost_model();
  return env::Applied::yes;
}

}  // namespace

std::vector<Move> matching_moves(env::RewriteState& state) {
  const auto matches = [&](std::uint32_t rule) { return !state.index().matches(rule).empty(); };
  std::vector<Move> matching;
  for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule)
    if (matches(rule)) matching.push_back({rule});
  for (Move& family : state.rules().together())
    if (std::ranges::any_of(family, matches)) matching.push_back(std::move(family));
  return matching;
}

bool take_move(env::RewriteState& state, const Move& move, const std::function<bool(std::uint32_t)>& take) {
  const std::size_t bottom = state.depth();
  bool changes = true;
  for (int round = 0; changes && round < kMostRounds; ++round) {
    changes = false;
    for (const std::uint32_t rule : move)
      if (!state.index().matches(rule).empty() && take(rule)) changes = move.size() > 1;
  }
  return state.depth() > bottom;
}

void take_move(env::RewriteState& state, const Move& move) {
  take_move(state, move, [&](std::uint32_t rule) {
    const std::size_t before = state.depth();
    env::apply_at_all_sites(state, rule, [&](const rules::Match& match) { return applied(state, match); });
    return state.depth() > before;
  });
}

std::vector<AllSitesMove> all_sites_moves(env::RewriteState& state, double most_us) {
  const std::size_t bottom = state.depth();
  VisitedGraphs visited;
  visited.insert(graph::structural_hash(state.graph()));
  std::vector<AllSitesMove> moves;
  for (const Move& move : matching_moves(state)) {
    take_move(state, move);
    const double latency_us = state.cost_model().latency_us();
    if (latency_us <= most_us && visited.insert(graph::structural_hash(state.graph()))) {
      const auto steps = state.path().subspan(bottom);
      moves.push_back({move, {steps.begin(), steps.end()}, latency_us});
    }
    state.rewind_to(bottom);
  }
  std::ranges::stable_sort(moves, {}, &AllSitesMove::latency_us);
  return moves;
}

}  // namespace regraft::search
