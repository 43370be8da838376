#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/env/observation.h"

namespace regraft::nn {

/// A many-to-one map between rows: row `i` belongs to group `group[i]`, and group `g` has
/// `offsets[g + 1] - offsets[g]` rows. Where groups ascend, its rows are `[offsets[g], offsets[g + 1])`. Its
/// two uses, gather (groups to rows) and segment sum (rows to groups), are each other's gradient.
struct RowMap {
  std::vector<std::int32_t> group;    // [rows]
  std::vector<std::int32_t> offsets;  // [groups + 1]

  std::size_t rows() const { return group.size(); }
  std::size_t groups() const { return offsets.size() - 1; }
};

/// Throws NnError when a group is outside [0, group_count).
RowMap make_row_map(std::vector<std::int32_t> group, std::size_t group_count);

/// The candidates of many graphs by graph, and by rule within their graph: a pair is a graph and a legal rule
/// of it. Pairs are in the order of their candidates.
struct CandidateGroups {
  RowMap graph;                       // candidate -> graph
  RowMap pair;                        // candidate -> pair
  RowMap pair_graph;                  // pair -> graph
  std::vector<std::int32_t> rules;    // [pairs]
  std::vector<std::int32_t> offsets;  // [graphs + 1]: graph k's candidates are [offsets[k], offsets[k + 1])
  std::vector<float> log_priors;      // [c] as of log_priors(); none: all are 0
};

/// What is added to the scores of candidates where a rule at all of its sites is an action too
/// (ActionMode::all_sites): -log s for each of a rule's s > 1 sites, 0 for others. So before training, a
/// pointer policy takes rules of many sites as often as rules of two. Either head takes all of a rule's sites
/// as often as any single one; without this the action for 200 sites is one of 201. Appends; nothing in
/// the other mode.
void append_log_priors(std::vector<float>& to, const env::Observation& observation);

CandidateGroups make_candidate_groups(std::span<const env::Observation* const> observations);

/// Many graphs as one disjoint graph: n nodes, e edges, g graphs, c candidates, m matched nodes in all. Host
/// arrays; the observations may go away.
struct GraphBatch {
  RowMap node_kind;                       // node -> op kind
  std::vector<float> node_features;       // [n * kNodeFeatures]
  std::vector<float> edge_features;       // [e * kEdgeFeatures]
  std::vector<float> globals;             // [g * kGlobalFeatures]
  RowMap sender, receiver;                // edge -> node
  RowMap node_graph, edge_graph;          // node, edge -> graph
  std::vector<float> outgoing_scale;      // [n] 1 / sqrt(out-degree), 0 for none
  std::vector<float> incoming_scale;      // [n] 1 / sqrt(in-degree), 0 for none
  std::vector<float> node_count_inverse;  // [g] 1 / nodes, 0 for none
  std::vector<float> edge_count_inverse;  // [g]
  RowMap candidate_rule;                  // candidate -> row of the RuleFeatureTable
  RowMap matched_candidate;               // matched node -> candidate
  RowMap matched_node;                    // matched node -> node
  RowMap root_candidate;                  // root -> candidate (NO-OP has no root)
  RowMap root_node;                       // root -> node
  std::vector<float> matched_inverse;     // [c] 1 / matched nodes, 0 for none
  CandidateGroups groups;

  std::size_t graphs() const { return groups.offsets.size() - 1; }
  std::size_t nodes() const { return node_kind.rows(); }
  std::size_t edges() const { return sender.rows(); }
  std::size_t candidates() const { return candidate_rule.rows(); }
};

/// What every consumer of an observation relies on: sizes agree, indices are in range, at least one node and
/// one candidate. Throws NnError.
void check(const env::Observation& observation, std::uint32_t node_kinds, std::size_t rule_count);

/// Checks and joins. Throws NnError; at least one observation.
GraphBatch make_batch(std::span<const env::Observation* const> observations, std::uint32_t node_kinds,
                      std::size_t rule_count);

}
