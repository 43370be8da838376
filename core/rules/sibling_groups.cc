#include "core/rules/sibling_groups.h"

#include <algorithm>
#include <array>

#include "core/rules/build.h"

namespace regraft::rules {

using graph::NodeId;

// Members are grouped by the first value that they share, then by all that makes them compatible.
std::uint64_t SiblingGroups::shared_by(const Member& member) const {
  const graph::Value value = member.bindings.plain.tensors[rule_.shared[0].index].value;
  return (std::uint64_t{value.node} << 32) | value.output;
}

void SiblingGroups::erase(NodeId root) {
  const auto found = members_.find(root);
  if (found == members_.end()) return;
  for (const auto& held : found->second) {
    Group& group = *held->group;
    std::erase(group.members, held.get());
    group.stale = true;
    if (!group.members.empty()) continue;
    const auto near = by_shared_.find(group.shared);
    std::erase(near->second, &group);
    if (near->second.empty()) by_shared_.erase(near);
    std::erase_if(groups_, [&](const auto& g) { return g.get() == &group; });
  }
  members_.erase(found);
}

bool SiblingGroups::insert(const graph::Graph& graph, Matcher& matcher, NodeId root) {
  std::vector<Member> found = members_at(rule_, graph, matcher, root);
  if (found.empty()) return false;
  auto& held = members_[root];
  for (Member& member : found) {
    held.push_back(std::make_unique<Held>(describe(std::move(member))));
    join(*held.back());
  }
  return true;
}

SiblingGroups::Held SiblingGroups::describe(Member member) const {
  Held held{std::move(member), nullptr, {}, {}, {}};
  Bindings& bindings = held.member.bindings;
  const Frame& own = bindings.members[static_cast<std::size_t>(rule_.sibling_domain)][0];
  for (Slot leaf : rule_.leaves) {
    if (leaf.domain < 0) continue;
    const Tensor& tensor = own.tensors[leaf.index];
    if (tensor.present() && !tensor.constant()) held.own.push_back(tensor.value);
  }
  if (rule_.always_acyclic) return held;
  held.reads = read_values(rule_, bindings);
  for_each_replacement(rule_, bindings,
                       [&](const Tensor& before, const Tensor&) { held.replaced.push_back(before.value); });
  return held;
}

void SiblingGroups::join(Held& held) {
  const std::uint64_t shared = shared_by(held.member);
  auto& near = by_shared_[shared];
  const auto fits = std::find_if(near.begin(), near.end(), [&](const Group* group) {
    return compatible(group->members[0]->member, held.member);
  });
  if (fits == near.end()) {
    groups_.push_back(std::make_unique<Group>());
    near.push_back(groups_.back().get());
    held.group = near.back();
    held.group->shared = shared;
  } else {
    held.group = *fits;
  }
  held.group->members.push_back(&held);
  held.group->stale = true;
}

// Members stand in the order that the rule wants, then in the canonical order of the activations that they
// have for themselves, so that sets which differ only in what they share have their members in the same
// order; then in that of their roots.
bool SiblingGroups::before(const Held& a, const Held& b, const std::vector<std::uint32_t>& position) const {
  const auto rank = [&](const Held& held, std::size_t i) -> std::int64_t {
    if (i < held.member.order.size()) return held.member.order[i];
    i -= held.member.order.size();
    if (i == 2 * held.own.size()) return position[held.member.root];
    const graph::Value value = held.own[i / 2];
    return i % 2 == 0 ? position[value.node] : value.output;
  };
  const auto length = [](const Held& held) { return held.member.order.size() + 2 * held.own.size() + 1; };
  for (std::size_t i = 0; i < std::min(length(a), length(b)); ++i) {
    const std::int64_t left = rank(a, i), right = rank(b, i);
    if (left != right) return left < right;
  }
  return length(a) < length(b);
}

void SiblingGroups::announce(const std::vector<std::uint32_t>& position, Dependence& dependence) {
  const auto by_rank = [&](const Held* a, const Held* b) { return before(*a, *b, position); };
  for (const auto& group : groups_) {
    auto& members = group->members;
    if (members.size() < 2) continue;
    if (!std::is_sorted(members.begin(), members.end(), by_rank)) {
      std::sort(members.begin(), members.end(), by_rank);
      group->stale = true;
    }
    if (rule_.always_acyclic) continue;
    const auto last_read = [&](const Held* held) {
      std::uint32_t last = 0;
      for (graph::Value value : held->reads) last = std::max(last, position[value.node]);
      return last;
    };
    const Held* last = *std::max_element(members.begin(), members.end(), [&](const Held* a, const Held* b) {
      return last_read(a) < last_read(b);
    });
    for (const Held* held : members) {
      if (dependence.might(held->replaced, last->reads)) dependence.announce(held->replaced, last->reads);
    }
  }
}

void SiblingGroups::form(const graph::Graph& graph, const Dependence& dependence, LegalMemo& memo) {
  for (const auto& group : groups_) {
    if (group->members.size() >= 2 && !rule_.always_acyclic) find_dependence(*group, dependence);
    if (!group->stale) continue;
    group->sets.clear();
    if (group->members.size() >= 2) form_sets(*group, graph, memo);
    group->stale = false;
  }
}

void SiblingGroups::find_dependence(Group& group, const Dependence& dependence) {
  const std::size_t size = group.members.size();
  depends_.assign(size * size, 0);
  for (std::size_t i = 0; i < size; ++i) {
    const Held& above = *group.members[i];
    for (std::size_t j = 0; j < size; ++j) {
      const Held& below = *group.members[j];
      const bool found = i != j && dependence.might(above.replaced, below.reads) &&
                         dependence.depends(above.replaced, below.reads);
      depends_[i * size + j] = found ? 1 : 0;
    }
  }
  if (depends_ == group.depends) return;
  group.depends = depends_;
  group.stale = true;
}

void SiblingGroups::form_sets(Group& group, const graph::Graph& graph, LegalMemo& memo) {
  const auto& members = group.members;
  const std::size_t size = members.size();
  const auto independent = [&](std::size_t i, std::size_t j) {
    return rule_.always_acyclic || (group.depends[i * size + j] == 0 && group.depends[j * size + i] == 0);
  };
  InlineVector<std::size_t, 16> chosen;
  for (std::size_t i = 0; i < size; ++i) {
    const bool fits =
        std::all_of(chosen.begin(), chosen.end(), [&](std::size_t j) { return independent(i, j); });
    if (fits) chosen.push_back(i);
  }
  if (chosen.size() > 2) {
    InlineVector<const Held*, 16> set;
    for (std::size_t i : chosen) set.push_back(members[i]);
    add_if_legal(set, group, graph, memo);
  }
  const bool all_pairs = rule_.members_share_activation && size <= kMostForAllPairs;
  for (std::size_t i = 0; i + 1 < size; ++i) {
    const std::size_t last = all_pairs ? size : i + 2;
    for (std::size_t j = i + 1; j < last; ++j) {
      if (independent(i, j))
        add_if_legal(std::array<const Held*, 2>{members[i], members[j]}, group, graph, memo);
    }
  }
}

void SiblingGroups::add_if_legal(std::span<const Held* const> set, Group& group, const graph::Graph& graph,
                                 LegalMemo& memo) {
  InlineVector<const Member*, 16> members;
  for (const Held* held : set) members.push_back(&held->member);
  if (!is_legal(members, graph, memo)) return;
  Match& match = group.sets.emplace_back();
  match.rule = number_;
  append_set_nodes(rule_, members, match.nodes);
}

bool SiblingGroups::is_legal(std::span<const Member* const> members, const graph::Graph& graph,
                             LegalMemo& memo) const {
  const auto check = [&] {
    Bindings bindings = assemble(rule_, members);
    return passes_set_checks(rule_, graph, bindings) && check_types(rule_, graph, bindings).empty();
  };
  if (!rule_.local) return check();
  memo.begin(graph, number_);
  memo.add(graph, members[0]->bindings.plain);
  for (const Member* member : members)
    memo.add(graph, member->bindings.members[static_cast<std::size_t>(rule_.sibling_domain)][0]);
  return memo.legal(check);
}

}  // namespace regraft::rules
