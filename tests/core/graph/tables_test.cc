#include "core/graph/tables.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/host_tensor.h"
#include "core/graph/order.h"
#include "support/validate.h"

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

TEST(TablesCopy, HasTheSameIdsAndLivesOnItsOwn) {
  std::optional<Tables> first(std::in_place);
  Graph graph(*first);
  const TypeId type = first->intern(DType::float32, std::array<Dim, 2>{symbol_dim(first->symbol("n")), 3});
  const Value x{graph.add_input(type, 0), 0};
  const WeightId three = first->weights().scalar(DType::float32, 3);
  const Value y{graph.add(OpKind::mul, first->intern(AttrBlock{}), std::array{x, graph.weight_value(three)}),
                0};
  graph.add_output(y);
  first->set_opaque_hash(7, {1, 2});
  first->set_opset(13);
  const Hash128 hash = structural_hash(graph);

  std::optional<Tables> second(std::in_place, *first);
  EXPECT_EQ(second->bound(), first->bound());
  std::optional<Graph> copy(std::in_place, graph, *second);
  graph = Graph(*second);
  first.reset();
  EXPECT_EQ(second->describe(type), "float32[n, 3]");
  EXPECT_EQ(second->opaque_hash(7), (Hash128{1, 2}));
  EXPECT_EQ(second->opset(), 13);
  EXPECT_EQ(second->weights().scalar(DType::float32, 3), three);
  EXPECT_EQ(
      HostTensor::from_bytes(second->type(second->weights()[three].type), second->weights()[three].bytes)
          .real,
      std::vector{3.0});
  validate(*copy);
  EXPECT_EQ(structural_hash(*copy), hash);
  second->shrink({});
  EXPECT_EQ(structural_hash(*copy), hash) << "the copy holds what it refers to";
  copy.reset();
  second->shrink({});
  EXPECT_EQ(second->weights().size(), 0u);
}

TEST_F(Shrinking, KeepsWhatItsCallerHolds) {
  vector_of(6);
  const TablesBound least = tables.bound();
  vector_of(7);
  tables.shrink(least);
  EXPECT_EQ(tables.bound(), least);
}

}  // namespace
}
