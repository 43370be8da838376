#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace regraft::graph {

/// What a node is except for its inputs: kind, attributes, types, weight contents.
Hash128 operation_hash(const Graph& graph, NodeId id);
/// From a node's operation_hash() and the Merkle hashes of its inputs, by id.
inline Hash128 merkle_hash(Hash128 operation, const Node& node, const std::vector<Hash128>& merkle) {
  for (const Value value : node.inputs) {
    Hash128 read = value.present() ? merkle[value.node] : Hash128{};
    read.low += value.output;
    operation = chained(operation, read);
  }
  return operation;
}
/// What a node is used for, from the Merkle hashes and the uses_hash() of its users, by id.
Hash128 uses_hash(const Graph& graph, NodeId id, const std::vector<Hash128>& merkle,
                  const std::vector<Hash128>& down);

/// Merkle hash of every live node, by id: kind, attributes, types, weight contents and the hashes of its
/// inputs in order. Equal hashes mean structurally equal sub-graphs.
std::vector<Hash128> merkle_hashes(const Graph& graph);

/// Hash of the whole graph: Merkle hash of the outputs combined with a commutative sum over live nodes, so
/// that shared and duplicated sub-graphs differ; independent of ids, names and node order.
Hash128 structural_hash(const Graph& graph);

/// Live nodes by Kahn's algorithm, by ascending id among the ready ones. Throws GraphError on a cycle.
std::vector<NodeId> topological_order(const Graph& graph);

/// Whether `to` can be reached from any of `from` along uses (a node reaches itself).
bool reaches(const Graph& graph, std::span<const NodeId> from, NodeId to);

}
