#pragma once

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "core/graph/order.h"

namespace regraft::graph::testing {

/// The canonical order, made anew and without weights: of the nodes that are ready the first by Merkle hash,
/// then by the hash of its uses. Nodes equal in both are interchangeable: either order gives the same graph.
inline std::vector<NodeId> canonical_order(const Graph& graph) {
  const std::vector<NodeId> any = topological_order(graph);
  const std::vector<Hash128> merkle = merkle_hashes(graph);
  std::vector<Hash128> down(graph.id_bound());
  for (auto at = any.rbegin(); at != any.rend(); ++at) down[*at] = uses_hash(graph, *at, merkle, down);

  const auto is_weight = [&](NodeId id) { return graph.node(id).kind == OpKind::weight; };
  std::set<NodeId> placed, left(any.begin(), any.end());
  std::erase_if(left, is_weight);
  const auto is_ready = [&](NodeId id) {
    return std::ranges::all_of(graph.node(id).inputs, [&](Value value) {
      return !value.present() || is_weight(value.node) || placed.contains(value.node);
    });
  };
  std::vector<NodeId> order;
  while (!left.empty()) {
    std::vector<NodeId> ready;
    std::ranges::copy_if(left, std::back_inserter(ready), is_ready);
    order.push_back(
        std::ranges::min(ready, {}, [&](NodeId id) { return std::tuple(merkle[id], down[id], id); }));
    left.erase(order.back());
    placed.insert(order.back());
  }
  return order;
}

}
