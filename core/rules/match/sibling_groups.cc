#include "core/rules/match/sibling_groups.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/rules/instantiate/builder.h"
#include "core/rules/instantiate/legal.h"

namespace regraft::rules {

using graph::NodeId;

SiblingGroups::Held& SiblingGroups::take_held(graph::NodeId root, const Bindings& bindings) {
  if (!spare_held_) {
    held_.push_back({.member = {root, bindings, {}, {}}});
    return held_.back();
  }
  Held& held = *std::exchange(spare_held_, spare_held_->next);
  held.member.root = root;
  held.member.bindings = bindings;
  held.own.clear();
  held.replaced.clear();
  held.reads.clear();
  return held;
}

// An operand that is absent has no node.
SiblingGroups::Group*& SiblingGroups::near(graph::Value shared) {
  return near_[shared.present() ? shared.node : 0];
}

SiblingGroups::Group& SiblingGroups::take_group() {
  if (spare_groups_.empty()) return all_groups_.emplace_back();
  Group& group = *spare_groups_.back();
  spare_groups_.pop_back();
  group.stale = true;
  return group;
}

void SiblingGroups::give_group(Group& group) {
  give_sets(group);
  group.members = {};
  group.depends = {};
  spare_groups_.push_back(&group);
}

SiblingGroups::Set& SiblingGroups::take_set() {
  if (!spare_sets_) return all_sets_.emplace_back();
  return *std::exchange(spare_sets_, spare_sets_->next);
}

void SiblingGroups::give_sets(Group& group) {
  while (Set* const set = group.sets) {
    group.sets = set->next;
    set->match.nodes = {};
    set->next = std::exchange(spare_sets_, set);
  }
}

void SiblingGroups::erase(NodeId root) {
  if (root >= first_.size()) return;
  for (Held* held = std::exchange(first_[root], nullptr); held;) {
    leave(*held);
    Held* const next = held->next;
    held->next = std::exchange(spare_held_, held);
    held = next;
  }
}

void SiblingGroups::leave(Held& held) {
  Group& group = *held.group;
  group.members.erase(static_cast<std::size_t>(std::find(group.members.begin(), group.members.end(), &held) -
                                               group.members.begin()));
  group.stale = true;
  if (!group.members.empty()) return;
  Group** link = &near(group.shared);
  while (*link != &group) link = &(*link)->next;
  *link = group.next;
  groups_[group.place] = groups_.back();
  groups_[group.place]->place = group.place;
  groups_.pop_back();
  give_group(group);
}

bool SiblingGroups::insert(const graph::Graph& graph, Matcher& matcher, NodeId root) {
  if (first_.size() < graph.id_bound()) {
    first_.resize(graph.id_bound(), nullptr);
    near_.resize(graph.id_bound(), nullptr);
  }
  matcher.run(root, {}, [&](Bindings& bindings, std::span<const NodeId>) {
    Held& held = take_held(root, bindings);
    bool counts = complete(rule_, graph, held.member);
    for (const Held* other = first_[root]; other && counts; other = other->next)
      counts = !compatible(other->member, held.member);
    held.next = std::exchange(counts ? first_[root] : spare_held_, &held);
    if (!counts) return false;
    describe(held);
    join(held);
    return false;
  });
  return first_[root] != nullptr;
}

void SiblingGroups::describe(Held& held) const {
  Bindings& bindings = held.member.bindings;
  const Frame& own = bindings.members[static_cast<std::size_t>(rule_.sibling_member_set)][0];
  for (Slot leaf : rule_.leaves) {
    if (leaf.member_set < 0) continue;
    const Tensor& tensor = own.tensors[leaf.index];
    if (tensor.present() && !tensor.constant()) held.own.push_back(tensor.value);
  }
  if (rule_.always_acyclic) return;
  held.reads = read_values(rule_, bindings);
  for_each_replacement(rule_, bindings,
                       [&](const Tensor& before, const Tensor&) { held.replaced.push_back(before.value); });
}

// Members are grouped by the first value that they share, then by all that makes them compatible.
void SiblingGroups::join(Held& held) {
  const graph::Value shared = held.member.bindings.plain.tensors[rule_.shared[0].index].value;
  Group*& first = near(shared);
  Group* group = first;
  while (group && !(group->shared == shared && compatible(group->members[0]->member, held.member)))
    group = group->next;
  if (!group) {
    group = &take_group();
    group->shared = shared;
    group->place = groups_.size();
    groups_.push_back(group);
    group->next = std::exchange(first, group);
  }
  group->members.push_back(&held);
  group->stale = true;
  held.group = group;
}

// Members stand in the order that the rule wants, then in the canonical order of the activations that they
// have for themselves, then in that of their roots. So sets that differ only in what they share have their
// members in the same order.
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
  for (Group* const group : groups_) {
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
  for (Group* const group : groups_) {
    if (group->members.size() >= 2 && !rule_.always_acyclic) find_dependence(*group, dependence);
    if (!group->stale) continue;
    give_sets(*group);
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
  if (std::ranges::equal(depends_, group.depends)) return;
  group.depends.assign(depends_.begin(), depends_.end());
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
  const bool all_pairs = rule_.members_share_activation && size <= kMostForAllPairs;
  const bool is_listed_pair = chosen.size() == 2 && (all_pairs || chosen[1] == chosen[0] + 1);
  if (chosen.size() > 1 && !is_listed_pair) {
    InlineVector<const Held*, 16> set;
    for (std::size_t i : chosen) set.push_back(members[i]);
    add_if_legal(set, group, graph, memo);
  }
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
  Set& made = take_set();
  made.match.rule = number_;
  append_set_nodes(rule_, members, made.match.nodes);
  made.next = std::exchange(group.sets, &made);
}

bool SiblingGroups::is_legal(std::span<const Member* const> members, const graph::Graph& graph,
                             LegalMemo& memo) {
  const auto check = [&] {
    if (!set_) set_.emplace(rule_);
    *set_ = members[0]->bindings;
    assemble(rule_, members.subspan(1), *set_);
    return passes_set_checks(rule_, graph, *set_) &&
           check_types(rule_, graph, *set_, memo.operations()).empty();
  };
  if (!rule_.decided_by_bindings) return check();
  memo.begin(number_);
  memo.add(graph, members[0]->bindings.plain);
  for (const Member* member : members)
    memo.add(graph, member->bindings.members[static_cast<std::size_t>(rule_.sibling_member_set)][0]);
  return memo.legal(check);
}

}
