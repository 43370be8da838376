#pragma once

#include <string>

#include "core/cost/analytic_cost.h"
#include "core/env/rewrite_state.h"
#include "core/rules/graph_builder.h"
#include "core/search/all_sites_descent.h"
#include "support/manual_clock.h"

namespace regraft::search::testing {

struct Found {
  graph::Graph graph;
  double gain;  // predicted
};

/// What descent leads to, with the shipped rules and device; or with blocks of other channels.
inline Found descend(rules::testing::GraphBuilder& b, double channel_block = 16) {
  b.graph().commit();
  const std::string root = REGRAFT_SOURCE_DIR;
  static const rules::RuleSet rules = rules::RuleSet::load(root + "/configs/rules");
  cost::DeviceProfile device = cost::load_device(root + "/configs/devices/cpu-1core.toml");
  device.channel_block = channel_block;
  const cost::AnalyticFactory costs(device);
  const ManualClock clock;
  Rng rng(1, "search");
  const SearchResult found = make_all_sites_descent()->run({b.graph(), rules, costs},
                                                           {.seconds = 1, .expansions = 500}, rng, {clock});
  return {env::replay(b.graph(), rules, found.path), found.initial.latency_us / found.best.latency_us};
}

/// Live operations of a kind; with a rank, those that make a tensor of it.
inline std::size_t count(const graph::Graph& graph, graph::OpKind kind, std::size_t rank = 0) {
  std::size_t found = 0;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id) || graph.node(id).kind != kind) continue;
    if (rank == 0 || graph.type({id, 0}).rank() == rank) ++found;
  }
  return found;
}

}
