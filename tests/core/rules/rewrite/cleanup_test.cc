#include "core/rules/rewrite/cleanup.h"
#include "core/graph/constants.h"

#include <gmock/gmock.h>

#include <array>
#include <limits>

#include "core/graph/evaluate.h"
#include "core/rules/instantiate/passes.h"
#include "support/validate.h"

namespace regraft::rules {
namespace {

using namespace graph;  // NOLINT: a test of graphs
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CleanupTest : public ::testing::Test {
 protected:
  Value input(std::initializer_list<Dim> dims) {
    return {graph.add_input(tables.intern(DType::float32, std::span(dims.begin(), dims.size())), inputs++),
            0};
  }
  Value op(OpKind kind, std::initializer_list<Value> in, const AttrBlock& attrs = {}) {
    return {graph.add(kind, tables.intern(attrs), std::span(in.begin(), in.size())), 0};
  }
  Value ints(std::initializer_list<std::int64_t> values) {
    return graph.weight_value(tables.weights().integers(std::span(values.begin(), values.size())));
  }
  Value scalar(double value) { return graph.weight_value(tables.weights().scalar(DType::float32, value)); }
  std::vector<CleanupPass> passes() {
    std::vector<CleanupPass> found;
    for (const CleanupStep& step : clean_up(graph)) found.push_back(step.pass);
    validate(graph);
    return found;
  }
  const Node& output_node() { return graph.node(graph.outputs()[0].node); }

  Tables tables;
  Graph graph{tables};
  std::int32_t inputs = 0;
};

TEST_F(CleanupTest, ArithmeticOnConstantsAndShapesFoldsAway) {
  const Value x = input({2, 3});
  const Value rows = op(OpKind::gather, {op(OpKind::shape, {x}), ints({0})}, {{Attr::axis, std::int64_t{0}}});
  const Value shape = op(OpKind::concat, {rows, ints({-1, 1})}, {{Attr::axis, std::int64_t{0}}});
  graph.add_output(op(OpKind::reshape, {x, shape}));
  EXPECT_THAT(passes(),
              ElementsAre(CleanupPass::fold, CleanupPass::fold, CleanupPass::fold, CleanupPass::operands));
  EXPECT_EQ(graph.operation_count(), 1u);
  EXPECT_EQ(tables.attrs(output_node().attrs).ints(Attr::shape), (Ints{2, 3, 1}));
}

// How exporters write chunks of an axis: the batch is not known, the axis is.
TEST_F(CleanupTest, StaticDimsOfAShapeFold) {
  const Value x = input({symbol_dim(tables.symbol("batch")), 12});
  const Value shape = op(OpKind::shape, {x});
  const Value length = op(OpKind::gather, {shape, ints({-1})}, {{Attr::axis, std::int64_t{0}}});
  const Value third = op(OpKind::div, {op(OpKind::add, {length, ints({2})}), ints({3})});
  graph.add_output(op(OpKind::slice, {x, third, op(OpKind::mul, {third, ints({2})}), ints({1})}));
  passes();
  EXPECT_EQ(graph.operation_count(), 1u);
  EXPECT_EQ(tables.attrs(output_node().attrs).ints(Attr::starts), Ints{4});
  EXPECT_EQ(tables.attrs(output_node().attrs).ints(Attr::ends), Ints{8});
}

TEST_F(CleanupTest, ASliceOfAShapeFoldsWhereItsDimsAreStatic) {
  const Value x = input({symbol_dim(tables.symbol("batch")), 3, 4});
  const auto part = [&](std::int64_t from, std::int64_t to, std::int64_t step = 1) {
    const AttrBlock attrs{
        {Attr::starts, Ints{from}}, {Attr::ends, Ints{to}}, {Attr::axes, Ints{0}}, {Attr::steps, Ints{step}}};
    return op(OpKind::slice, {op(OpKind::shape, {x})}, attrs);
  };
  const Value n = {graph.add_input(tables.intern(DType::int64, std::array{Dim{2}}), inputs++), 0};
  graph.add_output(op(OpKind::add, {n, part(1, 9)}));
  graph.add_output(op(OpKind::sub, {n, part(0, 2)}));
  graph.add_output(op(OpKind::mul, {n, part(-1, 9, 2)}));
  passes();
  const auto second_operand = [&](std::size_t output) {
    return graph.weight_of(graph.node(graph.outputs()[output].node).inputs[1]);
  };
  EXPECT_EQ(evaluate(tables, second_operand(0)).integer, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(second_operand(1), WeightId::none) << "the batch is not known";
  EXPECT_EQ(evaluate(tables, second_operand(2)).integer, std::vector<std::int64_t>{4});
}

// What the shape is computed from is dead then.
TEST_F(CleanupTest, ComputedShapesBecomeConstantsThatFitAllSizes) {
  const Dim batch = symbol_dim(tables.symbol("batch")), seq = symbol_dim(tables.symbol("seq"));
  const Value x = input({batch, seq, 768});
  const Value shape = op(OpKind::shape, {x});
  const auto reshaped = [&](std::initializer_list<Dim> dims) {
    const TypeId type = tables.intern(DType::float32, std::span(dims.begin(), dims.size()));
    const std::array in{x, shape};
    return Value{graph.add(OpKind::reshape, tables.intern(AttrBlock{}), in, std::array{type}), 0};
  };
  const Value split = reshaped({batch, seq, 12, 64}), turned = reshaped({seq, batch, 768});
  graph.add_output(op(OpKind::relu, {split}));
  EXPECT_THAT(passes(), ElementsAre(CleanupPass::dead, CleanupPass::operands));
  const Node& made = graph.node(output_node().inputs[0].node);
  EXPECT_EQ(tables.attrs(made.attrs).ints(Attr::shape), (Ints{0, 0, 12, 64}));
  EXPECT_EQ(made.outputs[0], graph.type_id(graph.outputs()[0]));
  EXPECT_FALSE(graph.alive(turned.node));
  EXPECT_FALSE(graph.alive(shape.node));
}

TEST_F(CleanupTest, AShapeThatNoConstantSaysStaysComputed) {
  const Dim batch = symbol_dim(tables.symbol("batch")), seq = symbol_dim(tables.symbol("seq"));
  const Value x = input({batch, seq, 768});
  const TypeId turned = tables.intern(DType::float32, Dims{seq, batch, 768});
  const std::array in{x, op(OpKind::shape, {x})};
  graph.add_output({graph.add(OpKind::reshape, tables.intern(AttrBlock{}), in, std::array{turned}), 0});
  EXPECT_THAT(passes(), IsEmpty());
}

// 100 * 0.1 * 0.3 in float32, rounded after each product, is less than 3; in doubles it is 3 once rounded.
TEST_F(CleanupTest, FoldedConstantsAreRoundedAsTheRuntimeDoes) {
  const Value x = input({});
  const Value product =
      op(OpKind::mul, {op(OpKind::mul, {scalar(99.99999237060547), scalar(0.1f)}), scalar(0.3f)});
  graph.add_output(op(OpKind::mul, {x, op(OpKind::floor, {product})}));
  clean_up(graph);
  const WeightId weight = graph.weight_of(output_node().inputs[1]);
  ASSERT_NE(weight, WeightId::none);
  EXPECT_EQ(evaluate(tables, weight).real, std::vector<double>{2});
}

TEST_F(CleanupTest, CastsThatLeaveTheirTypeStay) {
  const Value x = {graph.add_input(tables.intern(DType::int32, std::array{Dim{1}}), inputs++), 0};
  const Value cast = op(OpKind::cast, {scalar(1e20)}, {{Attr::to, static_cast<std::int64_t>(DType::int32)}});
  graph.add_output(op(OpKind::add, {x, cast}));
  EXPECT_THAT(passes(), IsEmpty());
}

TEST_F(CleanupTest, IndicesThatAreOutOfRangeStay) {
  const Value x = {graph.add_input(tables.intern(DType::int64, std::array{Dim{1}}), inputs++), 0};
  const Value found = op(OpKind::gather, {ints({5, 6}), ints({7})}, {{Attr::axis, std::int64_t{0}}});
  graph.add_output(op(OpKind::add, {x, found}));
  EXPECT_THAT(passes(), IsEmpty());
}

TEST_F(CleanupTest, IntegerPowersThatRuntimesRoundStay) {
  const Value x = {graph.add_input(tables.intern(DType::int64, std::array{Dim{1}}), inputs++), 0};
  const Value power = op(OpKind::pow, {ints({3}), ints({39})});
  graph.add_output(op(OpKind::add, {x, power}));
  EXPECT_THAT(passes(), IsEmpty());
}

TEST_F(CleanupTest, FoldedConstantsHaveTheirValues) {
  const Value x = input({});
  const Value c = op(OpKind::sqrt, {op(OpKind::div, {scalar(1), scalar(64)})});
  graph.add_output(op(OpKind::mul, {x, c}));
  clean_up(graph);
  const WeightId weight = graph.weight_of(output_node().inputs[1]);
  ASSERT_NE(weight, WeightId::none);
  EXPECT_EQ(evaluate(tables, weight).real, std::vector<double>{0.125});
}

TEST_F(CleanupTest, OperationsThatChangeNothingGo) {
  const Value x = input({2, 3});
  Value y = op(OpKind::identity, {x});
  y = op(OpKind::transpose, {y}, {{Attr::perm, Ints{0, 1}}});
  y = op(OpKind::reshape, {y}, {{Attr::shape, Ints{2, 3}}});
  y = op(OpKind::cast, {y}, {{Attr::to, std::int64_t{1}}});
  y = op(OpKind::concat, {y}, {{Attr::axis, std::int64_t{0}}});
  graph.add_output(op(OpKind::relu, {y}));
  EXPECT_THAT(passes(), ElementsAre(CleanupPass::no_op, CleanupPass::no_op, CleanupPass::no_op,
                                    CleanupPass::no_op, CleanupPass::no_op));
  EXPECT_EQ(graph.operation_count(), 1u);
}

TEST_F(CleanupTest, AScaleOfOnesStaysAsRuntimesFuseNormsWithOne) {
  const std::array<float, 3> ones{1, 1, 1};
  const std::array<Dim, 1> dims{3};
  const WeightId scale =
      tables.weights().literal(tables.intern(DType::float32, dims), std::as_bytes(std::span(ones)));
  const Value scaled = op(OpKind::mul, {input({2, 3}), graph.weight_value(scale)});
  graph.add_output(op(OpKind::mul, {scaled, scalar(1)}));
  EXPECT_THAT(passes(), ElementsAre(CleanupPass::no_op));
  EXPECT_EQ(graph.weight_of(output_node().inputs[1]), scale);
}

TEST_F(CleanupTest, RuntimesKeepShapesThatAreComputed) {
  const Value x = input({graph::symbol_dim(tables.symbol("n")), 3});
  const Value shape = op(OpKind::shape, {op(OpKind::identity, {x})});
  graph.add_output(op(OpKind::gather, {shape, ints({1})}, {{Attr::axis, std::int64_t{0}}}));
  EXPECT_EQ(clean_up_as_runtimes(graph).size(), 1u);
  EXPECT_EQ(output_node().inputs[0], shape);
  EXPECT_EQ(graph.node(shape.node).inputs[0], x);
  clean_up(graph);
  EXPECT_NE(graph.weight_of(graph.outputs()[0]), WeightId::none);
}

TEST_F(CleanupTest, EqualOperationsBecomeOneDownToTheOutputs) {
  const Value x = input({2, 3});
  const Value a = op(OpKind::tanh, {op(OpKind::relu, {x})}), b = op(OpKind::tanh, {op(OpKind::relu, {x})});
  graph.add_output(op(OpKind::add, {a, b}));
  EXPECT_THAT(passes(), ElementsAre(CleanupPass::common, CleanupPass::common));
  EXPECT_EQ(graph.operation_count(), 3u);
}

TEST_F(CleanupTest, KnownIntegersThatAreTakenInReverseFold) {
  const Value pads = graph.weight_value(tables.weights().integers(std::array<std::int64_t, 3>{0, 1, 2}));
  const graph::TypeId type = graph.type_id(pads);
  const Value reversed{
      graph.add(OpKind::opaque, tables.intern({{Attr::op_type, "Slice"}}),
                std::array{pads, ints({-1}), ints({std::numeric_limits<std::int64_t>::min() + 1}), ints({0}),
                           ints({-1})},
                std::array{type}),
      0};
  graph.add_output(op(OpKind::cast, {op(OpKind::neg, {reversed})}, {{Attr::to, std::int64_t{1}}}));
  clean_up(graph);
  EXPECT_THAT(evaluate(tables, graph.weight_of(graph.outputs()[0])).real, ElementsAre(-2, -1, 0));
}

TEST_F(CleanupTest, OpaqueNodesAreNeverMerged) {
  const Value x = input({2});
  const TypeId type = graph.type_id(x);
  const auto random = [&](std::int32_t origin) {
    return Value{
        graph.add(OpKind::opaque, tables.intern(AttrBlock{}), std::array{x}, std::array{type}, origin), 0};
  };
  graph.add_output(op(OpKind::add, {random(0), random(1)}));
  EXPECT_THAT(passes(), IsEmpty());
  EXPECT_EQ(graph.operation_count(), 3u);
}

TEST_F(CleanupTest, ExpansionThatWouldBlowUpAConstantStays) {
  const Value row = graph.weight_value(
      constant_operation(tables, OpKind::expand, tables.intern(AttrBlock{{Attr::shape, Ints{100}}}),
                         std::array{tables.weights().scalar(DType::float32, 1)}));
  graph.add_output(op(OpKind::expand, {row}, {{Attr::shape, Ints{1000, 100}}}));
  EXPECT_THAT(passes(), IsEmpty());
}

TEST_F(CleanupTest, CastLikeTakesOnlyTheTypeOfItsSecondInput) {
  const Value x = input({2});
  const Value c = op(OpKind::cast_like, {ints({3}), x});
  graph.add_output(op(OpKind::mul, {x, c}));
  EXPECT_THAT(passes(), ElementsAre(CleanupPass::fold));
  EXPECT_EQ(graph.type(output_node().inputs[1]).dtype, DType::float32);
}

TEST_F(CleanupTest, WhatNobodyUsesGoesAndIsLogged) {
  const Value x = input({2});
  op(OpKind::tanh, {op(OpKind::relu, {x})});
  graph.add_output(op(OpKind::neg, {x}));
  EXPECT_THAT(passes(), ElementsAre(CleanupPass::dead, CleanupPass::dead));
}

TEST_F(CleanupTest, CastsThatLoseNothingBecomeOne) {
  const auto cast = [&](Value x, DType to) {
    return op(OpKind::cast, {x}, {{Attr::to, static_cast<std::int64_t>(to)}});
  };
  const Value half = {graph.add_input(tables.intern(DType::float16, std::array{Dim{3}}), inputs++), 0};
  const Value byte = {graph.add_input(tables.intern(DType::uint8, std::array{Dim{3}}), inputs++), 0};
  graph.add_output(cast(cast(half, DType::float32), DType::float16));
  graph.add_output(cast(cast(byte, DType::int32), DType::float32));
  graph.add_output(cast(cast(input({3}), DType::float16), DType::float32));
  graph.add_output(cast(cast(byte, DType::int8), DType::uint8));
  EXPECT_THAT(passes(), ElementsAre(CleanupPass::cast, CleanupPass::cast));
  EXPECT_EQ(graph.outputs()[0], half);
  EXPECT_EQ(graph.node(graph.outputs()[1].node).inputs[0], byte);
  EXPECT_EQ(graph.operation_count(), 5u);
}

TEST_F(CleanupTest, ALimitStopsWithinWhatIsDead) {
  const Value x = input({2});
  op(OpKind::tanh, {op(OpKind::relu, {x})});
  graph.add_output(op(OpKind::neg, {x}));
  EXPECT_EQ(clean_up(graph, 1).size(), 1u);
  validate(graph);
  EXPECT_EQ(graph.operation_count(), 2u);
}

TEST_F(CleanupTest, ASecondRunFindsNothing) {
  const Value x = input({4, 4});
  const Value s = op(OpKind::sqrt, {scalar(4)});
  graph.add_output(
      op(OpKind::add, {op(OpKind::identity, {op(OpKind::mul, {x, s})}), op(OpKind::mul, {x, s})}));
  clean_up(graph);
  EXPECT_THAT(clean_up(graph), IsEmpty());
}

}  // namespace
}
