#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/env/action_mode.h"

namespace regraft::env {

/// Widths of the feature rows. They are part of the observation schema: a policy trained on another schema is
/// refused.
inline constexpr std::uint32_t kObservationSchema = 1;
inline constexpr std::size_t kNodeFeatures = 16;
inline constexpr std::size_t kEdgeFeatures = 4;
inline constexpr std::size_t kGlobalFeatures = 8;
inline constexpr std::size_t kRuleFeatures = 64;

/// How long an episode is and how many locations of a rule it offers. Both are seen (the step fraction, the
/// candidates), so whoever asks a policy shows it states within the limits of its training.
struct EpisodeLimits {
  static constexpr std::uint32_t kDefaultHorizon = 100;
  static constexpr std::uint32_t kDefaultLocationLimit = 200;
  std::uint32_t horizon = kDefaultHorizon;               // steps
  std::uint32_t location_limit = kDefaultLocationLimit;  // locations a rule
  bool operator==(const EpisodeLimits&) const = default;
};

/// One state as a graph tuple (Battaglia et al. 2018) and its legal actions. Pure data: no library types.
///
/// Nodes are the graph's inputs and operations (not its weights), in ascending stable id, so that a rewrite
/// changes few rows; the order carries no meaning. Edges go from producer (sender) to consumer (receiver),
/// sorted by (receiver, input slot). Every feature is dimensionless and roughly in [-4, 4]. None depends on a
/// sum over the current graph, so an edit far away changes no row.
///
/// Candidates are the legal actions (rule, location), in canonical order: by rule, then by location; the last
/// candidate is always NO-OP (its number the rule count, location 0, no matched nodes). The location mask of
/// rule x is the prefix [0, location_counts[x]); the rule mask is location_counts[x] > 0; NO-OP's count is 1.
///
/// In the mode `all_sites`, location 0 of a rule with two sites or more stands for all of them at once
/// (core/env/all_sites.h). The sites follow. So location 0 always carries the rule out wherever it applies.
/// Its matched nodes are those of all sites, ascending, each once.
struct Observation {
  // nodes: n rows
  std::vector<std::uint32_t> node_ids;    // [n] stable ids, ascending
  std::vector<std::uint16_t> node_kinds;  // [n] op kind, the input of an embedding
  std::vector<float> node_features;       // [n * kNodeFeatures]
  // edges: e rows
  std::vector<std::int32_t> senders;    // [e] row of the producer
  std::vector<std::int32_t> receivers;  // [e] row of the consumer
  std::vector<float> edge_features;     // [e * kEdgeFeatures]
  std::vector<float> globals;           // [kGlobalFeatures]
  // candidates: c rows, NO-OP last
  std::vector<std::uint16_t> candidate_rules;      // [c] rule number, or the rule count for NO-OP
  std::vector<std::uint16_t> candidate_locations;  // [c] location number within its rule
  std::vector<std::uint32_t> candidate_offsets;    // [c + 1] into candidate_nodes
  std::vector<std::int32_t> candidate_nodes;       // rows of the matched nodes, root first
  std::vector<std::uint16_t> location_counts;      // [rules + 1]
  std::uint32_t truncated_locations = 0;           // matches beyond the location limit, in all rules
  ActionMode action_mode = ActionMode::one_site;

  std::size_t node_count() const { return node_ids.size(); }
  std::size_t edge_count() const { return senders.size(); }
  std::size_t candidate_count() const { return candidate_rules.size(); }
  std::span<const std::int32_t> matched_nodes(std::size_t candidate) const {
    return {candidate_nodes.data() + candidate_offsets[candidate],
            candidate_offsets[candidate + 1] - candidate_offsets[candidate]};
  }
  /// Whether this location of a rule stands for all of its sites.
  bool stands_for_all(std::size_t rule, std::size_t location) const {
    return location == 0 && has_all_sites(rule);
  }
  /// Whether one of the locations of a rule does.
  bool has_all_sites(std::size_t rule) const {
    return action_mode == ActionMode::all_sites && rule + 1 < location_counts.size() &&
           location_counts[rule] > 1;
  }
  /// Which of the rule's matches a location is that stands for one site.
  std::size_t site(std::size_t rule, std::size_t location) const {
    return location - (has_all_sites(rule) ? 1 : 0);
  }
  /// The row of a RuleFeatureTable that says what a candidate does.
  std::size_t rule_row(std::size_t candidate) const {
    const std::size_t rule = candidate_rules[candidate];
    return rule + (stands_for_all(rule, candidate_locations[candidate]) ? location_counts.size() : 0);
  }
  bool operator==(const Observation&) const = default;
};

/// What a policy must know of a rule set: one feature row a rule, made from the rule's own text (hashed
/// tokens), so that a pointer policy reads rules that it never saw. Row `rule count` is NO-OP: all zero but
/// the last feature, 1. In the mode `all_sites` a row a rule follows for the rule at all of its sites.
struct RuleFeatureTable {
  std::size_t rule_count = 0;
  std::vector<float> features;  // [rows() * kRuleFeatures]
  ActionMode action_mode = ActionMode::one_site;

  std::size_t rows() const {
    return rule_count + 1 + (action_mode == ActionMode::all_sites ? rule_count : 0);
  }
};

}
