#include "launch/optimise/blame.h"

#include <gmock/gmock.h>

#include "core/graph/graph_builder.h"
#include "core/rules/match/match_index.h"

namespace regraft::launch {
namespace {

using graph::OpKind;
using graph::Value;

/// Neg(Neg(x)) three times over, each pair behind a Relu.
class PathWithout : public ::testing::Test {
 protected:
  PathWithout() {
    Value last = builder_.input({4});
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 2; ++k) last = builder_.op(OpKind::neg, {last});
      last = builder_.op(OpKind::relu, {last});
    }
    builder_.output(last);
  }

  /// The first match of each rule named, one after the other.
  std::vector<rules::Match> path(const std::vector<std::uint32_t>& rule_numbers) {
    graph::Graph graph = builder_.graph();
    std::vector<rules::Match> path;
    for (const std::uint32_t rule : rule_numbers) {
      const rules::MatchIndex index(rules_, graph);
      path.push_back(index.matches(rule)[0]);
      rules::apply(graph, rules_, path.back());
    }
    return path;
  }

  graph::Graph replayed(const std::vector<rules::Match>& path) {
    graph::Graph graph = builder_.graph();
    for (const rules::Match& match : path) rules::apply(graph, rules_, match);
    return graph;
  }

  graph::GraphBuilder builder_;
  rules::RuleSet rules_ = rules::RuleSet::parse(
      "double-neg: Neg(Neg(x)) => x\npart: Relu(x) => Sigmoid(Tanh(x))\njoin: Sigmoid(Tanh(x)) => Exp(x)\n",
      "t");
};

TEST_F(PathWithout, WhatIsIndependentStays) {
  const auto all = path({0, 0, 0});
  const auto rest = path_without(builder_.graph(), rules_, all, {1});
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(replayed(all).operation_count(), 3u);
  EXPECT_EQ(replayed(rest).operation_count(), 5u);
}

TEST_F(PathWithout, WhatStandsOnWhatIsLeftOutIsLeftOutToo) {
  // What the second makes is what the third takes.
  const auto all = path({0, 1, 2});
  const auto rest = path_without(builder_.graph(), rules_, all, {1});
  EXPECT_EQ(rest.size(), 1u);
}

TEST_F(PathWithout, WhatALaterRewriteMadeIsFoundUnderItsNewNumber) {
  // The third takes what the second made, which has other ids where the first is left out.
  auto all = path({1, 1});
  graph::Graph graph = replayed(all);
  all.push_back(rules::MatchIndex(rules_, graph).matches(2).back());
  const auto rest = path_without(builder_.graph(), rules_, all, {0});
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_NE(rest[1], all[2]);
  EXPECT_EQ(replayed(rest).operation_count(), 9u);
}

TEST(Blame, GoesFromTheRewriteToTheRuleAndEnds) {
  Blame blame;
  EXPECT_EQ(blame.after("a"), Without::rewrite);
  EXPECT_EQ(blame.after("b"), Without::rewrite);
  EXPECT_EQ(blame.after("a"), Without::rewrites_of_rule);
  EXPECT_EQ(blame.after("a"), Without::rule);
  EXPECT_EQ(blame.after("a"), Without::everything);
  Blame many;
  Without last = Without::rewrite;
  for (int i = 0; i < 40; ++i) last = many.after("r" + std::to_string(i));
  EXPECT_EQ(last, Without::everything);
}

}  // namespace
}
