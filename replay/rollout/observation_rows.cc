#include "replay/rollout/observation_rows.h"

#include <algorithm>
#include <cstring>

namespace regraft::replay {
namespace {

using env::Observation;

constexpr std::size_t kNodeRowBytes =
    sizeof(std::uint32_t) + sizeof(std::uint16_t) + env::kNodeFeatures * sizeof(float);
constexpr std::uint64_t kAllSites = std::uint64_t{1} << 32;  // beside the truncated locations
constexpr std::size_t kEdgeRowBytes = 2 * sizeof(std::uint32_t) + env::kEdgeFeatures * sizeof(float);

/// Writes a row of known size from its start to its end.
class FixedRow {
 public:
  explicit FixedRow(std::byte* to) : to_(to) {}
  template <typename T>
  void value(T held) {
    raw(std::as_bytes(std::span(&held, 1)));
  }
  void raw(std::span<const std::byte> bytes) {
    std::memcpy(to_, bytes.data(), bytes.size());
    to_ += bytes.size();
  }

 private:
  std::byte* to_;
};

[[noreturn]] void broken(const char* problem) {
  throw ReplayError(problem, "observation", "");
}

void require(bool holds, const char* problem) {
  if (!holds) broken(problem);
}

std::span<const std::byte> feature_bytes(const std::vector<float>& features, std::size_t row,
                                         std::size_t width) {
  return std::as_bytes(std::span(features).subspan(row * width, width));
}

void append_features(std::vector<float>& features, ByteReader& in, std::size_t width) {
  const std::size_t at = features.size();
  features.resize(at + width);
  const auto bytes = in.raw(width * sizeof(float));
  std::memcpy(features.data() + at, bytes.data(), bytes.size());
}

void check_sizes(const Observation& o) {
  const std::size_t n = o.node_count(), e = o.edge_count(), c = o.candidate_count();
  require(o.node_kinds.size() == n && o.node_features.size() == n * env::kNodeFeatures,
          "node arrays differ in length");
  require(o.receivers.size() == e && o.edge_features.size() == e * env::kEdgeFeatures,
          "edge arrays differ in length");
  require(o.globals.size() == env::kGlobalFeatures, "globals have the wrong width");
  require(c > 0 && o.candidate_locations.size() == c && o.candidate_offsets.size() == c + 1,
          "candidate arrays differ in length");
  require(o.candidate_offsets.front() == 0 && o.candidate_offsets.back() == o.candidate_nodes.size() &&
              std::is_sorted(o.candidate_offsets.begin(), o.candidate_offsets.end()),
          "candidate offsets are not ascending");
  require(!o.location_counts.empty(), "location counts are missing");
  require(std::is_sorted(o.node_ids.begin(), o.node_ids.end(), std::less_equal<>()),
          "node ids are not ascending");
}

/// Locations and counts follow from the order of candidates; this is where an observation that says otherwise
/// is refused.
void check_candidates(const Observation& o) {
  const std::size_t rules = o.location_counts.size() - 1;
  std::vector<std::uint16_t> counts(rules + 1, 0);
  for (std::size_t i = 0; i < o.candidate_count(); ++i) {
    const std::uint16_t rule = o.candidate_rules[i];
    require(rule <= rules && (i == 0 || rule >= o.candidate_rules[i - 1]),
            "candidates are not ordered by rule");
    require(o.candidate_locations[i] == counts[rule]++, "locations of a rule are not 0, 1, 2...");
  }
  require(counts == o.location_counts, "location counts do not fit the candidates");
  require(counts[rules] == 1 && o.matched_nodes(o.candidate_count() - 1).empty(),
          "the last candidate is not NO-OP");
}

std::uint32_t id_of(const Observation& o, std::int32_t row) {
  require(row >= 0 && static_cast<std::size_t>(row) < o.node_count(), "a row number is out of range");
  return o.node_ids[static_cast<std::size_t>(row)];
}

std::int32_t row_of(const Observation& o, std::uint64_t id) {
  const auto at = std::lower_bound(o.node_ids.begin(), o.node_ids.end(), id);
  require(at != o.node_ids.end() && *at == id, "names a node that is not there");
  return static_cast<std::int32_t>(at - o.node_ids.begin());
}

void read_nodes(const RowTable& rows, Observation& o) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ByteReader in(rows.row(i));
    const auto id = in.value<std::uint32_t>();
    require(o.node_ids.empty() || id > o.node_ids.back(), "node ids are not ascending");
    o.node_ids.push_back(id);
    o.node_kinds.push_back(in.value<std::uint16_t>());
    append_features(o.node_features, in, env::kNodeFeatures);
    in.finish();
  }
}

