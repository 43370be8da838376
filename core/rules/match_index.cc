#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/graph/order.h"
#include "core/rules/build.h"
#include "core/rules/matcher.h"
#include "core/rules/reach.h"
#include "core/rules/rewrite.h"
#include "core/rules/sibling_groups.h"

namespace regraft::rules {

using graph::NodeId;

namespace {

/// A match that is legal but for cycles, which a far edit can make or break.
struct LocalMatch {
  Match match;
  std::vector<graph::Value> replaced;  // empty where no cycle can arise
  std::vector<graph::Value> reads;
};

struct NodeEntry {
  std::vector<LocalMatch> matches;
};

bool canonical_less(const std::vector<std::uint32_t>& position, const Match& a, const Match& b) {
  return std::lexicographical_compare(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                                      [&](NodeId x, NodeId y) { return position[x] < position[y]; });
}

std::vector<LocalMatch> local_matches(const RuleSet& rules, std::uint32_t number, const graph::Graph& graph,
                                      NodeId anchor) {
  std::vector<LocalMatch> out;
  const CompiledRule& rule = rules.compiled(number);
  std::vector<std::vector<NodeId>> seen;
  Matcher(rule, graph).run(anchor, {}, [&](Bindings& found, std::span<const NodeId> trace) {
    std::vector<NodeId> nodes(trace.begin(), trace.end());
    if (std::find(seen.begin(), seen.end(), nodes) != seen.end()) return false;
    seen.push_back(nodes);
    Bindings bindings = found;
    if (!check_types(rule, graph, bindings).empty()) return false;
    LocalMatch local;
    local.match.rule = number;
    local.match.nodes = InlineVector<NodeId, 8>(std::span<const NodeId>(nodes));
    if (!rule.always_acyclic) {
      local.reads = read_values(rule, bindings);
      for_each_replacement(rule, bindings, [&](const Tensor& before, const Tensor&) {
        local.replaced.push_back(before.value);
      });
    }
    out.push_back(std::move(local));
    return false;
  });
  return out;
}

}  // namespace

struct MatchIndex::State {
  const RuleSet& rules;
  const graph::Graph& graph;
  std::vector<std::vector<std::uint32_t>> plain_by_kind, siblings_by_kind;  // rule numbers
  std::uint32_t radius = 0;
  std::vector<NodeEntry> entries;                           // by node
  std::vector<std::uint32_t> distance;                      // scratch, by node
  std::unordered_map<std::uint32_t, SiblingGroups> groups;  // by rule
  std::vector<std::vector<Match>> matches;                  // by rule, once fresh
  bool fresh = false;

  State(const RuleSet& r, const graph::Graph& g)
      : rules(r), graph(g), plain_by_kind(graph::kOpKinds), siblings_by_kind(graph::kOpKinds) {
    for (std::uint32_t number = 0; number < rules.size(); ++number) {
      const CompiledRule& rule = rules.compiled(number);
      radius = std::max(radius, rule.radius);
      auto& table = rule.is_siblings() ? siblings_by_kind : plain_by_kind;
      for (std::size_t k = 0; k < graph::kOpKinds; ++k) {
        if (rule.anchors.test(k)) table[k].push_back(number);
      }
      if (rule.is_siblings()) groups.try_emplace(number, rule, number);
    }
    matches.resize(rules.size());
    std::vector<NodeId> all(graph.id_bound());
    for (NodeId id = 0; id < all.size(); ++id) all[id] = id;
    for (NodeId id : all) rematch(id, 0);
  }

  // Matches anchored at a node depend on what lies within their rule's radius of it.
  void rematch(NodeId id, std::uint32_t dist) {
    if (entries.size() < graph.id_bound()) entries.resize(graph.id_bound());
    if (id >= entries.size()) return;
    auto& held = entries[id].matches;
    std::erase_if(held, [&](const LocalMatch& m) { return rules.compiled(m.match.rule).radius >= dist; });
    for (auto& [number, group] : groups) {
      if (rules.compiled(number).radius >= dist) group.erase(id);
    }
    if (!graph.alive(id)) return;
    const auto kind = static_cast<std::size_t>(graph.node(id).kind);
    for (std::uint32_t number : plain_by_kind[kind]) {
      if (rules.compiled(number).radius < dist) continue;
      for (LocalMatch& m : local_matches(rules, number, graph, id)) held.push_back(std::move(m));
    }
    for (std::uint32_t number : siblings_by_kind[kind]) {
      if (rules.compiled(number).radius >= dist) groups.at(number).insert(graph, id);
    }
  }

  // Breadth first over operands and users, not through weights: a shared constant makes no neighbours.
  void update(std::span<const NodeId> touched) {
    constexpr std::uint32_t kFar = ~std::uint32_t{0};
    distance.assign(std::max<std::size_t>(graph.id_bound(), entries.size()), kFar);
    std::vector<NodeId> queue;
    const auto is_weight = [&](NodeId id) {
      return graph.alive(id) && graph.node(id).kind == graph::OpKind::weight;
    };
    // A touched weight is matched again too: its id may have belonged to an operation that was undone.
    const auto enter = [&](NodeId id, std::uint32_t dist) {
      if (id >= distance.size() || distance[id] != kFar || (dist > 0 && is_weight(id))) return;
      distance[id] = dist;
      queue.push_back(id);
    };
    for (NodeId id : touched) enter(id, 0);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const NodeId id = queue[i];
      if (!graph.alive(id) || is_weight(id) || distance[id] >= radius) continue;
      for (graph::Value input : graph.node(id).inputs) {
        if (input.present()) enter(input.node, distance[id] + 1);
      }
      for (const graph::Use& use : graph.uses(id)) {
        if (use.user != graph::kGraphOutput) enter(use.user, distance[id] + 1);
      }
    }
    for (NodeId id : queue) rematch(id, distance[id]);
    for (NodeId id = graph.id_bound(); id < entries.size(); ++id) {  // undone for good: the id is free again
      entries[id].matches.clear();
      for (auto& [number, group] : groups) group.erase(id);
    }
    entries.resize(graph.id_bound());
    fresh = false;
  }

  void refresh() {
    if (fresh) return;
    const std::vector<NodeId> order = graph::canonical_order(graph);
    std::vector<std::uint32_t> position(graph.id_bound(), 0);
    for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    Reach reach(graph, position);
    for (auto& list : matches) list.clear();
    for (NodeId id : order) {
      if (id >= entries.size()) continue;
      for (const LocalMatch& m : entries[id].matches) {
        if (m.replaced.empty() || !reach.any(m.replaced, m.reads)) matches[m.match.rule].push_back(m.match);
      }
    }
    for (auto& [number, group] : groups) matches[number] = group.matches(graph, position, reach);
    for (auto& list : matches) {
      std::sort(list.begin(), list.end(),
                [&](const Match& a, const Match& b) { return canonical_less(position, a, b); });
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
  return state_->matches[rule];
}

std::size_t MatchIndex::match_count() const {
  state_->refresh();
  std::size_t count = 0;
  for (const auto& list : state_->matches) count += list.size();
  return count;
}

}  // namespace regraft::rules
