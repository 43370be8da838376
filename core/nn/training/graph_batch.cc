#include "core/nn/training/graph_batch.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "core/nn/model/nn_error.h"

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

/// For each group its degree to a power, 0 for none.
template <typename Power>
std::vector<float> degree_scale(const RowMap& map, Power power) {
  std::vector<float> scale(map.groups(), 0.0f);
  for (std::size_t group = 0; group < map.groups(); ++group) {
    const int degree = map.offsets[group + 1] - map.offsets[group];
    if (degree > 0) scale[group] = static_cast<float>(power(static_cast<double>(degree)));
  }
  return scale;
}

/// Where the rows of a graph begin in a batch.
struct Place {
  std::size_t node = 0, edge = 0, candidate = 0, matched = 0, root = 0;

  Place behind(const Observation& observation) const {
    std::size_t roots = 0;
    for (std::size_t row = 0; row < observation.candidate_count(); ++row)
      roots += observation.matched_nodes(row).empty() ? 0 : 1;
    return {node + observation.node_count(), edge + observation.edge_count(),
            candidate + observation.candidate_count(), matched + observation.candidate_nodes.size(),
            root + roots};
  }
};

/// The columns of a batch while it is filled, graph by graph, by several threads.
struct Columns {
  Columns(GraphBatch& of, const Place& end, std::size_t graphs)
      : batch(of),
        kinds(end.node),
        senders(end.edge),
        receivers(end.edge),
        node_graph(end.node),
        edge_graph(end.edge),
        candidate_rule(end.candidate),
        matched_candidate(end.matched),
        matched_node(end.matched),
        root_candidate(end.root),
        root_node(end.root) {
    batch.node_features.resize(end.node * env::kNodeFeatures);
    batch.edge_features.resize(end.edge * env::kEdgeFeatures);
    batch.globals.resize(graphs * env::kGlobalFeatures);
  }

  void fill(const Observation& observation, std::size_t graph, Place at);
  void finish(std::uint32_t node_kinds, std::size_t rule_rows);

  GraphBatch& batch;
  std::vector<std::int32_t> kinds, senders, receivers, node_graph, edge_graph;
  std::vector<std::int32_t> candidate_rule, matched_candidate, matched_node, root_candidate, root_node;
};

/// By LibTorch's threads.
template <typename Work>
void each_graph(std::size_t graphs, const Work& work) {
  constexpr std::int64_t kLeast = 16;  // of a thread
  at::parallel_for(0, static_cast<std::int64_t>(graphs), kLeast, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t graph = begin; graph < end; ++graph) work(static_cast<std::size_t>(graph));
  });
}

/// Copies a column to the rows from `first` on, `shift` added to each.
template <typename To, typename From>
void put(std::vector<To>& to, std::size_t first, const std::vector<From>& from, std::size_t shift = 0) {
  std::ranges::transform(from, to.begin() + static_cast<std::ptrdiff_t>(first),
                         [&](From value) { return static_cast<To>(value) + static_cast<To>(shift); });
}

void Columns::fill(const Observation& observation, std::size_t graph, Place at) {
  const auto number = static_cast<std::int32_t>(graph);
  const auto first = static_cast<std::ptrdiff_t>(at.node);
  put(kinds, at.node, observation.node_kinds);
  std::fill_n(node_graph.begin() + first, observation.node_count(), number);
  put(senders, at.edge, observation.senders, at.node);
  put(receivers, at.edge, observation.receivers, at.node);
  std::fill_n(edge_graph.begin() + static_cast<std::ptrdiff_t>(at.edge), observation.edge_count(), number);
  put(batch.node_features, at.node * env::kNodeFeatures, observation.node_features);
  put(batch.edge_features, at.edge * env::kEdgeFeatures, observation.edge_features);
  put(batch.globals, graph * env::kGlobalFeatures, observation.globals);
  put(matched_node, at.matched, observation.candidate_nodes, at.node);
  for (std::size_t row = 0; row < observation.candidate_count(); ++row) {
    const auto candidate = static_cast<std::int32_t>(at.candidate + row);
    candidate_rule[at.candidate + row] = static_cast<std::int32_t>(observation.rule_row(row));
    const std::size_t matched = observation.matched_nodes(row).size();
    std::fill_n(matched_candidate.begin() + static_cast<std::ptrdiff_t>(at.matched), matched, candidate);
    if (matched > 0) {
      root_candidate[at.root] = candidate;
      root_node[at.root++] = matched_node[at.matched];
    }
    at.matched += matched;
  }
}

