#pragma once

// Internal to core/rules: the sets of siblings of one rule on one graph.

#include <deque>
#include <optional>
#include <vector>

#include "core/rules/match/dependence.h"
#include "core/rules/match/legal_memo.h"
#include "core/rules/match/match.h"
#include "core/rules/match/sibling_set.h"

namespace regraft::rules {

/// Keeps the members of one rule by root, and forms their sets. Of each group of compatible members these are
/// the largest independent set (greedily, in canonical order) and pairs. The pairs are all where the members
/// share an activation and are at most kMostForAllPairs, else neighbours in canonical order.
///
/// Groups are kept while members come and go. A group's sets are formed again only where a member changed,
/// the members' order changed, or which of them depend on which: announce(), Dependence::settle() and form()
/// after the edits, then sets().
class SiblingGroups {
 public:
  static constexpr std::size_t kMostForAllPairs = 16;

  SiblingGroups(const CompiledRule& rule, std::uint32_t number) : rule_(rule), number_(number) {}
  SiblingGroups(const SiblingGroups&) = delete;  // its lists hold pointers into each other
  SiblingGroups& operator=(const SiblingGroups&) = delete;

  void erase(graph::NodeId root);
  /// Whether the root has members.
  bool insert(const graph::Graph& graph, Matcher& matcher, graph::NodeId root);

  /// Puts members in order and announces what form() will ask.
  void announce(const std::vector<std::uint32_t>& position, Dependence& dependence);
  void form(const graph::Graph& graph, const Dependence& dependence, LegalMemo& memo);
  /// Calls visit(match) for all legal sets, in no particular order.
  template <typename Visit>
  void for_each_set(Visit&& visit) const {
    for (const Group* group : groups_) {
      for (const Set* set = group->sets; set; set = set->next) visit(set->match);
    }
  }

 private:
  using Values = InlineVector<graph::Value, 8>;
  struct Group;
  struct Held {
    Member member;
    Group* group = nullptr;
    Held* next = nullptr;        // of the same root, or to be used again
    Values own{};                // its activations
    Values replaced{}, reads{};  // empty where no cycle can arise
  };
  struct Set {
    Match match;
    Set* next = nullptr;  // of the same group, or to be used again
  };
  struct Group {
    graph::Value shared;
    std::size_t place = 0;  // in groups_
    Group* next = nullptr;  // near the same node
    InlineVector<Held*, 4> members;
    InlineVector<std::uint8_t, 16> depends;  // [i * size + j]: j reads what i replaces, or what depends on it
    Set* sets = nullptr;
    bool stale = true;
  };

  Held& take_held(graph::NodeId root, const Bindings& bindings);
  Group& take_group();
  void give_group(Group& group);
  Set& take_set();
  void give_sets(Group& group);
  Group*& near(graph::Value shared);
  void leave(Held& held);
  void describe(Held& held) const;
  void join(Held& held);
  bool before(const Held& a, const Held& b, const std::vector<std::uint32_t>& position) const;
  void find_dependence(Group& group, const Dependence& dependence);
  void form_sets(Group& group, const graph::Graph& graph, LegalMemo& memo);
  void add_if_legal(std::span<const Held* const> set, Group& group, const graph::Graph& graph,
                    LegalMemo& memo);
  bool is_legal(std::span<const Member* const> members, const graph::Graph& graph, LegalMemo& memo);

  const CompiledRule& rule_;
  std::uint32_t number_;
  // Members, sets and groups that are gone are used again. Lists that have no end are given back with them:
  // in a walk that is walked again there are as many of each size as there were before.
  std::deque<Held> held_;
  std::deque<Set> all_sets_;
  std::deque<Group> all_groups_;
  Held* spare_held_ = nullptr;
  Set* spare_sets_ = nullptr;
  std::vector<Group*> groups_, spare_groups_;
  std::vector<Held*> first_;           // by node: the members with this root
  std::vector<Group*> near_;           // by node: the groups that share a value of it
  std::vector<std::uint8_t> depends_;  // scratch
  std::optional<Bindings> set_;        // scratch
};

}
