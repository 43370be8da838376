#include <algorithm>
#include <memory>
#include <optional>

#include "core/graph/canonical_order.h"
#include "core/rules/match/dirty_anchors.h"
#include "core/rules/match/legal_memo.h"
#include "core/rules/match/local_match.h"
#include "core/rules/match/match_index.h"
#include "core/rules/match/match_lists.h"
#include "core/rules/match/match_programs.h"
#include "core/rules/match/sibling_groups.h"

namespace regraft::rules {

using graph::NodeId;

namespace {

/// What is known of one anchor.
struct NodeEntry {
  std::vector<LocalMatch> matches;
  std::vector<std::uint32_t> sets;  // numbers of rules of siblings with a member here
};

const std::vector<LocalMatch> kNoMatches;

/// What a pass over all nodes asks of an anchor, in little memory.
enum class Anchored : std::uint8_t {
  nothing,
  matches,
  cyclic,  // matches, some of which have to be asked about
};

/// The index while all goes well.
struct LiveIndex {
  const RuleSet& rules;
  const graph::Graph& graph;
  graph::CanonicalOrder order;
  MatchPrograms programs;
  DirtyAnchors dirty;
  LegalMemo memo;
  Dependence dependence;
  std::vector<std::unique_ptr<Matcher>> matchers;      // by rule, made when first needed
  std::vector<std::unique_ptr<SiblingGroups>> groups;  // by rule; null where it has no siblings
  std::vector<SiblingGroups*> sets;                    // those that there are
  std::vector<NodeEntry> entries;                      // by node
  std::vector<Anchored> anchored;                      // by node: what its entry holds
  std::vector<NodeEntry> first;                        // by node: its matches at first, to come back to
  MatchLists lists;
  bool fresh = false;

  LiveIndex(const RuleSet& r, const graph::Graph& g)
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
      if (!rules.compiled(number).is_siblings()) continue;
      groups[number] = std::make_unique<SiblingGroups>(rules.compiled(number), number);
      sets.push_back(groups[number].get());
    }
    grow();
    for (NodeId id = 0; id < entries.size(); ++id) match_at(id, {0, 0}, Plain::matched);
    first = entries;
  }

  Matcher& matcher(std::uint32_t number) {
    if (!matchers[number]) matchers[number] = std::make_unique<Matcher>(rules.compiled(number), graph);
    return *matchers[number];
  }

  void grow() {
    if (entries.size() >= graph.id_bound()) return;
    entries.resize(graph.id_bound());
    anchored.resize(graph.id_bound(), Anchored::nothing);
  }

  void forget(NodeId id, const DirtyAnchors::Distance& distance) {
    NodeEntry& entry = entries[id];
    const auto stale = [&](std::uint32_t number) { return dirty.sees(number, distance); };
    std::erase_if(entry.matches, [&](const LocalMatch& m) { return stale(m.match.rule); });
    std::erase_if(entry.sets, [&](std::uint32_t number) {
      if (stale(number)) groups[number]->erase(id);
      return stale(number);
    });
  }

  /// Where the matches of rules without siblings come from.
  enum class Plain : std::uint8_t { matched, first };

  void match_at(NodeId id, const DirtyAnchors::Distance& distance, Plain plain) {
    NodeEntry& entry = entries[id];
    if (plain == Plain::first) entry.matches = id < first.size() ? first[id].matches : kNoMatches;
    if (graph.alive(id)) {
      for (const std::uint32_t number : programs.at(graph, id)) {
        if (!dirty.sees(number, distance)) continue;
        if (!groups[number]) {
          if (plain == Plain::matched)
            append_local_matches(rules.compiled(number), number, graph, matcher(number), memo, id,
                                 entry.matches);
        } else if (groups[number]->insert(graph, matcher(number), id)) {
          entry.sets.push_back(number);
        }
      }
    }
    const bool cyclic = std::any_of(entry.matches.begin(), entry.matches.end(),
                                    [](const LocalMatch& m) { return !m.reads.empty(); });
    anchored[id] = cyclic ? Anchored::cyclic : entry.matches.empty() ? Anchored::nothing : Anchored::matches;
  }

