#include "core/nn/graph_batch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "core/nn/error.h"

namespace regraft::nn {
namespace {

using env::Observation;

constexpr std::size_t kMaxRows = std::numeric_limits<std::int32_t>::max();

void require(bool holds, const char* problem) {
  if (!holds) throw NnError(problem, "observation", "the environment and the policy disagree: report it");
}

template <typename T>
bool all_below(const std::vector<T>& values, std::size_t bound) {
  return std::ranges::all_of(values,
                             [&](T value) { return value >= 0 && static_cast<std::size_t>(value) < bound; });
}

void append_shifted(std::vector<std::int32_t>& to, const std::vector<std::int32_t>& from, std::size_t shift) {
  for (const auto value : from) to.push_back(value + static_cast<std::int32_t>(shift));
}

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::vector<float> degree_scale(const RowMap& map, double power) {
  std::vector<float> scale(map.groups(), 0.0f);
  for (std::size_t group = 0; group < map.groups(); ++group) {
    const int degree = map.offsets[group + 1] - map.offsets[group];
    if (degree > 0) scale[group] = static_cast<float>(std::pow(degree, power));
  }
  return scale;
}

/// The columns of a batch while they grow.
struct Columns {
  std::vector<std::int32_t> kinds, senders, receivers, node_graph, edge_graph;
  std::vector<std::int32_t> candidate_rule, matched_candidate, matched_node, root_candidate, root_node;

  void add_candidates(const Observation& observation, std::size_t first_node) {
    const auto first = static_cast<std::int32_t>(candidate_rule.size());
    for (std::size_t row = 0; row < observation.candidate_count(); ++row) {
      const auto candidate = first + static_cast<std::int32_t>(row);
      candidate_rule.push_back(static_cast<std::int32_t>(observation.rule_row(row)));
      const auto matched = observation.matched_nodes(row);
      for (const auto node : matched) {
        matched_candidate.push_back(candidate);
        matched_node.push_back(node + static_cast<std::int32_t>(first_node));
      }
      if (matched.empty()) continue;
      root_candidate.push_back(candidate);
      root_node.push_back(matched.front() + static_cast<std::int32_t>(first_node));
    }
  }
};

void finish(GraphBatch& batch, Columns columns, std::uint32_t node_kinds, std::size_t rule_rows) {
  const std::size_t nodes = columns.kinds.size();
  const std::size_t candidates = columns.candidate_rule.size();
  const std::size_t graphs = batch.graphs();
  batch.node_kind = make_row_map(std::move(columns.kinds), node_kinds);
  batch.sender = make_row_map(std::move(columns.senders), nodes);
  batch.receiver = make_row_map(std::move(columns.receivers), nodes);
  batch.node_graph = make_row_map(std::move(columns.node_graph), graphs);
  batch.edge_graph = make_row_map(std::move(columns.edge_graph), graphs);
  batch.candidate_rule = make_row_map(std::move(columns.candidate_rule), rule_rows);
  batch.matched_candidate = make_row_map(std::move(columns.matched_candidate), candidates);
  batch.matched_node = make_row_map(std::move(columns.matched_node), nodes);
  batch.root_candidate = make_row_map(std::move(columns.root_candidate), candidates);
  batch.root_node = make_row_map(std::move(columns.root_node), nodes);
  // A sum scaled by the root of the degree keeps counts visible and stays bounded.
  batch.outgoing_scale = degree_scale(batch.sender, -0.5);
  batch.incoming_scale = degree_scale(batch.receiver, -0.5);
  batch.node_count_inverse = degree_scale(batch.node_graph, -1.0);
  batch.edge_count_inverse = degree_scale(batch.edge_graph, -1.0);
  batch.matched_inverse = degree_scale(batch.matched_candidate, -1.0);
}

}  // namespace

RowMap make_row_map(std::vector<std::int32_t> group, std::size_t group_count) {
  RowMap map;
  map.offsets.assign(group_count + 1, 0);
  for (const auto g : group) {
    if (g < 0 || static_cast<std::size_t>(g) >= group_count) {
      throw NnError("index " + std::to_string(g) + " is outside [0, " + std::to_string(group_count) + ")",
                    "row map", "");
    }
    ++map.offsets[static_cast<std::size_t>(g) + 1];
  }
  std::partial_sum(map.offsets.begin(), map.offsets.end(), map.offsets.begin());
  map.group = std::move(group);
  return map;
}

void check(const Observation& observation, std::uint32_t node_kinds, std::size_t rule_count) {
  const std::size_t nodes = observation.node_count();
  const std::size_t edges = observation.edge_count();
  const std::size_t candidates = observation.candidate_count();
  require(candidates > 0, "it has no candidate");
  require(nodes < kMaxRows && edges < kMaxRows && candidates < kMaxRows, "it has too many rows");
  require(observation.node_kinds.size() == nodes, "node kinds and ids differ in number");
  require(all_below(observation.node_kinds, node_kinds), "a node kind is outside the network's embedding");
  require(observation.node_features.size() == nodes * env::kNodeFeatures, "node features have another size");
  require(observation.receivers.size() == edges, "senders and receivers differ in number");
  require(observation.edge_features.size() == edges * env::kEdgeFeatures, "edge features have another size");
  require(all_below(observation.senders, nodes) && all_below(observation.receivers, nodes),
          "an edge leaves the graph");
  require(observation.globals.size() == env::kGlobalFeatures, "globals have another size");
  require(all_below(observation.candidate_xfers, rule_count + 1),
          "a candidate's xfer is outside the rule set");
  require(observation.action_mode == env::ActionMode::one_site ||
              (observation.location_counts.size() == rule_count + 1 &&
               observation.candidate_locations.size() == candidates),
          "its locations do not fit the rule set");
  const auto& offsets = observation.candidate_offsets;
  require(offsets.size() == candidates + 1 && offsets.front() == 0 && std::ranges::is_sorted(offsets) &&
              offsets.back() == observation.candidate_nodes.size(),
          "candidate offsets do not fit the matched nodes");
  require(all_below(observation.candidate_nodes, nodes), "a matched node is outside the graph");
}

void append_log_priors(std::vector<float>& to, const Observation& observation) {
  if (observation.action_mode == env::ActionMode::one_site) return;
  for (std::size_t row = 0; row < observation.candidate_count(); ++row) {
    const std::size_t xfer = observation.candidate_xfers[row], count = observation.location_counts[xfer];
    const bool one_of_many =
        count > 1 && !observation.stands_for_all(xfer, observation.candidate_locations[row]);
    to.push_back(one_of_many ? -std::log(static_cast<float>(count - 1)) : 0.0F);
  }
}

CandidateGroups make_candidate_groups(std::span<const Observation* const> observations) {
  CandidateGroups groups;
  groups.offsets.push_back(0);
  std::vector<std::int32_t> graph, pair, pair_graph;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const std::vector<std::uint16_t>& xfers = observations[i]->candidate_xfers;
    for (std::size_t row = 0; row < xfers.size(); ++row) {
      if (row == 0 || xfers[row] != xfers[row - 1]) {
        require(row == 0 || xfers[row] > xfers[row - 1], "candidates are not ordered by xfer");
        pair_graph.push_back(static_cast<std::int32_t>(i));
        groups.xfers.push_back(xfers[row]);
      }
      graph.push_back(static_cast<std::int32_t>(i));
      pair.push_back(static_cast<std::int32_t>(pair_graph.size()) - 1);
    }
    groups.offsets.push_back(static_cast<std::int32_t>(graph.size()));
    append_log_priors(groups.log_priors, *observations[i]);
  }
  groups.graph = make_row_map(std::move(graph), observations.size());
  groups.pair = make_row_map(std::move(pair), pair_graph.size());
  groups.pair_graph = make_row_map(std::move(pair_graph), observations.size());
  return groups;
}