void read_edges(const RowTable& rows, Observation& o) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ByteReader in(rows.row(i));
    o.receivers.push_back(row_of(o, in.value<std::uint32_t>()));
    o.senders.push_back(row_of(o, in.value<std::uint32_t>()));
    require(i == 0 || o.receivers[i] >= o.receivers[i - 1], "edges are not ordered by receiver");
    append_features(o.edge_features, in, env::kEdgeFeatures);
    in.finish();
  }
}

void read_candidates(const RowTable& rows, Observation& o) {
  o.candidate_offsets.push_back(0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ByteReader in(rows.row(i));
    const auto rule = in.value<std::uint16_t>();
    require(rule < o.location_counts.size(), "a rule is out of range");
    o.candidate_rules.push_back(rule);
    require(o.location_counts[rule] < UINT16_MAX, "a rule has too many locations");
    o.candidate_locations.push_back(o.location_counts[rule]++);
    while (in.left() > 0) o.candidate_nodes.push_back(row_of(o, in.varint()));
    o.candidate_offsets.push_back(static_cast<std::uint32_t>(o.candidate_nodes.size()));
  }
}

}  // namespace

void to_rows(const Observation& o, ObservationRows& rows) {
  check_sizes(o);
  check_candidates(o);
  rows.globals = o.globals;
  rows.rule_count = static_cast<std::uint32_t>(o.location_counts.size() - 1);
  rows.truncated_locations = o.truncated_locations;
  rows.action_mode = o.action_mode;
  rows.nodes.clear();
  rows.edges.clear();
  rows.candidates.clear();
  for (std::size_t i = 0; i < o.node_count(); ++i) {
    FixedRow row(rows.nodes.extend(kNodeRowBytes));
    row.value(o.node_ids[i]);
    row.value(o.node_kinds[i]);
    row.raw(feature_bytes(o.node_features, i, env::kNodeFeatures));
  }
  for (std::size_t i = 0; i < o.edge_count(); ++i) {
    require(i == 0 || o.receivers[i] >= o.receivers[i - 1], "edges are not ordered by receiver");
    const std::uint32_t receiver = id_of(o, o.receivers[i]), sender = id_of(o, o.senders[i]);
    FixedRow row(rows.edges.extend(kEdgeRowBytes));
    row.value(receiver);
    row.value(sender);
    row.raw(feature_bytes(o.edge_features, i, env::kEdgeFeatures));
  }
  Bytes row;
  ByteWriter out(row);
  for (std::size_t i = 0; i < o.candidate_count(); ++i, row.clear()) {
    out.value(o.candidate_rules[i]);
    for (const std::int32_t node : o.matched_nodes(i)) out.varint(id_of(o, node));
    rows.candidates.add(row);
  }
}

Observation from_rows(const ObservationRows& rows) {
  Observation o;
  o.globals = rows.globals;
  o.truncated_locations = rows.truncated_locations;
  o.action_mode = rows.action_mode;
  o.location_counts.assign(rows.rule_count + 1, 0);
  read_nodes(rows.nodes, o);
  read_edges(rows.edges, o);
  read_candidates(rows.candidates, o);
  check_sizes(o);
  check_candidates(o);
  return o;
}

void write_observation(const ObservationRows& before, const ObservationRows& after, ByteWriter& out) {
  out.varint(after.rule_count);
  out.varint(after.truncated_locations | (after.action_mode == env::ActionMode::all_sites ? kAllSites : 0));
  out.raw(std::as_bytes(std::span(after.globals)));
  write_delta(before.nodes, after.nodes, sizeof(std::uint32_t), out);
  write_delta(before.edges, after.edges, sizeof(std::uint32_t), out);
  write_delta(before.candidates, after.candidates, sizeof(std::uint16_t), out);
}

ObservationRows read_observation(const ObservationRows& before, ByteReader& in, const CodecLimits& limits) {
  ObservationRows rows;
  const std::uint64_t rules = in.varint(), truncated = in.varint();
  require(rules <= limits.rules, "too many rules");
  require(truncated <= (kAllSites | UINT32_MAX), "too many truncated locations");
  rows.rule_count = static_cast<std::uint32_t>(rules);
  rows.truncated_locations = static_cast<std::uint32_t>(truncated);
  if (truncated & kAllSites) rows.action_mode = env::ActionMode::all_sites;
  append_features(rows.globals, in, env::kGlobalFeatures);
  rows.nodes = read_delta(before.nodes, in, limits.nodes, limits.table_bytes);
  rows.edges = read_delta(before.edges, in, limits.edges, limits.table_bytes);
  rows.candidates = read_delta(before.candidates, in, limits.candidates, limits.table_bytes);
  return rows;
}

}