void Columns::finish(std::uint32_t node_kinds, std::size_t rule_rows) {
  const std::size_t nodes = kinds.size(), candidates = candidate_rule.size(), graphs = batch.graphs();
  const auto root = [](double degree) { return 1 / std::sqrt(degree); };
  const auto inverse = [](double degree) { return 1 / degree; };
  batch.node_kind = make_row_map(std::move(kinds), node_kinds);
  batch.sender = make_row_map(std::move(senders), nodes);
  batch.receiver = make_row_map(std::move(receivers), nodes);
  batch.node_graph = make_row_map(std::move(node_graph), graphs);
  batch.edge_graph = make_row_map(std::move(edge_graph), graphs);
  batch.candidate_rule = make_row_map(std::move(candidate_rule), rule_rows);
  batch.matched_candidate = make_row_map(std::move(matched_candidate), candidates);
  batch.matched_node = make_row_map(std::move(matched_node), nodes);
  batch.root_candidate = make_row_map(std::move(root_candidate), candidates);
  batch.root_node = make_row_map(std::move(root_node), nodes);
  // A sum scaled by the root of the degree keeps counts visible and stays bounded.
  batch.outgoing_scale = degree_scale(batch.sender, root);
  batch.incoming_scale = degree_scale(batch.receiver, root);
  batch.node_count_inverse = degree_scale(batch.node_graph, inverse);
  batch.edge_count_inverse = degree_scale(batch.edge_graph, inverse);
  batch.matched_inverse = degree_scale(batch.matched_candidate, inverse);
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
  require(all_below(observation.candidate_rules, rule_count + 1),
          "a candidate's rule is outside the rule set");
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
    const std::size_t rule = observation.candidate_rules[row], count = observation.location_counts[rule];
    const bool one_of_many =
        count > 1 && !observation.stands_for_all(rule, observation.candidate_locations[row]);
    to.push_back(one_of_many ? -std::log(static_cast<float>(count - 1)) : 0.0F);
  }
}

CandidateGroups make_candidate_groups(std::span<const Observation* const> observations) {
  CandidateGroups groups;
  groups.offsets.push_back(0);
  std::vector<std::int32_t> graph, pair, pair_graph;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const std::vector<std::uint16_t>& rules = observations[i]->candidate_rules;
    for (std::size_t row = 0; row < rules.size(); ++row) {
      if (row == 0 || rules[row] != rules[row - 1]) {
        require(row == 0 || rules[row] > rules[row - 1], "candidates are not ordered by rule");
        pair_graph.push_back(static_cast<std::int32_t>(i));
        groups.rules.push_back(rules[row]);
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
  each_graph(observations.size(),
             [&](std::size_t graph) { check(*observations[graph], node_kinds, rule_count); });
  std::vector<Place> places(1);
  for (const Observation* observation : observations) {
    require(observation->action_mode == observations.front()->action_mode,
            "it has other actions than the first");
    places.push_back(places.back().behind(*observation));
  }
  const Place& end = places.back();
  require(std::max({end.node, end.edge, end.candidate, end.matched}) < kMaxRows,
          "the batch has too many rows");
  GraphBatch batch;
  batch.groups = make_candidate_groups(observations);
  Columns columns(batch, end, observations.size());
  each_graph(observations.size(),
             [&](std::size_t graph) { columns.fill(*observations[graph], graph, places[graph]); });
  const env::RuleFeatureTable table{rule_count, {}, observations.front()->action_mode};
  columns.finish(node_kinds, table.rows());
  return batch;
}

}
