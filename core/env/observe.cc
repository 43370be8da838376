#include "core/env/observe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/env/env_error.h"

namespace regraft::env {
namespace {

float log_ratio(double now, double initial) {
  return now > 0 && initial > 0 ? static_cast<float>(4 * std::log(now / initial)) : 0.0f;
}

float log_ratio_of_counts(double now, double initial) {
  return log_ratio(1 + now, 1 + initial);
}

std::size_t readers(const graph::Graph& graph, graph::Value value) {
  const bool alone = graph.node(value.node).outputs.size() == 1;
  return alone ? graph.uses(value.node).size() : graph.use_count(value);
}

void write_globals(const cost::Cost& now, const ObservationFrame& frame, Observation& out) {
  const cost::Cost& initial = frame.initial;
  std::size_t legal = 0;
  for (std::size_t xfer = 0; xfer + 1 < out.location_counts.size(); ++xfer)
    legal += out.location_counts[xfer] > 0;
  const double rules = static_cast<double>(out.location_counts.size()) - 1;
  out.globals = {log_ratio(now.latency_us, initial.latency_us),
                 static_cast<float>(frame.step) / static_cast<float>(frame.horizon),
                 log_ratio_of_counts(now.flops, initial.flops),
                 log_ratio_of_counts(now.bytes, initial.bytes),
                 log_ratio_of_counts(now.peak_memory_bytes, initial.peak_memory_bytes),
                 scaled_log(static_cast<double>(out.node_count()), 4),
                 scaled_log(static_cast<double>(out.candidate_count()) - 1, 4),
                 rules > 0 ? static_cast<float>(static_cast<double>(legal) / rules) : 0.0f};
}

}  // namespace

ObservationWriter::ObservationWriter(const graph::Tables& tables, graph::Bindings bindings)
    : features_(tables, std::move(bindings)) {}

void ObservationWriter::write(RewriteState& state, const ObservationFrame& frame, Observation& out) {
  write_nodes(state, frame, out);
  write_edges(state.graph(), out);
  write_candidates(state, frame, out);
  write_globals(state.cost(), frame, out);
}

void ObservationWriter::write_nodes(RewriteState& state, const ObservationFrame& frame, Observation& out) {
  const graph::Graph& graph = state.graph();
  cost::CostModel& cost = state.cost_model();
  const double to_share = frame.initial.latency_us > 0 ? 1024 / frame.initial.latency_us : 0;
  out.node_ids.clear();
  out.node_kinds.clear();
  out.node_features.resize(graph.live_count() * kNodeFeatures);
  auto to = out.node_features.begin();
  rows_.assign(graph.id_bound(), -1);
  if (node_rows_.size() < graph.id_bound()) node_rows_.resize(graph.id_bound());
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id) || graph.node(id).kind == graph::OpKind::weight) continue;
    const graph::Node& node = graph.node(id);
    rows_[id] = static_cast<std::int32_t>(out.node_ids.size());
    out.node_ids.push_back(id);
    out.node_kinds.push_back(static_cast<std::uint16_t>(node.kind));
    const NodeFeatureRow& row = node_row(graph, id, to_share * cost.node_latency_us(id));
    to = std::copy(row.begin(), row.end(), to);
  }
  out.node_features.resize(out.node_ids.size() * kNodeFeatures);
}

const NodeFeatureRow& ObservationWriter::node_row(const graph::Graph& graph, graph::NodeId id,
                                                  double cost_share) {
  NodeRow& held = node_rows_[id];
  const graph::SignatureId signature = graph.node(id).signature;
  const std::size_t uses = graph.uses(id).size();
  if (held.signature == signature && held.uses == uses && held.cost_share == cost_share) return held.features;
  held = {signature, uses, cost_share, features_.row(signature)};
  held.features[kFanOutFeature] = half_log_(uses);
  held.features[kCostShareFeature] = scaled_log(cost_share, 3);
  return held.features;
}

void ObservationWriter::write_edges(const graph::Graph& graph, Observation& out) {
  out.senders.clear();
  out.receivers.clear();
  out.edge_features.clear();
  for (std::size_t row = 0; row < out.node_ids.size(); ++row) {
    const graph::Node& node = graph.node(out.node_ids[row]);
    for (std::size_t slot = 0; slot < node.inputs.size(); ++slot) {
      const graph::Value value = node.inputs[slot];
      if (!value.present() || rows_[value.node] < 0) continue;
      out.senders.push_back(rows_[value.node]);
      out.receivers.push_back(static_cast<std::int32_t>(row));
      const std::array<float, kEdgeFeatures> features = {features_.elements(graph.type_id(value)),
                                                         half_log_(slot), half_log_(value.output),
                                                         half_log_(readers(graph, value))};
      out.edge_features.insert(out.edge_features.end(), features.begin(), features.end());
    }
  }
}

void ObservationWriter::write_candidates(RewriteState& state, const ObservationFrame& frame,
                                         Observation& out) {
  const std::size_t rule_count = state.rules().size();
  constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
  if (rule_count >= kMost) throw EnvError("an observation holds at most 65534 rules", "rules", "load fewer");
  const std::size_t limit = std::min<std::size_t>(frame.location_limit, kMost);
  const rules::MatchIndex& index = state.index();
  out.candidate_xfers.clear();
  out.candidate_locations.clear();
  out.candidate_offsets.assign(1, 0);
  out.candidate_nodes.clear();
  out.location_counts.assign(rule_count + 1, 0);
  out.truncated_locations = 0;
  for (std::uint32_t rule = 0; rule < rule_count; ++rule) {
    const std::span<const rules::Match> matches = index.matches(rule);
    const std::size_t kept = std::min(matches.size(), limit);
    out.location_counts[rule] = static_cast<std::uint16_t>(kept);
    out.truncated_locations += static_cast<std::uint32_t>(matches.size() - kept);
    for (std::size_t location = 0; location < kept; ++location) {
      out.candidate_xfers.push_back(static_cast<std::uint16_t>(rule));
      out.candidate_locations.push_back(static_cast<std::uint16_t>(location));
      for (const graph::NodeId id : matches[location].nodes) {
        if (rows_[id] >= 0) out.candidate_nodes.push_back(rows_[id]);
      }
      out.candidate_offsets.push_back(static_cast<std::uint32_t>(out.candidate_nodes.size()));
    }
  }
  out.candidate_xfers.push_back(static_cast<std::uint16_t>(rule_count));
  out.candidate_locations.push_back(0);
  out.candidate_offsets.push_back(static_cast<std::uint32_t>(out.candidate_nodes.size()));
  out.location_counts[rule_count] = 1;
}

}  // namespace regraft::env
