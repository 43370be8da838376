#include "core/rules/sibling_groups.h"

#include <algorithm>
#include <numeric>

#include "core/rules/build.h"

namespace regraft::rules {

using graph::NodeId;

void SiblingGroups::erase(NodeId root) {
  if (members_.erase(root) == 0) return;
  std::erase_if(legal_, [&](const auto& entry) {
    return std::find(entry.first.begin(), entry.first.end(), root) != entry.first.end();
  });
}

void SiblingGroups::insert(const graph::Graph& graph, NodeId root) {
  std::vector<Member> found = members_at(rule_, graph, root);
  if (!found.empty()) members_[root] = std::move(found);
}

// Members stand in the order that the rule wants, then in the canonical order of the activations that they
// have for themselves, so that sets which differ only in what they share have their members in the same
// order; then in that of their roots.
std::vector<std::int64_t> SiblingGroups::rank_of(const Member& member,
                                                 const std::vector<std::uint32_t>& position) const {
  std::vector<std::int64_t> rank = member.order;
  const Frame& own = member.bindings.members[static_cast<std::size_t>(rule_.sibling_domain)][0];
  for (Slot leaf : rule_.leaves) {
    if (leaf.domain < 0) continue;
    const Tensor& tensor = own.tensors[leaf.index];
    if (tensor.present() && !tensor.constant()) rank.push_back(position[tensor.value.node]);
    if (tensor.present() && !tensor.constant()) rank.push_back(tensor.value.output);
  }
  rank.push_back(position[member.root]);
  return rank;
}

std::vector<SiblingGroups::Group> SiblingGroups::groups(const std::vector<std::uint32_t>& position) const {
  std::vector<std::pair<std::vector<std::int64_t>, const Member*>> ranked;
  for (const auto& [root, members] : members_) {
    for (const Member& member : members) ranked.emplace_back(rank_of(member, position), &member);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const Slot shared = rule_.shared[0];
  std::unordered_map<std::uint64_t, std::vector<std::size_t>>
      by_shared;  // groups by the value that they share
  std::vector<Group> out;
  for (const auto& entry : ranked) {
    const Member* member = entry.second;
    const graph::Value value = member->bindings.plain.tensors[shared.index].value;
    auto& near = by_shared[(std::uint64_t{value.node} << 32) | value.output];
    const auto fits = std::find_if(near.begin(), near.end(),
                                   [&](std::size_t g) { return compatible(*out[g][0], *member); });
    if (fits == near.end()) {
      near.push_back(out.size());
      out.push_back({member});
    } else if (out[*fits].back()->root != member->root) {
      out[*fits].push_back(member);
    }
  }
  return out;
}

std::vector<Match> SiblingGroups::matches(const graph::Graph& graph,
                                          const std::vector<std::uint32_t>& position, Reach& reach) {
  std::vector<Match> out;
  for (const Group& group : groups(position)) {
    if (group.size() >= 2) sets_of(group, graph, reach, out);
  }
  return out;
}

// dependence[i][j]: member j reads a value that member i replaces, or one that depends on it.
std::vector<std::vector<bool>> SiblingGroups::dependence(const Group& group, Reach& reach) const {
  std::vector<std::vector<bool>> out(group.size(), std::vector<bool>(group.size(), false));
  if (rule_.always_acyclic) return out;
  std::vector<std::vector<graph::Value>> replaced(group.size());
  std::vector<std::vector<graph::Value>> reads(group.size());
  for (std::size_t i = 0; i < group.size(); ++i) {
    Bindings bindings = group[i]->bindings;
    reads[i] = read_values(rule_, bindings);
    for_each_replacement(rule_, bindings,
                         [&](const Tensor& before, const Tensor&) { replaced[i].push_back(before.value); });
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    for (std::size_t j = 0; j < group.size(); ++j) out[i][j] = i != j && reach.any(replaced[i], reads[j]);
  }
  return out;
}

void SiblingGroups::sets_of(const Group& group, const graph::Graph& graph, Reach& reach,
                            std::vector<Match>& out) {
  const auto depends = dependence(group, reach);
  const auto independent = [&](std::size_t i, std::size_t j) { return !depends[i][j] && !depends[j][i]; };
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const bool fits =
        std::all_of(chosen.begin(), chosen.end(), [&](std::size_t j) { return independent(i, j); });
    if (fits) chosen.push_back(i);
  }
  if (chosen.size() > 2) {
    Group set;
    for (std::size_t i : chosen) set.push_back(group[i]);
    add_if_legal(set, graph, out);
  }
  const bool all_pairs = rule_.members_share_activation && group.size() <= kMostForAllPairs;
  for (std::size_t i = 0; i + 1 < group.size(); ++i) {
    const std::size_t last = all_pairs ? group.size() : i + 2;
    for (std::size_t j = i + 1; j < last; ++j) {
      if (independent(i, j)) add_if_legal({group[i], group[j]}, graph, out);
    }
  }
}

void SiblingGroups::add_if_legal(const Group& set, const graph::Graph& graph, std::vector<Match>& out) {
  std::vector<NodeId> key;
  for (const Member* member : set) key.push_back(member->root);
  Bindings bindings = assemble(rule_, set);
  std::vector<NodeId> nodes = set_nodes(rule_, bindings);
  key.insert(key.end(), nodes.begin(), nodes.end());
  auto held = legal_.find(key);
  if (held == legal_.end()) {
    const bool legal =
        passes_set_checks(rule_, graph, bindings) && check_types(rule_, graph, bindings).empty();
    held = legal_.emplace(std::move(key), legal).first;
  }
  if (!held->second) return;
  Match match;
  match.rule = number_;
  match.nodes = InlineVector<NodeId, 8>(std::span<const NodeId>(nodes));
  out.push_back(std::move(match));
}

}  // namespace regraft::rules
