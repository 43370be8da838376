#include "core/rules/match/dirty_anchors.h"

#include <gtest/gtest.h>

#include <map>

#include "core/rules/graph_builder.h"
#include "core/rules/match/local_match.h"
#include "core/rules/rewrite/rewriter.h"

namespace regraft::rules {
namespace {

using namespace testing;

// Two that are local, one that reads a constant, three that look at users.
constexpr const char* kAnchorRules =
    "twice: Relu(Relu(x)) => Relu(x)\n"
    "deep: Neg(Abs(Relu(x))) => Neg(Relu(x))\n"
    "scale: Relu(Mul(x, c)), scalar(c), value(c) > 0 => Mul(Relu(x), c)\n"
    "inside: y = Abs(x), not output(y) => Relu(x)\n"
    "alone: a = Relu(x); y = Abs(a), uses(a) == 1 => y = Relu(a)\n"
    "move: Abs(Neg(x)) => Relu(Neg(x))\n";

using Anchored = std::map<std::pair<NodeId, std::uint32_t>, std::vector<Match>>;

/// All matches, found anew at each node.
Anchored matches_at_all_anchors(const RuleSet& rules, const graph::Graph& graph) {
  Anchored found;
  for (std::uint32_t number = 0; number < rules.size(); ++number) {
    Matcher matcher(rules.compiled(number), graph);
    for (NodeId id = 0; id < graph.id_bound(); ++id) {
      LegalMemo memo;
      std::vector<LocalMatch> matches;
      if (graph.alive(id))
        append_local_matches(rules.compiled(number), number, graph, matcher, memo, id, matches);
      for (const LocalMatch& match : matches) found[{id, number}].push_back(match.match);
    }
  }
  return found;
}

/// Chains of random operations that cross.
void build_chains(GraphBuilder& b) {
  std::vector<Value> values{b.input({2, 3}), b.input({2, 3})};
  for (int i = 0; i < 40; ++i) {
    const Value x = values[values.size() - 1 - b.rng().below(2)];
    const OpKind kind = std::array{OpKind::relu, OpKind::abs, OpKind::neg, OpKind::mul}[b.rng().below(4)];
    values.push_back(kind == OpKind::mul ? b.op(kind, {x, b.scalar(b.rng().below(2) == 0 ? 2 : -2)})
                                         : b.op(kind, {x}));
  }
  for (const Value value : values)
    if (b.graph().uses(value.node).empty() || b.rng().below(8) == 0) b.output(value);
}

TEST(DirtyAnchors, HoldAllWhoseMatchesChange) {
  const RuleSet rules = RuleSet::parse(kAnchorRules, "t");
  std::size_t changes = 0, dirty_nodes = 0, live_nodes = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphBuilder b(seed);
    build_chains(b);
    graph::Graph& graph = b.graph();
    DirtyAnchors dirty(rules, graph);
    std::vector<graph::Graph::Mark> marks;
    Anchored before = matches_at_all_anchors(rules, graph);
    for (int step = 0; step < 12 && !before.empty(); ++step) {
      std::vector<NodeId> touched;
      if (!marks.empty() && b.rng().below(3) == 0) {
        const std::size_t back = b.rng().below(marks.size());
        touched = graph.touched_since(marks[back]);
        graph.undo_to(marks[back]);
        marks.resize(back);
      } else {
        marks.push_back(graph.mark());
        const auto place = static_cast<std::ptrdiff_t>(b.rng().below(before.size()));
        apply(graph, rules, std::next(before.begin(), place)->second[0]);
        touched = graph.touched_since(marks.back());
      }
      std::map<NodeId, DirtyAnchors::Distance> found;
      for (const auto& [id, distance] : dirty.after(touched))
        EXPECT_TRUE(found.emplace(id, distance).second) << "each once";
      EXPECT_EQ(dirty.at_first(), marks.empty());
      Anchored now = matches_at_all_anchors(rules, graph);
      for (NodeId id = 0; id < graph.id_bound(); ++id)
        for (std::uint32_t number = 0; number < rules.size(); ++number) {
          if (before[{id, number}] == now[{id, number}]) continue;
          ++changes;
          EXPECT_TRUE(found.contains(id) && dirty.sees(number, found[id]))
              << rules.info(number).name << " at node " << id << ", step " << step;
        }
      std::erase_if(now, [](const auto& anchor) { return anchor.second.empty(); });
      before = now;
      dirty_nodes += found.size();
      live_nodes += graph.live_count();
    }
  }
  EXPECT_GT(changes, 100u);
  EXPECT_LT(dirty_nodes, live_nodes / 2) << "the rest need not be matched again";
}

}  // namespace
}
