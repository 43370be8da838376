#pragma once

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "core/cost/cost.h"
#include "core/graph/order.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/rewriter.h"

namespace regraft::env {

struct Optimum {
  double latency_us = 0;
  std::uint32_t steps = 0;  // on the shortest way there
  std::size_t graphs = 0;   // distinct ones that can be reached, the start included
  bool complete = false;    // false: there are more than `limit` graphs
};

/// Every graph that can be reached from `start`, breadth first, by copying graphs and matching each afresh:
/// the slow and obvious reference for searches and known optima.
inline Optimum exhaustive_optimum(const graph::Graph& start, const rules::RuleSet& rules,
                                  const cost::CostFactory& costs, std::size_t limit) {
  struct Item {
    graph::Graph graph;
    std::uint32_t steps;
  };
  Optimum best{costs.make(start)->cost().latency_us, 0, 1, true};
  std::unordered_set<Hash128> seen = {graph::structural_hash(start)};
  std::deque<Item> queue;
  queue.push_back({start, 0});
  while (!queue.empty()) {
    const Item item = std::move(queue.front());
    queue.pop_front();
    const rules::MatchIndex index(rules, item.graph);
    for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
      for (const rules::Match& match : index.matches(rule)) {
        graph::Graph next = item.graph;
        rules::apply(next, rules, match);
        if (!seen.insert(graph::structural_hash(next)).second) continue;
        if (seen.size() > limit) {
          best.complete = false;
          best.graphs = limit;
          return best;
        }
        const double latency_us = costs.make(next)->cost().latency_us;
        if (latency_us < best.latency_us - 1e-9) best = {latency_us, item.steps + 1, 0, true};
        next.commit();
        queue.push_back({std::move(next), item.steps + 1});
      }
    }
  }
  best.graphs = seen.size();
  return best;
}

}
