#pragma once

// Internal to core/rules: the sets of siblings of one rule on one graph.

#include <map>
#include <unordered_map>
#include <vector>

#include "core/rules/reach.h"
#include "core/rules/rewrite.h"
#include "core/rules/sibling_set.h"

namespace regraft::rules {

/// Keeps the members of one rule by root, and forms their sets: of each group of compatible members the
/// largest independent set (greedily, in canonical order), and pairs: each where the members share an
/// activation and are at most kMostForAllPairs, else neighbours in canonical order.
class SiblingGroups {
 public:
  static constexpr std::size_t kMostForAllPairs = 16;

  SiblingGroups(const CompiledRule& rule, std::uint32_t number) : rule_(rule), number_(number) {}

  void erase(graph::NodeId root);
  void insert(const graph::Graph& graph, graph::NodeId root);
  /// All legal sets on the present graph, in no particular order.
  std::vector<Match> matches(const graph::Graph& graph, const std::vector<std::uint32_t>& position,
                             Reach& reach);

 private:
  using Group = std::vector<const Member*>;

  std::vector<std::int64_t> rank_of(const Member& member, const std::vector<std::uint32_t>& position) const;
  std::vector<Group> groups(const std::vector<std::uint32_t>& position) const;
  void sets_of(const Group& group, const graph::Graph& graph, Reach& reach, std::vector<Match>& out);
  std::vector<std::vector<bool>> dependence(const Group& group, Reach& reach) const;
  void add_if_legal(const Group& set, const graph::Graph& graph, std::vector<Match>& out);

  const CompiledRule& rule_;
  std::uint32_t number_;
  std::unordered_map<graph::NodeId, std::vector<Member>> members_;
  std::map<std::vector<graph::NodeId>, bool>
      legal_;  // by nodes of the set; forgotten when one of its members changes
};

}  // namespace regraft::rules
