// Where rules must not apply though their pattern is there.
#include <gtest/gtest.h>

#include "core/rules/graph_builder.h"
#include "core/rules/match/match_index.h"

namespace regraft::rules {
namespace {

using graph::DType;
using graph::Graph;
using graph::Tables;
using graph::TypeId;
using testing::Attr;
using testing::AttrBlock;
using testing::OpKind;
using testing::Value;

class Legal : public ::testing::Test {
 protected:
  Value input(const std::vector<graph::Dim>& dims, DType dtype = DType::float32) {
    return {graph_.add_input(tables_.intern(dtype, dims), origin_++), 0};
  }
  Value op(OpKind kind, const std::vector<Value>& inputs, const AttrBlock& attrs = {},
           const std::vector<TypeId>& types = {}) {
    return {graph_.add(kind, tables_.intern(attrs), inputs, types), 0};
  }
  std::size_t matches(const char* rule) {
    const RuleSet rules = RuleSet::parse(rule, "test.rules");
    return MatchIndex(rules, graph_).matches(0).size();
  }

  Tables tables_;
  Graph graph_{tables_};

 private:
  std::int32_t origin_ = 0;
};

// Types without a rank are equal as ids and say nothing of each other: a Reshape between two such was taken
// for one that changes nothing.
TEST_F(Legal, NotBehindAnUnknownRank) {
  const TypeId unranked = tables_.intern(graph::TensorType{DType::float32, false, {}});
  const Value x{graph_.add_input(unranked, 0), 0};
  const Value y = op(OpKind::reshape, {x, input({2}, DType::int64)}, {}, {unranked});
  graph_.add_output(op(OpKind::relu, {op(OpKind::relu, {y})}));
  EXPECT_EQ(matches("r: y = Reshape(x, s), type(y) == type(x) => y = x"), 0u);
  EXPECT_EQ(matches("r: Relu(Relu(x)) => Relu(x)"), 0u);
}

TEST_F(Legal, NotWhereTheOpsetHasNoSuchForm) {
  const char* rule = "r: Transpose{[0, 2, 1]}(Softmax{2}(x)) => Softmax{1}(Transpose{[0, 2, 1]}(x))";
  const Value x = input({2, 3, 4});
  const Value softmax = op(OpKind::softmax, {x}, AttrBlock{{Attr::axis, std::int64_t{2}}});
  graph_.add_output(op(OpKind::transpose, {softmax}, AttrBlock{{Attr::perm, graph::Ints{0, 2, 1}}}));
  EXPECT_EQ(matches(rule), 1u);
  tables_.set_opset(13);
  EXPECT_EQ(matches(rule), 1u);
  tables_.set_opset(12);
  EXPECT_EQ(matches(rule), 0u);
}

TEST_F(Legal, NotWhereTheRuntimeHasNoKernel) {
  const char* rule = "r: Add(MatMul(x, w), c), rank(x) == 2, rank(w) == 2, rank(c) <= 2 => Gemm(x, w, c)";
  const auto add = [&](DType dtype) {
    const Value product = op(OpKind::matmul, {input({2, 3}, dtype), input({3, 4}, dtype)});
    graph_.add_output(op(OpKind::add, {product, input({4}, dtype)}));
  };
  add(DType::int64);
  EXPECT_EQ(matches(rule), 0u);
  add(DType::float32);
  EXPECT_EQ(matches(rule), 1u);
}

}  // namespace
}