GraphBatch make_batch(std::span<const Observation* const> observations, std::uint32_t node_kinds,
                      std::size_t rule_count) {
  if (observations.empty()) throw NnError("an empty batch", "graph batch", "give at least one observation");
  GraphBatch batch;
  Columns columns;
  for (std::size_t graph = 0; graph < observations.size(); ++graph) {
    const Observation& observation = *observations[graph];
    check(observation, node_kinds, rule_count);
    require(observation.action_mode == observations.front()->action_mode,
            "it has other actions than the first");
    const std::size_t first_node = columns.kinds.size();
    require(first_node + observation.node_count() < kMaxRows, "the batch has too many rows");
    columns.kinds.insert(columns.kinds.end(), observation.node_kinds.begin(), observation.node_kinds.end());
    columns.node_graph.resize(columns.kinds.size(), static_cast<std::int32_t>(graph));
    append_shifted(columns.senders, observation.senders, first_node);
    append_shifted(columns.receivers, observation.receivers, first_node);
    columns.edge_graph.resize(columns.senders.size(), static_cast<std::int32_t>(graph));
    append(batch.node_features, observation.node_features);
    append(batch.edge_features, observation.edge_features);
    append(batch.globals, observation.globals);
    columns.add_candidates(observation, first_node);
  }
  batch.groups = make_candidate_groups(observations);
  const env::RuleFeatureTable table{rule_count, {}, observations.front()->action_mode};
  finish(batch, std::move(columns), node_kinds, table.rows());
  return batch;
}

}  // namespace regraft::nn
