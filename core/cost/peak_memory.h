#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cost/run_order.h"
#include "core/graph/graph.h"

namespace regraft::cost {

/// The peak memory of a graph that is edited: the largest sum of live tensors when the nodes run in
/// topological order. The first ready runs first, ids ascending at the start; a tensor is freed after its
/// last use. By node id: `bytes` of its outputs, and `shares` the node whose memory they are in, or kNoNode
/// when they are its own. Graph outputs are never freed. Weights are there before and after: they are not
/// counted, and nothing shares with them what counts.
///
/// Data flow: update() and set() remember what changed. bytes() updates the order of running (run_order.h),
/// finds the last reader of memory anew whose use or readers changed, and asks the line (live_profile.h) for
/// its peak. So an edit costs what it moves, and nothing until somebody asks. One thread.
class PeakMemory {
 public:
  /// Call after edits, first with all nodes; ids that are dead count too.
  void update(const graph::Graph& graph, std::span<const graph::NodeId> touched);
  /// What a live node that update() has seen needs: bytes of its own, or, with none, another's memory.
  void set(graph::NodeId id, std::int64_t bytes, graph::NodeId shares);
  std::int64_t bytes(const graph::Graph& graph);

 private:
  struct Record {
    std::int64_t bytes = 0;
    std::int64_t given = 0;  // by `reader`
    graph::NodeId shares = graph::kNoNode;
    graph::NodeId reader = graph::kNoNode;  // that gives its memory back; none gives a graph output's
    bool stale = false;                     // is in stale_
    bool asked = false;                     // is in holders_
  };

  void note(graph::NodeId id);
  void follow(const graph::Graph& graph);
  graph::NodeId holder_of(graph::NodeId id) const;
  void find_holders();
  graph::NodeId last_reader(const graph::Graph& graph, graph::NodeId holder);
  void hold(graph::NodeId id, std::int64_t bytes, graph::NodeId reader);

  RunOrder order_;
  std::vector<Record> records_;         // by node
  std::vector<graph::NodeId> touched_;  // since the last bytes()
  bool all_touched_ = false;            // then touched_ is empty
  std::vector<graph::NodeId> stale_, holders_, group_;
};

}
