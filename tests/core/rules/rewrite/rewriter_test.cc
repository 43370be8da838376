#include "core/rules/rewrite/rewriter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/rules/graph_builder.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/match/match_index.h"
#include "support/validate.h"

namespace regraft::rules {
namespace {

using graph::Attr;
using graph::NodeId;
using graph::OpKind;
using graph::Value;
using testing::GraphBuilder;

std::vector<Match> all_matches(const RuleSet& rules, const graph::Graph& graph) {
  const MatchIndex index(rules, graph);
  std::vector<Match> all;
  for (std::uint32_t r = 0; r < rules.size(); ++r) {
    for (const Match& m : index.matches(r)) all.push_back(m);
  }
  return all;
}

std::size_t count_of(const graph::Graph& graph, OpKind kind) {
  std::size_t count = 0;
  for (NodeId id = 0; id < graph.id_bound(); ++id) count += graph.alive(id) && graph.node(id).kind == kind;
  return count;
}

TEST(Rewrite, FusesTwoTransposes) {
  GraphBuilder b;
  const Value x = b.input({2, 3, 4});
  const Value t = b.op(OpKind::transpose, {x}, {{Attr::perm, graph::Ints{2, 0, 1}}});
  b.output(b.op(OpKind::transpose, {t}, {{Attr::perm, graph::Ints{1, 0, 2}}}));
  const RuleSet rules =
      RuleSet::parse("tt: Transpose{p}(Transpose{q}(x)) => Transpose{permute(q, p)}(x)\n", "test.rules");
  const auto matches = all_matches(rules, b.graph());
  ASSERT_EQ(matches.size(), 1u);
  const Rewrite done = apply(b.graph(), rules, matches[0]);
  graph::validate(b.graph());
  EXPECT_EQ(b.graph().operation_count(), 1u);
  ASSERT_EQ(done.after.size(), 1u);
  EXPECT_EQ(b.graph().attrs(done.after[0].node).ints(Attr::perm), (graph::Ints{0, 2, 1}));
  EXPECT_THROW(apply(b.graph(), rules, matches[0]), RuleError);
}

TEST(Rewrite, KeepsInteriorNodesThatHaveOtherUses) {
  GraphBuilder b;
  const Value x = b.input({2, 3});
  const Value t = b.op(OpKind::transpose, {x}, {{Attr::perm, graph::Ints{1, 0}}});
  b.output(b.op(OpKind::transpose, {t}, {{Attr::perm, graph::Ints{1, 0}}}));
  b.output(t);
  const RuleSet rules = RuleSet::parse(
      "tt: Transpose{p}(Transpose{q}(x)), permute(q, p) == range(rank(x)) => x\n", "test.rules");
  const auto matches = all_matches(rules, b.graph());
  ASSERT_EQ(matches.size(), 1u);
  apply(b.graph(), rules, matches[0]);
  graph::validate(b.graph());
  EXPECT_EQ(b.graph().outputs()[0], x);
  EXPECT_EQ(b.graph().outputs()[1], t);
}

TEST(Rewrite, FoldsConstantOperandsIntoWeightExpressions) {
  GraphBuilder b;
  const Value x = b.input({2, 4});
  const Value w = b.weight({4, 3});
  const Value c = b.weight({3});
  b.output(b.op(OpKind::mul, {c, b.op(OpKind::matmul, {x, w})}));
  const RuleSet rules =
      RuleSet::parse("mm-mul: Mul(MatMul(x, w), c), const(w, c), rank(c) <= 1 => MatMul(x, w * c)\n", "t");
  const auto matches = all_matches(rules, b.graph());
  ASSERT_EQ(matches.size(), 1u);
  const Rewrite done = apply(b.graph(), rules, matches[0]);
  graph::validate(b.graph());
  const graph::Node& node = b.graph().node(done.after[0].node);
  EXPECT_EQ(node.kind, OpKind::matmul);
  const auto weight = b.graph().weight_of(node.inputs[1]);
  ASSERT_NE(weight, graph::WeightId::none);
  EXPECT_EQ(b.tables().weights()[weight].kind, OpKind::mul);
}

constexpr const char* kMergeConsumers = R"(
merge: y@ = MatMul(x, w@), const(w@), rank(w@) == 2
    => z = MatMul(x, Concat{1}(w@...)); (y@...) = Split{rank(z) - 1, [w@.1...]}(z)
)";

TEST(Rewrite, MergesAllMatMulsOfOneInputAndEachPair) {
  GraphBuilder b;
  const Value x = b.input({2, 4});
  for (int i = 0; i < 3; ++i) b.output(b.op(OpKind::matmul, {x, b.weight({4, 2 + i})}));
  const RuleSet rules = RuleSet::parse(kMergeConsumers, "t");
  const auto matches = all_matches(rules, b.graph());
  ASSERT_EQ(matches.size(), 4u);
  const auto whole =
      std::find_if(matches.begin(), matches.end(), [](const Match& m) { return m.nodes.size() == 3; });
  ASSERT_NE(whole, matches.end());
  apply(b.graph(), rules, *whole);
  graph::validate(b.graph());
  EXPECT_EQ(count_of(b.graph(), OpKind::matmul), 1u);
  EXPECT_EQ(count_of(b.graph(), OpKind::split), 1u);
}

constexpr const char* kMergeShared = R"(
batch: y@ = MatMul(x@, w), const(w), rank(w) == 2, rank(x@) == 2
    => z = MatMul(Concat{0}(x@...), w); (y@...) = Split{0, [x@.0...]}(z)
)";

