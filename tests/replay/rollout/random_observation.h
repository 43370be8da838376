#pragma once

#include <set>

#include "core/base/rng.h"
#include "core/env/observation.h"

namespace regraft::replay::testing {

/// An observation of random contents that satisfies the contract, around the given node ids.
inline env::Observation observation_on(const std::set<std::uint32_t>& ids, std::size_t rules, Rng& rng) {
  env::Observation o;
  o.node_ids.assign(ids.begin(), ids.end());
  for (const std::uint32_t id : o.node_ids) {
    o.node_kinds.push_back(static_cast<std::uint16_t>(id % 70));
    Rng stable(id, "node features");  // the same for a node in every observation, as in real ones
    for (std::size_t k = 0; k < env::kNodeFeatures; ++k)
      o.node_features.push_back(static_cast<float>(stable.normal()));
  }
  for (std::size_t i = 1; i < o.node_ids.size(); ++i) {
    Rng stable(o.node_ids[i], "edges");
    o.receivers.push_back(static_cast<std::int32_t>(i));
    o.senders.push_back(static_cast<std::int32_t>(stable.below(i)));
    for (std::size_t k = 0; k < env::kEdgeFeatures; ++k)
      o.edge_features.push_back(static_cast<float>(stable.normal()));
  }
  for (std::size_t k = 0; k < env::kGlobalFeatures; ++k)
    o.globals.push_back(static_cast<float>(rng.normal()));
  o.location_counts.assign(rules + 1, 0);
  o.candidate_offsets.push_back(0);
  const auto add = [&](std::uint16_t rule, std::size_t nodes) {
    o.candidate_rules.push_back(rule);
    o.candidate_locations.push_back(o.location_counts[rule]++);
    for (std::size_t k = 0; k < nodes; ++k)
      o.candidate_nodes.push_back(static_cast<std::int32_t>(rng.below(o.node_ids.size())));
    o.candidate_offsets.push_back(static_cast<std::uint32_t>(o.candidate_nodes.size()));
  };
  for (std::size_t rule = 0; rule < rules; ++rule)
    for (std::uint64_t i = rng.below(4); i > 0; --i) add(static_cast<std::uint16_t>(rule), 1 + rng.below(3));
  add(static_cast<std::uint16_t>(rules), 0);
  o.truncated_locations = static_cast<std::uint32_t>(rng.below(3));
  return o;
}

/// Node ids after a rewrite: some gone, some new and larger.
inline std::set<std::uint32_t> rewritten(std::set<std::uint32_t> ids, Rng& rng) {
  for (std::uint64_t i = rng.below(4); i > 0 && ids.size() > 2; --i)
    ids.erase(std::next(ids.begin(), static_cast<std::ptrdiff_t>(rng.below(ids.size()))));
  for (std::uint64_t i = rng.below(4); i > 0; --i) ids.insert(*ids.rbegin() + 1);
  return ids;
}

}
