#include <algorithm>
#include <memory>

#include "core/graph/canonical.h"
#include "core/rules/dirty_anchors.h"
#include "core/rules/legal_memo.h"
#include "core/rules/local_match.h"
#include "core/rules/match_lists.h"
#include "core/rules/match_programs.h"
#include "core/rules/sibling_groups.h"

namespace regraft::rules {

using graph::NodeId;

namespace {

/// What is known of one anchor.
struct NodeEntry {
  std::vector<LocalMatch> matches;
  std::vector<std::uint32_t> sets;  // numbers of rules of siblings with a member here
  bool may_cycle = false;           // some match has to be asked about
};

}  // namespace

struct MatchIndex::State {
  const RuleSet& rules;
  const graph::Graph& graph;
  graph::CanonicalOrder order;
  MatchPrograms programs;
  DirtyAnchors dirty;
  LegalMemo memo;
  Dependence dependence;
  std::vector<std::unique_ptr<Matcher>> matchers;      // by rule, made when first needed
  std::vector<std::unique_ptr<SiblingGroups>> groups;  // by rule; null where it has no siblings
  std::vector<NodeEntry> entries;                      // by node
  MatchLists lists;
  bool fresh = false;

  State(const RuleSet& r, const graph::Graph& g)
      : rules(r),
        graph(g),
        order(g),
        programs(r),
        dirty(r, g),
        dependence(g),
        matchers(r.size()),
        groups(r.size()),
        lists(r.size()) {
    for (std::uint32_t number = 0; number < rules.size(); ++number) {
      if (rules.compiled(number).is_siblings())
        groups[number] = std::make_unique<SiblingGroups>(rules.compiled(number), number);
    }
    entries.resize(graph.id_bound());
    for (NodeId id = 0; id < entries.size(); ++id) match_at(id, {0, 0});
  }

  Matcher& matcher(std::uint32_t number) {
    if (!matchers[number]) matchers[number] = std::make_unique<Matcher>(rules.compiled(number), graph);
    return *matchers[number];
  }

  void forget(NodeId id, const DirtyAnchors::Distance& distance) {
    NodeEntry& entry = entries[id];
    const auto stale = [&](std::uint32_t number) { return distance.reaches(rules.compiled(number)); };
    std::erase_if(entry.matches, [&](const LocalMatch& m) { return stale(m.match.rule); });
    std::erase_if(entry.sets, [&](std::uint32_t number) {
      if (stale(number)) groups[number]->erase(id);
      return stale(number);
    });
  }

  void match_at(NodeId id, const DirtyAnchors::Distance& distance) {
    if (!graph.alive(id)) return;
    NodeEntry& entry = entries[id];
    for (std::uint32_t number : programs.at(graph, id)) {
      const CompiledRule& rule = rules.compiled(number);
      if (!distance.reaches(rule)) continue;
      if (!rule.is_siblings()) {
        append_local_matches(rule, number, graph, matcher(number), memo, id, entry.matches);
      } else if (groups[number]->insert(graph, matcher(number), id)) {
        entry.sets.push_back(number);
      }
    }
    entry.may_cycle = std::any_of(entry.matches.begin(), entry.matches.end(),
                                  [](const LocalMatch& m) { return !m.reads.empty(); });
  }

  void update(std::span<const NodeId> touched) {
    order.update(touched);
    if (entries.size() < graph.id_bound()) entries.resize(graph.id_bound());
    for (const auto& [id, distance] : dirty.after(touched)) {
      if (id >= entries.size()) continue;
      forget(id, distance);
      match_at(id, distance);
    }
    fresh = false;
  }

  void refresh() {
    if (fresh) return;
    const std::span<const NodeId> nodes = order.order();
    const std::vector<std::uint32_t>& position = order.positions();
    dependence.begin(nodes, position);
    for (NodeId id : nodes) {
      if (!entries[id].may_cycle) continue;
      for (const LocalMatch& m : entries[id].matches) {
        if (dependence.might(m.replaced, m.reads)) dependence.announce(m.replaced, m.reads);
      }
    }
    for (const auto& group : groups) {
      if (group) group->announce(position, dependence);
    }
    dependence.settle();
    lists.begin(position);
    for (const auto& group : groups) {
      if (!group) continue;
      group->form(graph, dependence, memo);
      group->for_each_set([&](const Match& match) { lists.defer(match); });
    }
    for (NodeId id : nodes) {
      for (const LocalMatch& m : entries[id].matches) {
        const bool cyclic = !m.reads.empty() && dependence.might(m.replaced, m.reads) &&
                            dependence.depends(m.replaced, m.reads);
        if (!cyclic) lists.add(m.match);
      }
      lists.add_deferred(id);
    }
    fresh = true;
  }
};

MatchIndex::MatchIndex(const RuleSet& rules, const graph::Graph& graph)
    : state_(std::make_unique<State>(rules, graph)) {}
MatchIndex::~MatchIndex() = default;
MatchIndex::MatchIndex(MatchIndex&&) noexcept = default;
MatchIndex& MatchIndex::operator=(MatchIndex&&) noexcept = default;

void MatchIndex::update(std::span<const NodeId> touched) {
  state_->update(touched);
}

std::span<const Match> MatchIndex::matches(std::uint32_t rule) const {
  state_->refresh();
  return state_->lists.of(rule);
}

std::size_t MatchIndex::match_count() const {
  state_->refresh();
  return state_->lists.count();
}

}  // namespace regraft::rules
