#include "launch/optimise/search_each.h"

#include <algorithm>
#include <cmath>

#include "core/rules/match/match_index.h"

namespace regraft::launch {
namespace {

bool matches_somewhere(const rules::RuleSet& rules, const graph::Graph& graph) {
  const rules::MatchIndex index(rules, graph);
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule)
    if (!index.matches(rule).empty()) return true;
  return false;
}

}  // namespace

std::vector<search::SearchResult> search_each(
    const ModelGraphs& graphs, const std::vector<double>& runs, const rules::RuleSet& rules,
    std::span<const cost::SeveralSizesFactory> costs, const search::SearchLimits& limits,
    const std::function<search::SearchResult(std::size_t at, const search::SearchLimits&)>& search) {
  std::vector<search::SearchResult> results(graphs.size());
  std::vector<double> weights(graphs.size());
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < graphs.size(); ++at) {
    results[at].initial = results[at].best = costs[at].make(graphs[at])->cost();
    weights[at] = runs[at] * results[at].initial.latency_us;
    if (runs[at] > 0 && matches_somewhere(rules, graphs[at])) open.push_back(at);
  }
  std::ranges::stable_sort(open, {}, [&](std::size_t at) { return weights[at]; });
  search::SearchLimits left = limits;
  for (std::size_t i = 0; i < open.size(); ++i) {
    search::SearchLimits part = left;
    if (i + 1 < open.size()) {
      double weight = 0;
      for (std::size_t k = i; k < open.size(); ++k) weight += weights[open[k]];
      const double share =
          weight > 0 ? weights[open[i]] / weight : 1.0 / static_cast<double>(open.size() - i);
      part.seconds *= share;
      part.expansions = static_cast<std::uint64_t>(std::ceil(static_cast<double>(left.expansions) * share));
    }
    search::SearchResult& result = results[open[i]];
    result = search(open[i], part);
    left.seconds = std::max(0.0, left.seconds - result.seconds);
    left.expansions -= std::min(left.expansions, result.expansions);
  }
  return results;
}

}
