#include "core/env/observation_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "core/env/env_error.h"

namespace regraft::env {
namespace {

constexpr std::size_t kElementsFeature = 0;  // of all outputs
constexpr std::size_t kMostLocations = std::numeric_limits<std::uint16_t>::max();

float log_ratio(double now, double initial) {
  return now > 0 && initial > 0 ? static_cast<float>(4 * std::log(now / initial)) : 0.0f;
}

float log_ratio_of_counts(double now, double initial) {
  return log_ratio(1 + now, 1 + initial);
}

void write_globals(const cost::Cost& now, const ObservationFrame& frame, Observation& out) {
  const cost::Cost& initial = frame.initial;
  std::size_t legal = 0;
  for (std::size_t rule = 0; rule + 1 < out.location_counts.size(); ++rule)
    legal += out.location_counts[rule] > 0;
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

ObservationWriter::ObservationWriter(const graph::Tables& tables, const graph::Bindings& bindings)
    : tables_(&tables), generation_(tables.generation()), features_(tables, bindings) {}

void ObservationWriter::forget_where_void() {
  const std::uint64_t now = tables_->generation();
  if (std::exchange(generation_, now) == now) return;
  features_.clear();
  node_rows_.clear();
}

void ObservationWriter::write(RewriteState& state, const ObservationFrame& frame, Observation& out) {
  forget_where_void();
  write_nodes(state, frame, out);
  write_edges(state.graph(), out);
  write_candidates(state, frame, out);
  write_globals(state.cost(), frame, out);
}

void ObservationWriter::write_nodes(RewriteState& state, const ObservationFrame& frame, Observation& out) {
  const graph::Graph& graph = state.graph();
  cost::CostModel& cost = state.cost_model();
  const double to_share = frame.initial.latency_us > 0 ? 1024 / frame.initial.latency_us : 0;
  const graph::NodeId bound = graph.id_bound();
  rows_.assign(bound, -1);
  if (node_rows_.size() < bound) node_rows_.resize(bound);
  out.node_ids.resize(graph.live_count());
  out.node_kinds.resize(graph.live_count());
  out.node_features.resize(graph.live_count() * kNodeFeatures);
  std::size_t count = 0, uses = 0;
  for (graph::NodeId id = 0; id < bound; ++id) {
    if (!graph.alive(id)) continue;
    const graph::Node& node = graph.node(id);
    if (node.kind == graph::OpKind::weight) continue;
    out.node_ids[count] = id;
    out.node_kinds[count] = static_cast<std::uint16_t>(node.kind);
    rows_[id] = static_cast<std::int32_t>(count);
    const std::size_t used = graph.uses(id).size();
    const NodeFeatureRow& features = node_row(id, node, used, to_share * cost.node_latency_us(id));
    std::memcpy(out.node_features.data() + count * kNodeFeatures, features.data(), sizeof(features));
    uses += used;
    ++count;
  }
  out.node_ids.resize(count);
  out.node_kinds.resize(count);
  out.node_features.resize(count * kNodeFeatures);
  edges_ = uses;
  for (const graph::Value output : graph.outputs()) edges_ -= rows_[output.node] < 0 ? 0 : 1;
}

const NodeFeatureRow& ObservationWriter::node_row(graph::NodeId id, const graph::Node& node, std::size_t uses,
                                                  double cost_share) {
  NodeRow& held = node_rows_[id];
  if (held.signature == node.signature && held.uses == uses && held.cost_share == cost_share)
    return held.features;
  held = {node.signature, static_cast<std::uint32_t>(uses), node.outputs.size() == 1, cost_share,
          features_.row(node.signature)};
  held.features[kFanOutFeature] = half_log_(uses);
  held.features[kCostShareFeature] = scaled_log(cost_share, 3);
  return held.features;
}

void ObservationWriter::write_edges(const graph::Graph& graph, Observation& out) {
  out.senders.resize(edges_);
  out.receivers.resize(edges_);
  out.edge_features.resize(edges_ * kEdgeFeatures);
  const std::size_t count = out.node_ids.size();
  const graph::NodeId* const ids = out.node_ids.data();
  const std::int32_t* const rows = rows_.data();
  const NodeRow* const node_rows = node_rows_.data();
  std::int32_t *sender = out.senders.data(), *receiver = out.receivers.data();
  float* features = out.edge_features.data();
  const float first_output = half_log_(0);
  for (std::size_t row = 0; row < count; ++row) {
    const std::span<const graph::Value> inputs = graph.node(ids[row]).inputs;
    for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
      const graph::Value value = inputs[slot];
      const std::int32_t from = value.present() ? rows[value.node] : -1;
      if (from < 0) continue;
      *sender++ = from;
      *receiver++ = static_cast<std::int32_t>(row);
      const NodeRow& maker = node_rows[value.node];
      features[1] = half_log_(slot);
      if (maker.one_output) {  // then its size and uses stand in the node's row
        features[0] = maker.features[kElementsFeature];
        features[2] = first_output;
        features[3] = maker.features[kFanOutFeature];
      } else {
        features[0] = features_.elements(graph.node(value.node).outputs[value.output]);
        features[2] = half_log_(value.output);
        features[3] = half_log_(graph.use_count(value));
      }
      features += kEdgeFeatures;
    }
  }
}

std::size_t ObservationWriter::write_site(const rules::Match& match, std::size_t written,
                                          Observation& out) const {
  const std::span<const graph::NodeId> matched = match.nodes;
  if (out.candidate_nodes.size() < written + matched.size())
    out.candidate_nodes.resize(2 * (written + matched.size()));
  std::int32_t* const rows = out.candidate_nodes.data();
  for (const graph::NodeId id : matched)
    if (rows_[id] >= 0) rows[written++] = rows_[id];
  return written;
}

std::size_t ObservationWriter::write_all_sites(std::span<const rules::Match> matches, std::size_t written,
                                               Observation& out) const {
  const std::size_t first = written;
  for (const rules::Match& match : matches) written = write_site(match, written, out);
  const auto begin = out.candidate_nodes.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = out.candidate_nodes.begin() + static_cast<std::ptrdiff_t>(written);
  std::sort(begin, end);
  return static_cast<std::size_t>(std::unique(begin, end) - out.candidate_nodes.begin());
}

std::size_t ObservationWriter::count_locations(const rules::MatchIndex& index, const ObservationFrame& frame,
                                               Observation& out) {
  const std::size_t rule_count = out.location_counts.size() - 1;
  const std::size_t limit = std::min<std::size_t>(frame.location_limit, kMostLocations);
  const bool all_are_one = frame.action_mode == ActionMode::all_sites;
  std::size_t count = 0, beyond = 0;
  for (std::uint32_t rule = 0; rule < rule_count; ++rule) {
    const std::size_t matches = index.matches(rule).size();
    const std::size_t all_sites = all_are_one && matches > 1 ? 1 : 0;  // it is never what is cut off
    const std::size_t kept = std::min(matches, limit - all_sites);
    out.location_counts[rule] = static_cast<std::uint16_t>(kept + all_sites);
    count += kept + all_sites;
    beyond += matches - kept;
  }
  out.location_counts[rule_count] = 1;
  out.truncated_locations = static_cast<std::uint32_t>(beyond);
  out.action_mode = frame.action_mode;
  return count;
}

void ObservationWriter::write_candidates(RewriteState& state, const ObservationFrame& frame,
                                         Observation& out) {
  const std::size_t rule_count = state.rules().size();
  const std::size_t rows_of_rule = frame.action_mode == ActionMode::all_sites ? 2 : 1;
  if (rows_of_rule * rule_count >= kMostLocations)
    throw EnvError(
        "an observation holds at most " + std::to_string((kMostLocations - 1) / rows_of_rule) + " rules",
        "rules", "load fewer");
  const rules::MatchIndex& index = state.index();
  out.location_counts.resize(rule_count + 1);
  const std::size_t count = count_locations(index, frame, out);
  out.candidate_rules.resize(count + 1);
  out.candidate_locations.resize(count + 1);
  out.candidate_offsets.resize(count + 2);
  std::size_t candidate = 0, written = 0;
  for (std::uint32_t rule = 0; rule < rule_count; ++rule) {
    const std::size_t kept = out.location_counts[rule];
    if (kept == 0) continue;
    const std::span<const rules::Match> matches = index.matches(rule);
    for (std::size_t location = 0; location < kept; ++location, ++candidate) {
      out.candidate_rules[candidate] = static_cast<std::uint16_t>(rule);
      out.candidate_locations[candidate] = static_cast<std::uint16_t>(location);
      out.candidate_offsets[candidate] = static_cast<std::uint32_t>(written);
      written = out.stands_for_all(rule, location)
                    ? write_all_sites(matches, written, out)
                    : write_site(matches[out.site(rule, location)], written, out);
    }
  }
  out.candidate_nodes.resize(written);
  out.candidate_rules[count] = static_cast<std::uint16_t>(rule_count);
  out.candidate_locations[count] = 0;
  out.candidate_offsets[count] = out.candidate_offsets[count + 1] =
      static_cast<std::uint32_t>(out.candidate_nodes.size());
}

}
