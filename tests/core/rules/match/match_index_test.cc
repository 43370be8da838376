#include <gtest/gtest.h>

#include "core/rules/interpreter.h"
#include "core/rules/match/match_index.h"
#include "core/rules/model_zoo.h"
#include "core/rules/reference_matcher.h"
#include "core/rules/rewrite/cleanup.h"
#include "core/rules/rewrite/rewriter.h"
#include "core/rules/shipped.h"
#include "support/validate.h"

namespace regraft::rules {
namespace {

using testing::GraphBuilder;

using Maker = void (*)(GraphBuilder&);

void make_recurrent(GraphBuilder& b) {
  testing::recurrent(b, 3, 3, 4);
}
void make_encoder(GraphBuilder& b) {
  testing::encoder(b, 5, 2, 3);
}
void make_convolutions(GraphBuilder& b) {
  testing::convolutions(b);
}

struct Walk {
  const char* name;
  Maker make;
  std::uint64_t seed;
};

void expect_fresh(const MatchIndex& index, const graph::Graph& graph, std::uint64_t seed, int step) {
  const MatchIndex fresh(shipped(), graph);
  for (std::uint32_t rule = 0; rule < shipped().size(); ++rule) {
    const auto held = index.matches(rule), wanted = fresh.matches(rule);
    ASSERT_TRUE(std::equal(held.begin(), held.end(), wanted.begin(), wanted.end()))
        << "rule " << shipped().info(rule).name << ": " << held.size() << " matches held, " << wanted.size()
        << " in a fresh index; seed " << seed << " step " << step;
  }
}

class RandomWalk : public ::testing::TestWithParam<Walk> {};

// Applies random matches and takes some back, and compares the index with a fresh one after every change.
TEST_P(RandomWalk, IndexEqualsAFreshOne) {
  const Walk& walk = GetParam();
  GraphBuilder b(walk.seed);
  walk.make(b);
  graph::Graph& graph = b.graph();
  clean_up(graph);
  Rng rng(walk.seed, "walk");
  const auto inputs = testing::random_inputs(graph, rng);
  const auto expected = testing::Interpreter(graph).run(inputs);
  MatchIndex index(shipped(), graph);
  std::vector<graph::Graph::Mark> marks;
  for (int step = 0; step < 60; ++step) {
    const auto before = graph.mark();
    std::vector<graph::NodeId> touched;
    if (!marks.empty() && rng.below(4) == 0) {
      const std::size_t back = rng.below(marks.size());
      touched = graph.touched_since(marks[back]);
      graph.undo_to(marks[back]);
      marks.resize(back);
    } else {
      std::vector<Match> all;
      for (std::uint32_t rule = 0; rule < shipped().size(); ++rule) {
        for (const Match& match : index.matches(rule)) all.push_back(match);
      }
      ASSERT_FALSE(all.empty());
      const Match match = all[rng.below(all.size())];
      ASSERT_NO_THROW(apply(graph, shipped(), match))
          << shipped().info(match.rule).name << " seed " << walk.seed;
      touched = graph.touched_since(before);
      marks.push_back(before);
    }
    ASSERT_NO_THROW(graph::validate(graph)) << "seed " << walk.seed << " step " << step;
    index.update(touched);
    ASSERT_NO_FATAL_FAILURE(expect_fresh(index, graph, walk.seed, step));
  }
  const auto found = testing::Interpreter(graph).run(inputs);
  if (!marks.empty()) {  // back where the index began
    const std::vector<graph::NodeId> touched = graph.touched_since(marks[0]);
    graph.undo_to(marks[0]);
    index.update(touched);
    ASSERT_NO_FATAL_FAILURE(expect_fresh(index, graph, walk.seed, 60));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LT(testing::relative_difference(expected[i], found[i]), 1e-4) << "seed " << walk.seed;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, RandomWalk,
    ::testing::Values(Walk{"recurrent", make_recurrent, 1}, Walk{"recurrent", make_recurrent, 2},
                      Walk{"encoder", make_encoder, 3}, Walk{"encoder", make_encoder, 4},
                      Walk{"convolutions", make_convolutions, 5}, Walk{"convolutions", make_convolutions, 6}),
    [](const auto& walk) { return std::string(walk.param.name) + "_" + std::to_string(walk.param.seed); });

// On graphs that rewriting made, with an index that was kept up, against a matcher that tries everything.
TEST(MatchIndex, EqualsTheReferenceAfterAWalk) {
  std::size_t seen = 0;
  for (Maker make : {make_recurrent, make_encoder, make_convolutions}) {
    GraphBuilder b(11);
    make(b);
    graph::Graph& graph = b.graph();
    clean_up(graph);
    MatchIndex index(shipped(), graph);
    Rng rng(11, "reference walk");
    for (int step = 0; step < 12; ++step) {
      std::vector<Match> all;
      for (std::uint32_t rule = 0; rule < shipped().size(); ++rule) {
        for (const Match& match : index.matches(rule)) all.push_back(match);
      }
      const auto mark = graph.mark();
      apply(graph, shipped(), all[rng.below(all.size())]);
      index.update(graph.touched_since(mark));
      if (step % 4 != 3) continue;
      for (std::uint32_t rule = 0; rule < shipped().size(); ++rule) {
        seen += testing::expect_reference_matches(shipped(), rule, graph, index.matches(rule));
      }
    }
  }
  EXPECT_GT(seen, 100u) << "too few matches to compare";
}

// An id that was undone may come back as a constant: the matches of its former life must go.
TEST(MatchIndex, ForgetsANodeWhoseIdBecameAWeight) {
  GraphBuilder b;
  const graph::Value x = b.input({2, 3});
  const graph::Value w = b.weight({3}), v = b.weight({3});
  b.output(
      b.op(graph::OpKind::mul,
           {b.op(graph::OpKind::mul, {b.op(graph::OpKind::relu, {b.op(graph::OpKind::relu, {x})}), w}), v}));
  const RuleSet rules = RuleSet::parse(
      "split: Relu(Relu(x)) => Exp(Log(Relu(x)))\nlog: Log(x) => x\nfold: Mul(Mul(x, c), d), const(c, d) => "
      "Mul(x, c * d)\n",
      "t");
  graph::Graph& graph = b.graph();
  MatchIndex index(rules, graph);
  const auto mark = graph.mark();
  const Match first = index.matches(0)[0], second = index.matches(2)[0];
  apply(graph, rules, first);
  index.update(graph.touched_since(mark));
  ASSERT_EQ(index.matches(1).size(), 1u);
  std::vector<graph::NodeId> touched = graph.touched_since(mark);
  graph.undo_to(mark);
  apply(graph, rules, second);
  for (graph::NodeId id : graph.touched_since(mark)) touched.push_back(id);
  index.update(touched);
  EXPECT_TRUE(index.matches(1).empty());
  EXPECT_EQ(index.matches(0).size(), 1u);
}

// The ids of a constant and of its reader may be given to others, that differ in the constant's contents
// alone.
TEST(MatchIndex, SeesTheContentsOfAConstantThatCameBackWithItsReader) {
  GraphBuilder b;
  b.output(b.op(graph::OpKind::relu, {b.op(graph::OpKind::abs, {b.input({2, 3})})}));
  const RuleSet rules = RuleSet::parse(
      "by-one: Abs(x) => Mul(x, Full(dims(x), 1, x))\n"
      "by-two: Abs(x) => Mul(x, Full(dims(x), 2, x))\n"
      "by-less: Abs(x) => Mul(x, Full(dims(x), -1, x))\n"
      "mul-one: Mul(x, 1) => x\n"
      "relu-scale: Relu(Mul(x, c)), scalar(c), value(c) > 0 => Mul(Relu(x), c)\n",
      "t");
  graph::Graph& graph = b.graph();
  MatchIndex index(rules, graph);
  const auto mark = graph.mark();
  for (const std::uint32_t maker : {0, 1, 2, 0, 2, 1, 0}) {
    SCOPED_TRACE(rules.info(maker).name);
    std::vector<graph::NodeId> touched = graph.touched_since(mark);
    graph.undo_to(mark);
    apply(graph, rules, MatchIndex(rules, graph).matches(maker)[0]);
    for (graph::NodeId id : graph.touched_since(mark)) touched.push_back(id);
    index.update(touched);
    const MatchIndex fresh(rules, graph);
    EXPECT_EQ(fresh.match_count(), maker == 0 ? 2u : maker == 1 ? 1u : 0u);
    for (std::uint32_t rule = 0; rule < rules.size(); ++rule)
      EXPECT_TRUE(std::ranges::equal(index.matches(rule), fresh.matches(rule))) << rules.info(rule).name;
  }
}

// Another output of the graph alone, with every node as it was at first, is not the graph that it was.
TEST(MatchIndex, SeesThatOnlyAnOutputMoved) {
  GraphBuilder b;
  const graph::Value x = b.input({2, 3});
  const graph::Value relu = b.op(graph::OpKind::relu, {x}), abs = b.op(graph::OpKind::abs, {x});
  b.output(relu);
  b.output(b.op(graph::OpKind::add, {relu, abs}));
  const RuleSet rules = RuleSet::parse("inside: y = Relu(x), not output(y) => Abs(x)\n", "t");
  graph::Graph& graph = b.graph();
  MatchIndex index(rules, graph);
  EXPECT_EQ(index.match_count(), 0u);
  for (const graph::Value output : {abs, relu, abs}) {
    const auto mark = graph.mark();
    graph.set_output(0, output);
    index.update(graph.touched_since(mark));
    EXPECT_EQ(index.match_count(), output == abs ? 1u : 0u);
  }
}

// The cube of one value, written both ways round: one way has the form that the rule makes already.
TEST(MatchIndex, TellsTheWaysRoundOfACommutativeOperation) {
  GraphBuilder b;
  const graph::Value x = b.op(graph::OpKind::relu, {b.input({2, 3})});
  const graph::Value square = b.op(graph::OpKind::mul, {x, x});
  const graph::Value other = b.op(graph::OpKind::mul, {square, x}),
                     made = b.op(graph::OpKind::mul, {x, square});
  b.output(other);
  b.output(made);
  const RuleSet rules = RuleSet::parse("assoc: Mul(Mul(x, y), z) => Mul(x, Mul(y, z))\n", "t");
  const MatchIndex index(rules, b.graph());
  ASSERT_EQ(index.matches(0).size(), 1u);
  EXPECT_EQ(index.matches(0)[0].nodes[0], other.node);
}

// Every match the index lists can be applied, wherever the graph stands.
TEST(MatchIndex, EveryMatchApplies) {
  for (Maker make : {make_recurrent, make_encoder, make_convolutions}) {
    GraphBuilder b(9);
    make(b);
    clean_up(b.graph());
    const MatchIndex index(shipped(), b.graph());
    for (std::uint32_t rule = 0; rule < shipped().size(); ++rule) {
      for (const Match& match : index.matches(rule)) {
        const auto mark = b.graph().mark();
        ASSERT_NO_THROW(apply(b.graph(), shipped(), match)) << shipped().info(rule).name;
        ASSERT_NO_THROW(graph::validate(b.graph())) << shipped().info(rule).name;
        b.graph().undo_to(mark);
      }
    }
  }
}

}  // namespace
}
