#include "core/graph/tables.h"

#include <gtest/gtest.h>

#include <optional>

#include "core/graph/graph.h"
#include "core/graph/validate.h"

namespace regraft::graph {
namespace {

class Shrinking : public ::testing::Test {
 protected:
  TypeId vector_of(Dim size) { return tables.intern(DType::float32, std::span(&size, 1)); }
  NodeId add_relu(Graph& graph, Value value) {
    return graph.add(OpKind::relu, tables.intern(AttrBlock{}), std::span(&value, 1));
  }
  Tables tables;
};

TEST_F(Shrinking, ForgetsWhatNoGraphHoldsAndGivesTheIdsToOthers) {
  const TablesBound before = tables.bound();
  const TypeId gone = vector_of(3);
  const AttrId attrs = tables.intern(AttrBlock{{Attr::axis, std::int64_t{1}}});
  const SignatureId signature = tables.intern(Signature{OpKind::relu, attrs, {gone}, {gone}, {0}});
  const SymbolId symbol = tables.symbol("n");
  tables.weights().scalar(DType::float64, 3);
  tables.shrink(before);
  EXPECT_EQ(tables.bound(), before);
  EXPECT_EQ(tables.generation(), 1u);
  EXPECT_EQ(tables.find_symbol("n"), std::nullopt);
  EXPECT_EQ(vector_of(4), gone);
  EXPECT_EQ(tables.type(gone).dims[0], 4);
  EXPECT_NE(vector_of(3), gone) << "it is named anew";
  const AttrId other = tables.intern(AttrBlock{{Attr::axis, std::int64_t{2}}});
  EXPECT_EQ(other, attrs);
  EXPECT_EQ(tables.attrs(other).integer(Attr::axis), 2);
  EXPECT_EQ(tables.intern(Signature{OpKind::softmax, other, {gone}, {gone}, {0}}), signature);
  EXPECT_EQ(tables.signature(signature).kind, OpKind::softmax);
  EXPECT_EQ(tables.symbol("m"), symbol);
}

TEST_F(Shrinking, OfNothingVoidsNothing) {
  tables.shrink({});
  const TablesBound least = tables.bound();
  const std::uint64_t before = tables.generation();
  tables.shrink({});
  EXPECT_EQ(tables.generation(), before);
  EXPECT_EQ(tables.bound(), least);
  EXPECT_EQ(tables.type(tables.type_none()).dtype, DType::undefined) << "a missing input has a type";
}

TEST_F(Shrinking, KeepsWhatGraphsTheirCopiesAndLogsReferTo) {
  Graph graph(tables);
  const Value input{graph.add_input(vector_of(5), 0), 0};
  graph.commit();
  const TablesBound base = tables.bound();
  const Graph::Mark mark = graph.mark();
  const NodeId relu = add_relu(graph, input);
  const TablesBound grown = tables.bound();
  ASSERT_NE(grown, base);
  std::optional<Graph> copy(graph);
  tables.shrink({});
  EXPECT_EQ(tables.bound(), grown);
  graph.remove(relu);
  tables.shrink({});
  EXPECT_EQ(tables.bound(), grown) << "the log can bring it back";
  graph.undo_to(mark);
  tables.shrink({});
  EXPECT_EQ(tables.bound(), grown) << "the copy holds it";
  validate(*copy);
  copy.reset();
  tables.shrink({});
  EXPECT_EQ(tables.bound(), base);
  validate(graph);
  add_relu(graph, input);
  graph.commit();
  tables.shrink({});
  EXPECT_EQ(tables.bound(), grown) << "it is part of the base";
}

TEST_F(Shrinking, KeepsWhatItsCallerHolds) {
  vector_of(6);
  const TablesBound least = tables.bound();
  vector_of(7);
  tables.shrink(least);
  EXPECT_EQ(tables.bound(), least);
}

}  // namespace
}  // namespace regraft::graph
