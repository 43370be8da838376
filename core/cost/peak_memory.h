#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace regraft::cost {

/// The largest sum of live tensors when the nodes run in topological order (first ready, first run; ids
/// ascending at the start) and a tensor is freed after its last use. By node id: `bytes` of its outputs, and
/// `shares` the node whose memory they are in, or kNoNode when they are its own. Graph outputs are never
/// freed. Weights are there before and after: they are not counted, and nothing shares with them what counts.
std::int64_t peak_bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                        std::span<const graph::NodeId> shares);

/// The same of a graph that is edited.
///
/// Data flow: update() and set() keep one record a node, of the size of a cache line, with the neighbours
/// that a pass goes to; bytes() passes over the records of all nodes but weights. Nodes without inputs run
/// first and make nothing ready that is not known beforehand: which nodes read them alone, in the order in
/// which they become so. Of the others it is kept how many inputs are still to come then. One thread.
class PeakMemory {
 public:
  /// Call after edits, first with all nodes; ids that are dead count too.
  void update(const graph::Graph& graph, std::span<const graph::NodeId> touched);
  /// What a live node that update() has seen needs: bytes of its own, or, with none, another's memory.
  void set(graph::NodeId id, std::int64_t bytes, graph::NodeId shares) {
    records_[id].bytes = bytes;
    records_[id].shares = shares;
  }
  std::int64_t bytes(const graph::Graph& graph);

 private:
  static constexpr std::size_t kNeighbours = 7;
  /// Users and operands of a node that has more are asked of the graph.
  static constexpr std::uint8_t kMany = 255;

  struct alignas(64) Record {
    std::int64_t bytes = 0;
    graph::NodeId shares = graph::kNoNode;
    graph::NodeId holder = graph::kNoNode;
    std::uint32_t inputs = 0;   // that no source makes
    std::uint32_t waiting = 0;  // those of them that are still to come; all of them between passes
    std::uint32_t readers = 0;  // of its memory, still to come
    std::uint32_t uses = 0;     // graph outputs included
    std::uint8_t users = 0;     // among the neighbours, in the order of its uses; or kMany
    std::uint8_t operands = 0;  // behind them, weights left out
    std::array<graph::NodeId, kNeighbours> neighbours{};
  };
  /// A node that reads sources alone is ready after the last of them.
  struct Early {
    graph::NodeId last_source = graph::kNoNode, node = graph::kNoNode;
    auto operator<=>(const Early&) const = default;
  };
  /// Nodes without inputs.
  enum class Source : std::uint8_t { none, weight, other };

  void note(const graph::Graph& graph, graph::NodeId id);
  void note_neighbours(const graph::Graph& graph, graph::NodeId id);
  void note_last_source(graph::NodeId id, graph::NodeId last);
  bool is_source(graph::NodeId id) const { return source_[id] != Source::none; }
  std::span<const graph::NodeId> users(const graph::Graph& graph, const Record& record, graph::NodeId id);
  std::span<const graph::NodeId> operands(const graph::Graph& graph, const Record& record, graph::NodeId id);

  std::vector<Record> records_;             // by node
  std::vector<Source> source_;              // by node
  std::vector<graph::NodeId> sources_;      // live ones but weights, ascending
  std::vector<Early> early_;                // ascending
  std::vector<graph::NodeId> last_source_;  // by node: of its entry in early_, or kNoNode
  std::vector<graph::NodeId> order_, moved_, many_;
};

}  // namespace regraft::cost