TEST(Rewrite, BatchesInputsOfOneWeightOnlyWhereIndependent) {
  GraphBuilder b;
  const Value w = b.weight({4, 4});
  const Value x = b.input({1, 4}), y = b.input({1, 4}), z = b.input({1, 4});
  const Value first = b.op(OpKind::matmul, {x, w});
  b.output(b.op(OpKind::matmul, {b.op(OpKind::relu, {first}), w}));
  b.output(b.op(OpKind::matmul, {y, w}));
  b.output(b.op(OpKind::matmul, {z, w}));
  const RuleSet rules = RuleSet::parse(kMergeShared, "t");
  const auto matches = all_matches(rules, b.graph());
  for (const Match& match : matches) {
    GraphBuilder unused;
    const auto mark = b.graph().mark();
    apply(b.graph(), rules, match);
    graph::validate(b.graph());
    b.graph().undo_to(mark);
  }
  const auto largest = std::max_element(matches.begin(), matches.end(), [](const Match& l, const Match& r) {
    return l.nodes.size() < r.nodes.size();
  });
  ASSERT_NE(largest, matches.end());
  EXPECT_EQ(largest->nodes.size(), 3u);
}

TEST(Rewrite, MatchesListsOfOperands) {
  GraphBuilder b;
  const Value x = b.input({2, 3}), y = b.input({2, 3});
  const Value c = b.op(OpKind::concat, {b.op(OpKind::relu, {x}), b.op(OpKind::relu, {y})},
                       {{Attr::axis, std::int64_t{1}}});
  b.output(c);
  const RuleSet rules =
      RuleSet::parse("relu-concat: Concat{a}(f:Unary(x@)...) => f(Concat{a}(x@...))\n", "t");
  const auto matches = all_matches(rules, b.graph());
  ASSERT_EQ(matches.size(), 1u);
  EXPECT_EQ(matches[0].nodes.size(), 3u);
  apply(b.graph(), rules, matches[0]);
  graph::validate(b.graph());
  EXPECT_EQ(b.graph().operation_count(), 2u);
}

TEST(Rewrite, RefusesWhatChangesNothing) {
  GraphBuilder b;
  const Value x = b.input({2, 3}), y = b.input({2, 3});
  b.output(b.op(OpKind::add, {x, y}));
  const RuleSet rules = RuleSet::parse("same: Add(x, y) => z = Add(x, y); z\n", "t");
  EXPECT_TRUE(all_matches(rules, b.graph()).empty());
}

// The inner Relu is the one that is replaced: the outer one would read itself.
TEST(Rewrite, RefusesARightSideThatReadsWhatItReplaces) {
  GraphBuilder b;
  const Value relu = b.op(OpKind::relu, {b.input({2, 3})});
  b.output(relu);
  const RuleSet rules = RuleSet::parse("wrap: Relu(x) => Relu(Relu(x))\n", "t");
  EXPECT_TRUE(all_matches(rules, b.graph()).empty());
  EXPECT_THROW(apply(b.graph(), rules, {0, {relu.node}}), RuleError);
  graph::validate(b.graph());
}

TEST(Rewrite, MayReadARootThatStays) {
  GraphBuilder b;
  const Value x = b.input({2, 3});
  const Value relu = b.op(OpKind::relu, {x});
  const Value sum = b.op(OpKind::add, {relu, x});
  b.output(relu);
  b.output(sum);
  const RuleSet rules =
      RuleSet::parse("double: a = Relu(x); b = Add(a, x) => a = Relu(x); b = Add(Mul(a, 1), x)\n", "t");
  const auto matches = all_matches(rules, b.graph());
  ASSERT_EQ(matches.size(), 1u);
  apply(b.graph(), rules, matches[0]);
  graph::validate(b.graph());
  EXPECT_EQ(b.graph().operation_count(), 3u);
}

// A class may be of integers and a named operation may not: what is remembered of one says nothing of the
// other.
TEST(Rewrite, ANamedOperationIsNotMadeOfIntegersThoughAClassWas) {
  GraphBuilder b;
  graph::Graph& g = b.graph();
  const graph::TypeId type = g.tables().intern(graph::DType::int64, std::array<graph::Dim, 2>{2, 2});
  const Value x{g.add_input(type, 0), 0}, y{g.add_input(type, 1), 0};
  b.output(b.op(OpKind::add, {x, y}));
  b.output(b.op(OpKind::concat, {x, y}, {{Attr::axis, std::int64_t{0}}}));
  const RuleSet rules = RuleSet::parse(
      "class: f:{Add,Sub}(x, y) => f(y, x)\nnamed: Concat{a}(x, y) => Concat{a}(y, Add(x, y))\n", "t");
  EXPECT_TRUE(MatchIndex(rules, g).matches(1).empty());
}

}  // namespace
}
