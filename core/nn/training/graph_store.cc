#include "core/nn/training/graph_store.h"

#include <optional>

#include "core/nn/training/device_tensor.h"

namespace regraft::nn::training {
namespace {

using torch::Tensor;

std::vector<std::int64_t> wide(const std::vector<std::int32_t>& offsets) {
  return {offsets.begin(), offsets.end()};
}

/// Rows of the candidates before each graph, where `of_candidate` are those before each candidate.
std::vector<std::int64_t> by_graph(const std::vector<std::int32_t>& of_candidate,
                                   const std::vector<std::int32_t>& candidates) {
  std::vector<std::int64_t> offsets;
  for (const std::int32_t first : candidates)
    offsets.push_back(of_candidate[static_cast<std::size_t>(first)]);
  return offsets;
}

}  // namespace

/// The rows of one kind that belong to the chosen graphs.
struct GraphStore::Picked {
  Tensor rows;             // [r] of the store
  Tensor graph;            // [r] place of their graph among the chosen ones
  Tensor shift;            // [chosen graphs] from a row of the store to one of the selection
  std::int64_t count = 0;  // r

  Tensor of(const Tensor& column) const { return column.index_select(0, rows); }
  /// A column of these rows that names rows of another kind.
  Rows moved(const Rows& column, const Picked& to) const {
    return {of(column.group) + to.shift.index_select(0, graph), to.count};
  }
};

GraphStore::GraphStore(GraphBatch graphs, torch::Device device, torch::ScalarType type)
    : device_(device), all_(std::move(graphs), device, type) {
  const GraphBatch& host = all_.host;
  const std::vector<std::int32_t>& candidates = host.groups.offsets;
  offsets_[node] = wide(host.node_graph.offsets);
  offsets_[edge] = wide(host.edge_graph.offsets);
  offsets_[candidate] = wide(candidates);
  offsets_[matched] = by_graph(host.matched_candidate.offsets, candidates);
  offsets_[root] = by_graph(host.root_candidate.offsets, candidates);
  offsets_[pair] = wide(host.groups.pair_graph.offsets);
}

BatchTensors GraphStore::select(std::span<const std::size_t> graphs) const {
  std::vector<std::int64_t> table(graphs.begin(), graphs.end());  // [1 + 2 * kinds][graphs], in one copy
  std::array<std::int64_t, kinds> counts{};
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    for (const std::size_t graph : graphs) table.push_back(offsets_[kind][graph]);
    for (const std::size_t graph : graphs)
      counts[kind] += table.emplace_back(offsets_[kind][graph + 1] - offsets_[kind][graph]);
  }
  const auto chosen = static_cast<std::int64_t>(graphs.size());
  const Tensor sent = aliased(table, {1 + 2 * std::int64_t{kinds}, chosen}, device_);
  const auto pick = [&](std::size_t kind) {
    const Tensor first = sent[1 + 2 * static_cast<std::int64_t>(kind)];
    const Tensor count = sent[2 + 2 * static_cast<std::int64_t>(kind)];
    const Tensor graph = torch::repeat_interleave(count, std::optional(counts[kind]));
    const Tensor shift = count.cumsum(0) - count - first;
    const Tensor rows = torch::arange(counts[kind], count.options()) - shift.index_select(0, graph);
    return Picked{rows, graph, shift, counts[kind]};
  };
  const Picked nodes = pick(node), edges = pick(edge), candidates = pick(candidate), matches = pick(matched),
               roots = pick(root), pairs = pick(pair);
  const auto of_graphs = [&](const Tensor& column) { return column.index_select(0, sent[0]); };
  BatchTensors batch;
  batch.node_kind = {nodes.of(all_.node_kind.group), all_.node_kind.groups};
  batch.sender = edges.moved(all_.sender, nodes);
  batch.receiver = edges.moved(all_.receiver, nodes);
  batch.node_graph = {nodes.graph, chosen};
  batch.edge_graph = {edges.graph, chosen};
  batch.candidate_rule = {candidates.of(all_.candidate_rule.group), all_.candidate_rule.groups};
  batch.matched_candidate = matches.moved(all_.matched_candidate, candidates);
  batch.matched_node = matches.moved(all_.matched_node, nodes);
  batch.root_candidate = roots.moved(all_.root_candidate, candidates);
  batch.root_node = roots.moved(all_.root_node, nodes);
  batch.groups.graph = {candidates.graph, chosen};
  batch.groups.pair = candidates.moved(all_.groups.pair, pairs);
  batch.groups.pair_graph = {pairs.graph, chosen};
  batch.groups.rules = pairs.of(all_.groups.rules);
  if (all_.groups.log_priors.defined()) batch.groups.log_priors = candidates.of(all_.groups.log_priors);
  batch.node_features = nodes.of(all_.node_features);
  batch.edge_features = edges.of(all_.edge_features);
  batch.globals = of_graphs(all_.globals);
  batch.outgoing_scale = nodes.of(all_.outgoing_scale);
  batch.incoming_scale = nodes.of(all_.incoming_scale);
  batch.node_count_inverse = of_graphs(all_.node_count_inverse);
  batch.edge_count_inverse = of_graphs(all_.edge_count_inverse);
  batch.matched_inverse = candidates.of(all_.matched_inverse);
  return batch;
}

}
