#pragma once

#include <limits>
#include <span>

#include "core/env/features.h"
#include "core/env/observation.h"
#include "core/env/rewrite_state.h"

namespace regraft::env {

/// What an observation says besides the graph.
struct ObservationFrame {
  const cost::Cost& initial;  // of the episode's first graph
  std::uint32_t step = 0;     // steps taken
  std::uint32_t horizon = 1;
  std::uint32_t location_limit = 200;
  ActionMode action_mode = ActionMode::one_site;  // all_sites: the location limit is at least 2
};

/// Writes observations of the graphs of one Tables. Columns: the tables in features.h.
///
/// Data flow: a node row is the cached row of its signature plus two columns that are read anew (uses and
/// cost share). So an observation after any walk equals that of a fresh writer on the same graph. A node's
/// last row is kept, and copied where nothing in it has changed. Node rows are O(nodes), matches come from
/// the state's index in its canonical order. One thread.
class ObservationWriter {
 public:
  ObservationWriter(const graph::Tables& tables, const graph::Bindings& bindings);

  /// Overwrites `out`, reusing its memory. Throws EnvError where the schema cannot hold the graph (65536
  /// rules or more, half as many in the mode `all_sites`).
  void write(RewriteState& state, const ObservationFrame& frame, Observation& out);

 private:
  void write_nodes(RewriteState& state, const ObservationFrame& frame, Observation& out);
  void write_edges(const graph::Graph& graph, Observation& out);
  void write_candidates(RewriteState& state, const ObservationFrame& frame, Observation& out);
  /// Returns the number of candidates, NO-OP apart.
  static std::size_t count_locations(const rules::MatchIndex& index, const ObservationFrame& frame,
                                     Observation& out);
  /// The matched nodes of one site, and of all of a rule; the number of rows that are written then.
  std::size_t write_site(const rules::Match& match, std::size_t written, Observation& out) const;
  std::size_t write_all_sites(std::span<const rules::Match> matches, std::size_t written,
                              Observation& out) const;

  /// The last row of a node, and what it was made from.
  struct NodeRow {
    graph::SignatureId signature{};
    std::uint32_t uses = 0;
    bool one_output = false;
    double cost_share = std::numeric_limits<double>::quiet_NaN();  // before scaling; equals none at first
    NodeFeatureRow features{};
  };

  void forget_where_void();
  const NodeFeatureRow& node_row(graph::NodeId id, const graph::Node& node, std::size_t uses,
                                 double cost_share);

  const graph::Tables* tables_;
  std::uint64_t generation_;  // of the tables, as what follows knows them
  SignatureFeatures features_;
  std::vector<NodeRow> node_rows_;  // by node id
  SmallLogs half_log_{2};           // of uses and slots
  std::vector<std::int32_t> rows_;  // by node id; -1: no row
  std::size_t edges_ = 0;           // between nodes that have rows
};

}
