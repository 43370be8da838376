#pragma once

#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace regraft::graph {

/// The canonical order of a graph that is edited: it does not depend on the ids of nodes. Weights have no
/// place in it: they are there before all else.
///
/// Data flow: touched nodes are remembered. When the order is asked for, one pass of Kahn's algorithm goes
/// over the live nodes. It hashes those that changed, or read one that did, as they become ready. Nodes that
/// read weights at most stay sorted between passes and are merged in. The hash of the uses is only made where
/// two ready nodes have equal Merkle hashes. A pass is linear in nodes and edges, except for the few
/// operations that are ready together. It allocates nothing once the graph has had its largest size. One
/// thread.
class CanonicalOrder {
 public:
  /// The graph outlives it.
  explicit CanonicalOrder(const Graph& graph);

  /// Call after edits or undo with graph.touched_since(mark).
  void update(std::span<const NodeId> touched);

  /// Live nodes but for weights in canonical order, valid until the next update. Throws GraphError on a
  /// cycle.
  std::span<const NodeId> order();
  /// The place of each live node in order(), by id; 0 for weights.
  const std::vector<std::uint32_t>& positions();

 private:
  /// Which of the hashes have been found; a pass is compiled for each.
  enum class Hashes : std::uint8_t { merkle, merkle_and_uses };
  struct Ready {
    std::uint64_t key = 0;  // the half of its Merkle hash that counts first
    NodeId node = kNoNode;
  };

  void refresh();
  void note_edits();
  void note_edit(NodeId id);
  template <Hashes kKnown>
  void pass();
  void hash_uses();
  void settle(NodeId id);
  template <Hashes kKnown>
  bool before(Ready a, Ready b) {
    return a.key != b.key ? a.key < b.key : before_by_all<kKnown>(a.node, b.node);
  }
  template <Hashes kKnown>
  bool before_by_all(NodeId a, NodeId b);
  Hash128 hash_of(NodeId id) const;

  const Graph& graph_;
  std::vector<Hash128> operations_;                          // by node: of all but its inputs
  std::vector<Hash128> merkle_, down_;                       // by node
  std::vector<std::uint32_t> inputs_, waiting_, positions_;  // by node
  std::vector<std::uint8_t> stale_;                          // by node: is hashed in the next pass
  std::vector<std::uint8_t> listed_, source_;                // by node: is in the order; is in sources_
  std::size_t count_ = 0;                                    // of listed nodes
  std::vector<Ready> sources_;                               // live nodes that wait for none, sorted
  std::vector<Ready> ready_;                                 // a heap
  std::vector<NodeId> order_, touched_;
  bool fresh_ = false, tie_ = false;
};

}
