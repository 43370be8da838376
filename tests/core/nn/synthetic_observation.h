#pragma once

#include <algorithm>
#include <vector>

#include "core/base/rng.h"
#include "core/env/observation.h"
#include "core/nn/model/weights.h"

namespace regraft::test {

struct SyntheticSize {
  std::size_t nodes = 12;
  std::size_t rules = 5;
  std::size_t locations = 4;  // at most, in each rule
  std::uint16_t kinds = 20;
  env::ActionMode action_mode = env::ActionMode::one_site;
};

inline float feature(Rng& rng) {
  return static_cast<float>(rng.uniform(-1.0, 1.0));
}

/// Candidates with random matched nodes, in the canonical form of env::Observation.
inline void add_candidates(env::Observation& observation, const SyntheticSize& size, Rng& rng) {
  observation.candidate_offsets = {0};
  observation.action_mode = size.action_mode;
  for (std::size_t rule = 0; rule <= size.rules; ++rule) {
    const bool no_op = rule == size.rules;
    const std::size_t count = no_op ? 1 : rng.below(size.locations + 1);
    for (std::size_t location = 0; location < count; ++location) {
      observation.candidate_rules.push_back(static_cast<std::uint16_t>(rule));
      observation.candidate_locations.push_back(static_cast<std::uint16_t>(location));
      const std::size_t matched = no_op ? 0 : 1 + rng.below(4);
      for (std::size_t i = 0; i < matched; ++i) {
        observation.candidate_nodes.push_back(static_cast<std::int32_t>(rng.below(observation.node_count())));
      }
      observation.candidate_offsets.push_back(static_cast<std::uint32_t>(observation.candidate_nodes.size()));
    }
    observation.location_counts.push_back(static_cast<std::uint16_t>(count));
  }
}

/// A random directed acyclic graph of the shape of a computation graph: one to three inputs a node, mostly
/// recent ones.
inline env::Observation synthetic_observation(const SyntheticSize& size, Rng& rng) {
  env::Observation observation;
  std::uint32_t id = 0;
  for (std::size_t node = 0; node < size.nodes; ++node) {
    observation.node_ids.push_back(id += 1 + static_cast<std::uint32_t>(rng.below(3)));
    observation.node_kinds.push_back(static_cast<std::uint16_t>(rng.below(size.kinds)));
    for (std::size_t i = 0; i < env::kNodeFeatures; ++i) observation.node_features.push_back(feature(rng));
    const std::size_t inputs = std::min<std::size_t>(node, rng.below(10) == 0 ? 2 : 1);
    for (std::size_t slot = 0; slot < inputs; ++slot) {
      const std::size_t reach = std::min<std::size_t>(node, 8);
      observation.senders.push_back(static_cast<std::int32_t>(node - 1 - rng.below(reach)));
      observation.receivers.push_back(static_cast<std::int32_t>(node));
      for (std::size_t i = 0; i < env::kEdgeFeatures; ++i) observation.edge_features.push_back(feature(rng));
    }
  }
  for (std::size_t i = 0; i < env::kGlobalFeatures; ++i) observation.globals.push_back(feature(rng));
  add_candidates(observation, size, rng);
  return observation;
}

inline env::RuleFeatureTable synthetic_rules(std::size_t rules, Rng& rng,
                                             env::ActionMode mode = env::ActionMode::one_site) {
  env::RuleFeatureTable table{rules, {}, mode};
  for (std::size_t i = 0; i < rules * env::kRuleFeatures; ++i) table.features.push_back(feature(rng));
  table.features.resize((rules + 1) * env::kRuleFeatures, 0.0f);
  table.features.back() = 1.0f;
  while (table.features.size() < table.rows() * env::kRuleFeatures) table.features.push_back(feature(rng));
  return table;
}

/// The first policy is near uniform by design: wakes up its last layers, so that errors show.
inline void wake_up(nn::Weights& weights) {
  for (const auto& spec : weights.tensors)
    if (spec.name == "pointer.output" || spec.name == "location.output" || spec.name == "xfer.output")
      for (auto& w : weights.tensor(spec.name)) w *= 100;
}

/// The same network with a hierarchical head for `rules` rules.
inline nn::NetworkConfig hierarchical(nn::NetworkConfig config, std::size_t rules) {
  config.head = nn::Head::hierarchical;
  config.rules = static_cast<std::uint32_t>(rules + 1);
  return config;
}

inline std::vector<const env::Observation*> pointers(const std::vector<env::Observation>& observations) {
  std::vector<const env::Observation*> list;
  for (const auto& observation : observations) list.push_back(&observation);
  return list;
}

}
