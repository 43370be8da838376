#include "core/graph/weights.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "core/graph/constants.h"
#include "core/graph/graph.h"

namespace regraft::graph {
namespace {

class Weights : public ::testing::Test {
 protected:
  WeightTable& table() { return tables.weights(); }
  WeightId number(double value) { return table().scalar(DType::float32, value); }
  Tables tables;
};

TEST_F(Weights, OperandsThatMayBeSwappedHaveOneOrder) {
  const WeightId a = number(1), b = number(2);
  const auto of = [&](OpKind kind, WeightId left, WeightId right) {
    return constant_operation(tables, kind, {}, std::array{left, right});
  };
  EXPECT_EQ(of(OpKind::add, a, b), of(OpKind::add, b, a));
  EXPECT_EQ(of(OpKind::mul, a, b), of(OpKind::mul, b, a));
  EXPECT_EQ(scalar_value(tables, of(OpKind::sub, a, b)), -1);
  EXPECT_EQ(scalar_value(tables, of(OpKind::sub, b, a)), 1);
}

TEST_F(Weights, ShrinkForgetsWhatNoGraphHolds) {
  Graph graph(tables);
  number(1);
  const std::size_t least = table().size();
  graph.weight_value(number(2));
  const WeightId gone = number(3);
  EXPECT_EQ(scalar_value(tables, gone), 3);
  tables.shrink_weights(0);
  EXPECT_EQ(table().size(), least + 1);
  EXPECT_EQ(number(4), gone) << "the id is given to another";
  EXPECT_EQ(scalar_value(tables, gone), 4);
  EXPECT_EQ(number(2), graph.node(0).weight);
}

TEST_F(Weights, ShrinkKeepsWhatItsCallerHolds) {
  const WeightId kept = number(1);
  number(2);
  tables.shrink_weights(index(kept) + 1);
  EXPECT_EQ(table().size(), index(kept) + 1);
  EXPECT_EQ(number(1), kept);
}

TEST_F(Weights, ShrinkKeepsWhatCopiesAndLogsCanBringBack) {
  Graph graph(tables);
  const auto mark = graph.mark();
  const Value value = graph.weight_value(number(1));
  std::optional<Graph> copy(graph);
  graph.remove(value.node);
  tables.shrink_weights(0);
  EXPECT_EQ(table().size(), 1u) << "the log can bring it back";
  graph.undo_to(mark);
  tables.shrink_weights(0);
  EXPECT_EQ(table().size(), 1u) << "the copy holds it";
  Graph moved = std::move(*copy);
  copy.reset();
  tables.shrink_weights(0);
  EXPECT_EQ(table().size(), 1u) << "it moved";
  moved = graph;
  tables.shrink_weights(0);
  EXPECT_EQ(table().size(), 0u);
}

// The canonical order, and with it the numbers of locations, hangs on this hash: an episode is the same
// whatever was played before it.
TEST_F(Weights, TheHashOfALiteralDoesNotDependOnWhatWasMadeBefore) {
  Tables other;
  const Dim seven = 7;
  other.intern(DType::float32, std::span(&seven, 1));
  other.weights().integers(std::vector<std::int64_t>{4, 5, 6});
  const std::vector<std::int64_t> values{1, 2};
  EXPECT_EQ(table()[table().integers(values)].hash, other.weights()[other.weights().integers(values)].hash);
  EXPECT_EQ(table()[number(2.5)].hash, other.weights()[other.weights().scalar(DType::float32, 2.5)].hash);
  EXPECT_NE(table()[number(2.5)].hash, table()[table().scalar(DType::float64, 2.5)].hash);
}

TEST(TablesHold, GraphsMayOutliveTheirTablesToBeDestroyed) {
  auto tables = std::make_unique<Tables>();
  auto graph = std::make_unique<Graph>(*tables);
  graph->weight_value(tables->weights().scalar(DType::float32, 1));
  tables.reset();
  graph.reset();
  SUCCEED();
}

}  // namespace
}
