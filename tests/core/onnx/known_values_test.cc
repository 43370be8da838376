#include "core/onnx/known_values.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/graph/graph_builder.h"

namespace regraft::onnx {
namespace {

using graph::OpKind;
using graph::Value;
using graph::WeightId;

class KnownValuesTest : public ::testing::Test {
 protected:
  /// A node that is added, and looked at.
  Value learn(OpKind kind, std::vector<Value> inputs, const graph::AttrBlock& attrs = {}) {
    const graph::NodeId id = builder_.node(kind, std::move(inputs), attrs);
    const graph::Graph& graph = builder_.graph();
    std::vector<graph::Operand> operands;
    for (const Value input : graph.node(id).inputs) {
      const WeightId weight = graph.weight_of(input);
      operands.push_back({graph.type_id(input), weight == WeightId::none ? known_.find(input) : weight, true,
                          known_.elements(input)});
    }
    known_.learn(graph, id, kind, graph.attrs(id), operands);
    return {id, 0};
  }
  std::vector<std::int64_t> integers(WeightId weight) const {
    return graph::evaluate(tables_, weight).integer;
  }

  graph::GraphBuilder builder_;
  graph::Tables& tables_ = builder_.tables();
  KnownValues known_{tables_};
};

TEST_F(KnownValuesTest, ResultsOfConstantsAreConstantsThatGoOn) {
  const Value sum = learn(OpKind::add, {builder_.integers({2, 3}), builder_.integers({4, 5})});
  const Value twice = learn(OpKind::mul, {sum, builder_.integer(2)});
  EXPECT_EQ(integers(known_.find(twice)), (std::vector<std::int64_t>{12, 16}));
  const Value open = learn(OpKind::add, {twice, builder_.input({2}, graph::DType::int64)});
  EXPECT_EQ(known_.find(open), WeightId::none);
  const std::vector<KnownValue> found = known_.take();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].value, sum);
  EXPECT_EQ(found[1].weight, known_.find(twice));
}

TEST_F(KnownValuesTest, LargeResultsAreExpressionsThatDoNotGrow) {
  const Value large = builder_.weight({100, 100});
  const WeightId turned = known_.find(learn(OpKind::transpose, {large}));
  ASSERT_NE(turned, WeightId::none);
  EXPECT_EQ(tables_.weights()[turned].form, graph::WeightExpr::Form::operation);
  EXPECT_EQ(known_.find(learn(OpKind::expand, {large, builder_.integers({2, 100, 100})})), WeightId::none);
  EXPECT_EQ(known_.find(learn(OpKind::gather, {builder_.integers({1, 2}), builder_.integers({7})})),
            WeightId::none)
      << "it fails at run time";
}

TEST_F(KnownValuesTest, ElementsOfAShapeAreKnownOneByOne) {
  const graph::Dim n = graph::symbol_dim(tables_.symbol("n"));
  const Value x = builder_.input({n, 4}), y = builder_.input({5, 4});
  const Value open = learn(OpKind::shape, {x});
  EXPECT_EQ(known_.find(open), WeightId::none);
  ASSERT_EQ(known_.elements(open).size(), 2u);
  EXPECT_EQ(known_.elements(open)[0], graph::Element::of(n));
  const Value last = learn(OpKind::gather, {open, builder_.integers({1})});
  EXPECT_EQ(integers(known_.find(last)), std::vector<std::int64_t>{4});
  EXPECT_EQ(integers(known_.find(learn(OpKind::shape, {y}))), (std::vector<std::int64_t>{5, 4}));
}

/// Rows that the specification of Slice takes of five.
std::vector<std::int64_t> sliced_rows(std::int64_t start, std::int64_t end, std::int64_t step) {
  constexpr std::int64_t kRows = 5;
  const auto clamped = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
    return std::min(std::max(at < 0 ? at + kRows : at, least), most);
  };
  const bool back = step < 0;
  const std::int64_t stop = clamped(end, back ? -1 : 0, back ? kRows - 1 : kRows);
  std::vector<std::int64_t> rows;
  for (std::int64_t at = clamped(start, 0, back ? kRows - 1 : kRows); back ? at > stop : at < stop;
       at += step)
    rows.insert(rows.end(), {2 * at, 2 * at + 1});
  return rows;
}

TEST_F(KnownValuesTest, ASliceOfIntegersIsThatOfTheSpecification) {
  using Limits = std::numeric_limits<std::int64_t>;
  ::onnx::NodeProto node;
  node.set_op_type("Slice");
  const auto operand = [&](const Value value) {
    return graph::Operand{builder_.graph().type_id(value), builder_.graph().weight_of(value)};
  };
  const graph::Operand data = operand(builder_.integers({5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  std::vector<std::int64_t> places{Limits::min() + 9, Limits::max() - 9};
  for (std::int64_t at = -7; at <= 7; ++at) places.push_back(at);
  for (const std::int64_t start : places)
    for (const std::int64_t end : places)
      for (const std::int64_t step : {-9, -2, -1, 1, 2, 9}) {
        std::vector<graph::Operand> operands{data};
        for (const std::int64_t each : {start, end, std::int64_t{-2}, step})
          operands.push_back(operand(builder_.integers({each})));
        const WeightId taken = known_.value_of(node, operands);
        ASSERT_NE(taken, WeightId::none);
        EXPECT_EQ(integers(taken), sliced_rows(start, end, step)) << start << " " << end << " " << step;
      }
}

}  // namespace
}