  /// Where walks come back to the first graph, again and again, its matches are taken from where they are
  /// kept.
  void update(std::span<const NodeId> touched) {
    order.update(touched);
    grow();
    const auto& found = dirty.after(touched);
    const Plain plain = dirty.at_first() ? Plain::first : Plain::matched;
    for (const auto& [id, distance] : found) {
      if (id >= entries.size()) continue;
      forget(id, distance);
      match_at(id, distance, plain);
    }
    fresh = false;
  }

  /// Puts all matches in order. Apart, so that asking again costs a look.
  [[gnu::noinline]] void refresh() {
    const std::span<const NodeId> nodes = order.order();
    const std::vector<std::uint32_t>& position = order.positions();
    dependence.begin(nodes, position);
    announce(nodes);
    for (SiblingGroups* group : sets) group->announce(position, dependence);
    dependence.settle();
    lists.begin(position);
    for (SiblingGroups* group : sets) {
      group->form(graph, dependence, memo);
      group->for_each_set([&](const Match& match) { lists.defer(match); });
    }
    for (const NodeId id : nodes) {
      if (anchored[id] != Anchored::nothing) add_local(entries[id], anchored[id]);
      lists.add_deferred(id);
    }
    fresh = true;
  }

  void announce(std::span<const NodeId> nodes) {
    for (const NodeId id : nodes) {
      if (anchored[id] != Anchored::cyclic) continue;
      for (const LocalMatch& m : entries[id].matches) {
        if (dependence.might(m.replaced, m.reads)) dependence.announce(m.replaced, m.reads);
      }
    }
  }

  void add_local(const NodeEntry& entry, Anchored what) {
    for (const LocalMatch& m : entry.matches) {
      const bool cyclic = what == Anchored::cyclic && !m.reads.empty() &&
                          dependence.might(m.replaced, m.reads) && dependence.depends(m.replaced, m.reads);
      if (!cyclic) lists.add(m.match);
    }
  }
};

}  // namespace

// An error of a rule may come when half of the work is done.
struct MatchIndex::State {
  const RuleSet& rules;
  const graph::Graph& graph;
  std::optional<LiveIndex> index;
  std::uint64_t generation = 0;  // of the tables, as `index` knows them

  State(const RuleSet& r, const graph::Graph& g) : rules(r), graph(g) { begin(); }

  void begin() {
    generation = graph.tables().generation();
    index.emplace(rules, graph);
  }

  /// What it remembers of signatures and types may be void.
  void forget_where_void() {
    if (generation != graph.tables().generation()) index.reset();
  }

  template <typename Work>
  void carry_out(Work&& work) {
    try {
      work(*index);
    } catch (...) {
      index.reset();
      throw;
    }
  }

  const MatchLists& lists() {
    forget_where_void();
    if (!index) begin();
    if (!index->fresh) carry_out([](LiveIndex& i) { i.refresh(); });
    return index->lists;
  }
};

MatchIndex::MatchIndex(const RuleSet& rules, const graph::Graph& graph)
    : state_(std::make_unique<State>(rules, graph)) {}
MatchIndex::~MatchIndex() = default;
MatchIndex::MatchIndex(MatchIndex&&) noexcept = default;
MatchIndex& MatchIndex::operator=(MatchIndex&&) noexcept = default;

void MatchIndex::update(std::span<const NodeId> touched) {
  state_->forget_where_void();
  if (!state_->index) return;
  state_->carry_out([&](LiveIndex& index) { index.update(touched); });
}

std::span<const Match> MatchIndex::matches(std::uint32_t rule) const {
  return state_->lists().of(rule);
}

std::size_t MatchIndex::match_count() const {
  return state_->lists().count();
}

}
