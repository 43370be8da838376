#pragma once

#include <algorithm>
#include <string>

#include "core/graph/order.h"

namespace regraft::graph {

/// Checks every invariant of a graph (acyclic, uses consistent, types as inferred) and throws GraphError on
/// the first that fails.
inline void validate(const Graph& graph) {
  const auto broken = [](NodeId id, const std::string& problem) {
    throw GraphError(problem, "node " + std::to_string(id), "this is a bug in the edit that was made");
  };
  std::size_t expected_uses = graph.outputs().size(), found_uses = 0;
  for (NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id)) {
      if (!graph.uses(id).empty()) broken(id, "is dead and used");
      continue;
    }
    const Node& node = graph.node(id);
    found_uses += graph.uses(id).size();
    if (!std::is_sorted(graph.uses(id).begin(), graph.uses(id).end())) broken(id, "its uses are not sorted");
    for (std::uint32_t slot = 0; slot < node.inputs.size(); ++slot) {
      const Value value = node.inputs[slot];
      if (!value.present()) continue;
      ++expected_uses;
      if (!graph.alive(value.node) || value.output >= graph.node(value.node).outputs.size())
        broken(id, "reads a dead value");
      const auto uses = graph.uses(value.node);
      if (!std::binary_search(uses.begin(), uses.end(), Use{id, slot}))
        broken(id, "is missing from a use list");
    }
    if (node.signature != graph.signature_of(node)) broken(id, "has a stale signature");
    if (!is_operation(node.kind) || node.kind == OpKind::opaque) continue;
    const TypeList types = infer_types(graph.tables(), node.kind, graph.tables().attrs(node.attrs),
                                       operands_of(graph, node.inputs));
    if (types.size() != node.outputs.size()) broken(id, "has the wrong number of outputs");
    for (std::size_t i = 0; i < types.size(); ++i)
      if (!may_be_equal(graph.tables().type(types[i]), graph.tables().type(node.outputs[i])))
        broken(id, "has the wrong type");
  }
  if (expected_uses != found_uses) throw GraphError("use lists hold stale entries", "graph", "");
  topological_order(graph);  // throws on a cycle
}

}
