// Shipped rules on dims that are symbols: what is only known at run time must not be taken for granted.
#include <gtest/gtest.h>

#include <array>

#include "core/rules/graph_builder.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/rewriter.h"
#include "core/rules/shipped.h"

namespace regraft::rules::testing {
namespace {

/// Relu(Gather{0}(Slice{[start], [100], [0], [1]}(x[n, 4]), [1])): how often a rule matches.
std::size_t matches_of(const std::string& name, std::int64_t start) {
  const RuleSet& rules = shipped();
  GraphBuilder b;
  const Value x = b.input({graph::symbol_dim(b.tables().symbol("n")), 4});
  const Value sliced =
      b.op(OpKind::slice, {x, b.integers({start}), b.integers({100}), b.integers({0}), b.integers({1})});
  b.output(
      b.op(OpKind::relu, {b.op(OpKind::gather, {sliced, b.integers({1})}, {{Attr::axis, std::int64_t{0}}})}));
  const MatchIndex index(rules, b.graph());
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule)
    if (rules.info(rule).name == name) return index.matches(rule).size();
  ADD_FAILURE() << "no rule is called " << name;
  return 0;
}

TEST(SymbolicDims, ASliceFromTheEndHasNoKnownStart) {
  EXPECT_EQ(matches_of("slice-gather", 2), 1u);
  EXPECT_EQ(matches_of("slice-gather", -3), 0u)
      << "row 1 of the last three is not row -2 where there are two rows";
}

// Two images whose heights are symbols, pooled to one size and joined, and how often a rule joins them first.
std::size_t joined_images(const std::string& first, const std::string& second) {
  const RuleSet rules =
      RuleSet::parse("r: Concat{axis=1}(f:MaxPool{*}(x@)...) => f(Concat{1}(x@...))\n", "pools.rules");
  GraphBuilder b;
  std::vector<Value> pooled;
  for (const std::string& name : {first, second}) {
    const Value x = b.input({1, 2, graph::symbol_dim(b.tables().symbol(name)), 4});
    pooled.push_back(b.op(OpKind::max_pool, {x}, {{Attr::kernel_shape, graph::Ints{2, 2}}}));
  }
  b.output(b.op(OpKind::concat, pooled, {{Attr::axis, std::int64_t{1}}}));
  return MatchIndex(rules, b.graph()).matches(0).size();
}

TEST(SymbolicDims, WhatFitsForSomeSizesOnlyIsNotMade) {
  EXPECT_EQ(joined_images("h", "h"), 1u);
  EXPECT_EQ(joined_images("h", "other"), 0u) << "pooled they may be alike where they were not";
}

// No size is known of a shape that says -1.
TEST(SymbolicDims, AnInferredSizeIsNoNumberOfRows) {
  const RuleSet& rules = all_shipped();
  for (const bool inferred : {false, true}) {
    GraphBuilder b;
    const Value x = b.input({4, inferred ? graph::symbol_dim(b.tables().symbol("n")) : 3});
    const graph::Ints shape = inferred ? graph::Ints{-1} : graph::Ints{2, 6};
    const Value y = b.op(OpKind::reshape, {x}, {{Attr::shape, shape}});
    b.output(b.op(OpKind::gather, {y, b.integers({0})}, {{Attr::axis, std::int64_t{0}}}));
    const auto rule = static_cast<std::uint32_t>(rules.find("gather-reshape-slice").value());
    EXPECT_EQ(MatchIndex(rules, b.graph()).matches(rule).size(), inferred ? 0u : 1u);
  }
}

// Two symbols that stay where they are can be written, two that move cannot.
TEST(SymbolicDims, AShapeOfSeveralSymbolsIsWrittenWhereTheyStay) {
  const RuleSet rules =
      RuleSet::parse("r: y = Reshape{r}(Reshape{q}(x)) => y = Reshape{dims(y)}(x)\n", "shapes.rules");
  for (const bool stay : {true, false}) {
    GraphBuilder b;
    const graph::Dim n = graph::symbol_dim(b.tables().symbol("n")),
                     m = graph::symbol_dim(b.tables().symbol("m"));
    const Value x = b.input({stay ? n : m, stay ? m : n, 6});
    const Value y = b.op(OpKind::reshape, {x}, {{Attr::shape, graph::Ints{0, 0, 3, 2}}});
    const std::array in{y};
    const auto made = b.graph().add(
        OpKind::reshape, b.tables().intern({{Attr::shape, graph::Ints{0, 0, 2, 3}}}), in,
        std::array{b.tables().intern(graph::DType::float32, std::array<graph::Dim, 4>{n, m, 2, 3})});
    b.output({made, 0});
    const MatchIndex index(rules, b.graph());
    ASSERT_EQ(index.matches(0).size(), stay ? 1u : 0u);
  }
}

// Not even as the value of a constant.
TEST(SymbolicDims, ASizeThatIsNotKnownIsNoNumber) {
  for (const char* text : {"r: Relu(x) => Min(x, Full([], x.0, x))\n", "r: Relu(x) => Min(x, x.0)\n"}) {
    const RuleSet rules = RuleSet::parse(text, "t");
    for (const bool symbolic : {false, true}) {
      GraphBuilder b;
      const graph::Dim rows = symbolic ? graph::symbol_dim(b.tables().symbol("n")) : 4;
      b.output(b.op(OpKind::relu, {b.input({rows, 3})}));
      EXPECT_EQ(MatchIndex(rules, b.graph()).matches(0).size(), symbolic ? 0u : 1u) << text;
    }
  }
}

// x may have one column, which the product with c repeats.
TEST(SymbolicDims, ARepeatedDimIsNoRowOfAProduct) {
  const RuleSet& rules = all_shipped();
  for (const bool symbolic : {false, true}) {
    GraphBuilder b;
    const Value x = b.input({3, symbolic ? graph::symbol_dim(b.tables().symbol("k")) : 4});
    b.output(b.op(OpKind::matmul, {b.op(OpKind::mul, {x, b.weight({4})}), b.weight({4, 5})}));
    const MatchIndex index(rules, b.graph());
    const auto rule = static_cast<std::uint32_t>(rules.find("mul-matmul").value());
    EXPECT_EQ(index.matches(rule).size(), symbolic ? 0u : 1u);
  }
}

// As a Transpose whose order is computed may be, and a Reshape of a symbol.
TEST(IdleOperations, AreLeftOut) {
  const RuleSet rules = RuleSet::parse(
      "r: Neg(Neg(x)) => t = Reshape{dims(x)}(Transpose{range(rank(x))}(x)); Reshape{[size(x)]}(Relu(t))\n"
      "s: Neg(Neg(x)) => Reshape{dims(x)}(x)\n",
      "idle.rules");
  for (const std::uint32_t rule : {0u, 1u}) {
    GraphBuilder b;
    const Value x = b.input({rule == 0 ? graph::Dim{6} : graph::symbol_dim(b.tables().symbol("n"))});
    b.output(b.op(OpKind::neg, {b.op(OpKind::neg, {x})}));
    const MatchIndex index(rules, b.graph());
    ASSERT_EQ(index.matches(rule).size(), 1u);
    apply(b.graph(), rules, Match(index.matches(rule)[0]));
    const Value y = b.graph().outputs()[0];
    EXPECT_EQ(rule == 0 ? b.graph().node(y.node).inputs[0] : y, x);
  }
}

TEST(IdleOperations, MustFitAllTheSame) {
  const RuleSet rules = RuleSet::parse("r: Neg(Neg(x)) => Transpose{[0, 1]}(x)\n", "idle.rules");
  GraphBuilder b;
  b.output(b.op(OpKind::neg, {b.op(OpKind::neg, {b.input({2, 3, 4})})}));
  EXPECT_EQ(MatchIndex(rules, b.graph()).matches(0).size(), 0u);
}

}  // namespace
}
