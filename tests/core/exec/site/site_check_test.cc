#include "core/exec/site/site_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/rng.h"
#include "core/exec/site/made_constants.h"
#include "core/rules/match/match_index.h"
#include "core/rules/set/rule_set.h"

namespace regraft::exec {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::DType;
using graph::Graph;
using graph::OpKind;
using graph::Tables;
using graph::Value;
using ::testing::HasSubstr;
using Dims = std::vector<std::int64_t>;

/// A graph under test, built through its own primitives.
class SiteCheck : public ::testing::Test {
 protected:
  Value input(const Dims& dims, DType dtype = DType::float32) {
    return {graph_.add_input(tables_.intern(dtype, dims), next_origin_++), 0};
  }
  Value weight(const Dims& dims, std::size_t count) {
    std::vector<float> values(count);
    Rng rng(++weight_seed_, "site weights");
    for (float& value : values) value = static_cast<float>(rng.normal());
    const auto id =
        tables_.weights().literal(tables_.intern(DType::float32, dims), std::as_bytes(std::span(values)));
    return graph_.weight_value(id);
  }
  Value scalar(double value) { return graph_.weight_value(tables_.weights().scalar(DType::float32, value)); }
  Value op(OpKind kind, const std::vector<Value>& inputs, const AttrBlock& attrs = {}) {
    InlineVector<graph::Operand, 4> operands;
    for (const Value& value : inputs)
      operands.push_back({graph_.type_id(value), graph_.weight_of(value), true});
    const AttrBlock canonical = graph::canonical_attrs(tables_, kind, attrs, operands);
    return {graph_.add(kind, tables_.intern(canonical), std::span(inputs).first(operands.size())), 0};
  }

  /// Applies the first match of the only rule and checks its site.
  SiteReport rewrite(const std::string& rule, const graph::Bindings& bindings = {}) {
    const rules::RuleSet rules = rules::RuleSet::parse(rule, "test.rules");
    graph_.commit();
    const Graph before = graph_;
    const rules::MatchIndex index(rules, graph_);
    if (index.matches(0).empty()) {
      ADD_FAILURE() << "no match of " << rule;
      return {};
    }
    const rules::Rewrite done = rules::apply(graph_, rules, index.matches(0)[0]);
    SiteOptions options;
    options.seed = 3;
    options.bindings = bindings;
    return check_site(before, graph_, done, options);
  }

  Tables tables_;
  Graph graph_{tables_};

 private:
  std::int32_t next_origin_ = 0;
  std::uint64_t weight_seed_ = 0;
};

TEST_F(SiteCheck, PassesReassociation) {
  const Value x = input({2, 3, 4}), y = input({4, 5}), z = input({5, 6});
  graph_.add_output(op(OpKind::matmul, {x, op(OpKind::matmul, {y, z})}));
  const SiteReport report = rewrite("assoc: MatMul(x, MatMul(y, z)) => MatMul(MatMul(x, y), z)");
  EXPECT_TRUE(report.passes) << report.reason;
  EXPECT_LT(report.relative_error, 1e-13);
  EXPECT_GT(report.relative_error, 0);
  EXPECT_EQ(report.tolerance, kSiteTolerance);
}

TEST_F(SiteCheck, CatchesSwappedOperandsAndNamesTheValue) {
  graph_.add_output(op(OpKind::relu, {op(OpKind::sub, {input({3, 4}), input({3, 4})})}));
  const SiteReport report = rewrite("wrong: Sub(x, y) => Sub(y, x)");
  EXPECT_FALSE(report.passes);
  EXPECT_THAT(report.reason, HasSubstr("(Sub, float32[3, 4]) differs from"));
}

TEST_F(SiteCheck, CatchesWhatIsRightOnlyForSomeValues) {
  graph_.add_output(op(OpKind::add, {op(OpKind::relu, {input({8})}), op(OpKind::relu, {input({8})})}));
  EXPECT_FALSE(rewrite("wrong: Add(Relu(x), Relu(y)) => Relu(Add(x, y))").passes);
}

TEST_F(SiteCheck, CatchesADroppedTerm) {
  graph_.add_output(
      op(OpKind::add, {op(OpKind::matmul, {input({3, 4}), weight({4, 4}, 16)}), input({3, 4})}));
  EXPECT_FALSE(rewrite("wrong: Add(MatMul(x, w), y) => MatMul(x, w)").passes);
}

TEST_F(SiteCheck, UsesTheRealWeights) {
  // Right for this weight alone: the sum of x w is x summed over rows only where w is a column of ones.
  const Value x = input({3, 4});
  const std::vector<float> ones(4, 1);
  const auto id =
      tables_.weights().literal(tables_.intern(DType::float32, Dims{4, 1}), std::as_bytes(std::span(ones)));
  graph_.add_output(op(OpKind::matmul, {x, graph_.weight_value(id)}));
  const std::string rule = "sum: MatMul(x, w), const(w) => ReduceSum{axes=[1], keepdims=1}(x)";
  EXPECT_TRUE(rewrite(rule).passes);
}

TEST_F(SiteCheck, CatchesTheSameRuleOnAnotherWeight) {
  graph_.add_output(op(OpKind::matmul, {input({3, 4}), weight({4, 1}, 4)}));
  EXPECT_FALSE(rewrite("sum: MatMul(x, w), const(w) => ReduceSum{axes=[1], keepdims=1}(x)").passes);
}

TEST_F(SiteCheck, TakesLeftValuesThatTheRightSideKeeps) {
  const Value a = op(OpKind::add, {input({5}), input({5})});
  graph_.add_output(a);
  graph_.add_output(op(OpKind::mul, {a, a}));
  const SiteReport report = rewrite("square: a = Add(x, y); Mul(a, a) => Pow(a, 2)");
  EXPECT_TRUE(report.passes) << report.reason;
}

TEST_F(SiteCheck, AllowsRoundingOfConstantsThatTheRewriteMakes) {
  graph_.add_output(op(OpKind::mul, {op(OpKind::mul, {input({64}), scalar(0.1)}), scalar(3)}));
  const SiteReport report = rewrite("third: Mul(Mul(x, 0.1), 3) => Mul(x, 0.3)");
  EXPECT_TRUE(report.passes) << report.reason;
  EXPECT_GT(report.relative_error, kSiteTolerance);
  EXPECT_LE(report.relative_error, made_constant_tolerance(DType::float32));
}

TEST_F(SiteCheck, KeepsIndicesWithinWhatTheyLookUp) {
  const Value table = weight({6, 3}, 18), ids = input({4, 2}, DType::int64);
  graph_.add_output(op(OpKind::relu, {op(OpKind::gather, {table, ids}, {{Attr::axis, std::int64_t{0}}})}));
  const SiteReport report = rewrite("push: Relu(Gather{axis=0}(t, i)) => Gather{axis=0}(Relu(t), i)");
  EXPECT_TRUE(report.passes) << report.reason;
}

TEST_F(SiteCheck, MergesSiblingsAndCatchesPartsInTheWrongOrder) {
  const Value x = input({2, 4});
  graph_.add_output(op(OpKind::matmul, {x, weight({4, 3}, 12)}));
  graph_.add_output(op(OpKind::matmul, {x, weight({4, 3}, 12)}));
  const std::string left = "pair: a = MatMul(x, w1); b = MatMul(x, w2), const(w1, w2) => ";
  const std::string merged = "y = MatMul(x, Concat{1}(w1, w2)); ";
  const Graph start = graph_;
  const SiteReport right = rewrite(left + merged + "(a, b) = Split{1, [w1.1, w2.1]}(y)");
  EXPECT_TRUE(right.passes) << right.reason;
  graph_ = start;
  const SiteReport wrong = rewrite(left + merged + "(b, a) = Split{1, [w2.1, w1.1]}(y)");
  EXPECT_FALSE(wrong.passes);
  EXPECT_THAT(wrong.reason, HasSubstr("MatMul"));
}

TEST_F(SiteCheck, ComparesSymbolicSitesAtTwoSizes) {
  const graph::Dim batch = graph::symbol_dim(tables_.symbol("batch"));
  graph_.add_output(
      op(OpKind::reduce_sum, {op(OpKind::relu, {input({batch, 4})})}, {{Attr::axes, graph::Ints{0}}}));
  const std::string rule = "ReduceSum{axes=[0], keepdims=1}(Relu(x)) => ";
  const Graph start = graph_;
  EXPECT_TRUE(rewrite("same: " + rule + "ReduceSum{axes=[0], keepdims=1}(Max(x, 0))").passes);
  graph_ = start;
  const SiteReport wrong = rewrite("wrong: " + rule + "ReduceMax{axes=[0], keepdims=1}(Relu(x))");
  EXPECT_FALSE(wrong.passes) << "right for batch 1 only";
}

TEST_F(SiteCheck, FollowsNodesThatTheGraphHadAlready) {
  const Value x = input({2, 6}), t = op(OpKind::transpose, {x}, {{Attr::perm, graph::Ints{1, 0}}});
  graph_.add_output(t);
  graph_.add_output(op(OpKind::matmul, {x, weight({6, 3}, 18)}));
  const Graph start = graph_;
  // The right side's Transpose(x) is the node that stands there for its own sake.
  const SiteReport right = rewrite(
      "turn: MatMul(x, w), const(w) => Transpose{[1, 0]}(MatMul(Transpose{[1, 0]}(w), Transpose{[1, "
      "0]}(x)))");
  EXPECT_TRUE(right.passes) << right.reason;
  graph_ = start;
  EXPECT_FALSE(rewrite("wrong: MatMul(x, w), const(w) => "
                       "Transpose{[1, 0]}(MatMul(Transpose{[1, 0]}(w), Transpose{[1, 0]}(x) * 2))")
                   .passes);
}

/// A rewrite as a rewriter would report it.
rules::Rewrite by_hand(const std::vector<graph::NodeId>& matched, Value before, Value after) {
  rules::Rewrite rewrite;
  for (const graph::NodeId id : matched) rewrite.match.nodes.push_back(id);
  rewrite.before.push_back(before);
  rewrite.after.push_back(after);
  return rewrite;
}

/// What a faulty rewriter could hand over.
TEST_F(SiteCheck, DoesNotPassWhatItCannotCheck) {
  const Value x = input({3}), y = op(OpKind::relu, {x});
  graph_.add_output(y);
  const Graph before = graph_;
  const Value z = op(OpKind::sigmoid, {x});
  rules::Rewrite nothing;
  EXPECT_FALSE(check_site(before, graph_, nothing, {}).passes);
  const rules::Rewrite other_type =
      by_hand({y.node}, y, op(OpKind::cast, {x}, {{Attr::to, std::int64_t{7}}}));
  EXPECT_THAT(check_site(before, graph_, other_type, {}).reason, HasSubstr("becomes"));
  const rules::Rewrite missing_node = by_hand({9999}, y, z);
  EXPECT_THAT(check_site(before, graph_, missing_node, {}).reason, HasSubstr("not in the graph"));
  const rules::Rewrite wrong = by_hand({y.node}, y, z);
  EXPECT_FALSE(check_site(before, graph_, wrong, {}).passes);
  const rules::Rewrite same = by_hand({y.node}, y, op(OpKind::relu, {x}));
  EXPECT_TRUE(check_site(before, graph_, same, {}).passes);
}

TEST_F(SiteCheck, SeesAnInfinityThatTheOtherSideLacks) {
  const Value x = input({64});
  const Value y = op(OpKind::exp, {op(OpKind::mul, {x, scalar(400)})});
  graph_.add_output(y);
  const Graph before = graph_;
  const Value bounded = op(OpKind::clip, {y}, {{Attr::max, 1e300}});
  const graph::NodeId inner = before.node(y.node).inputs[0].node;
  const rules::Rewrite rewrite = by_hand({y.node, inner}, y, bounded);
  const SiteReport report = check_site(before, graph_, rewrite, {});
  EXPECT_FALSE(report.passes);
  EXPECT_TRUE(std::isinf(report.relative_error));
}

// Reshape(z) to the dims of x is x itself where x was made of z so: then the right side reads x alone, and
// the two are no free values.
TEST_F(SiteCheck, RelatesLeavesThatTheRewriteFoundToBeRelated) {
  const Value z = input({4, 6});
  const Value x = op(OpKind::reshape, {z}, {{Attr::shape, graph::Ints{24}}});
  const Value v = op(OpKind::reshape, {x}, {{Attr::shape, graph::Ints{4, 6}}});
  graph_.add_output(op(OpKind::add, {v, z}));
  graph_.add_output(op(OpKind::relu, {x}));
  const SiteReport report = rewrite(
      "r: y = Add(v, z); v = Reshape{r}(x), dims(v) == dims(z) => y = Reshape{dims(y)}(Add(x, "
      "Reshape{dims(x)}(z)))");
  EXPECT_TRUE(report.passes) << report.reason;
}

// Dims behind ops that we do not know may hang together: sizes are tried until the left side runs.
TEST_F(SiteCheck, FindsSizesAtWhichTheLeftSideRuns) {
  const graph::Dim a = graph::symbol_dim(tables_.fresh_symbol()),
                   b = graph::symbol_dim(tables_.fresh_symbol());
  const Value x = input({2, a, b});
  const Value y = op(OpKind::reshape, {x}, {{Attr::shape, graph::Ints{2, 4, 3}}});
  graph_.add_output(op(OpKind::relu, {y}));
  EXPECT_TRUE(rewrite("r: Relu(Reshape{r}(x)) => Reshape{r}(Relu(x))").passes);
}

TEST_F(SiteCheck, CatchesAWrongRuleAtSizesThatItFound) {
  const graph::Dim a = graph::symbol_dim(tables_.fresh_symbol()),
                   b = graph::symbol_dim(tables_.fresh_symbol());
  const Value x = input({2, a, b});
  const Value y = op(OpKind::reshape, {x}, {{Attr::shape, graph::Ints{2, 4, 3}}});
  graph_.add_output(op(OpKind::relu, {y}));
  EXPECT_FALSE(rewrite("r: Relu(Reshape{r}(x)) => Reshape{r}(Abs(x))").passes);
}

// A branch that is not taken at the sizes given may not run there.
TEST_F(SiteCheck, LooksElsewhereWhereTheLeftSideDoesNotRunAtTheSizesGiven) {
  const graph::Dim samples = graph::symbol_dim(tables_.symbol("samples"));
  const Value y = op(OpKind::conv, {input({1, 1, samples}), weight({2, 1, 40}, 80)});
  graph_.add_output(op(OpKind::relu, {y}));
  graph::Bindings short_ones;
  short_ones.bind(graph::dim_symbol(samples), 32);
  const Graph start = graph_;
  const SiteReport right =
      rewrite("r: Relu(Conv{k,s,p,d,g}(x, w)) => Max(Conv{k,s,p,d,g}(x, w), 0)", short_ones);
  EXPECT_TRUE(right.passes) << right.reason;
  graph_ = start;
  const SiteReport wrong =
      rewrite("r: Relu(Conv{k,s,p,d,g}(x, w)) => Abs(Conv{k,s,p,d,g}(x, w))", short_ones);
  EXPECT_FALSE(wrong.passes);
  EXPECT_THAT(wrong.reason, HasSubstr("differs from"));
}

TEST_F(SiteCheck, LooksAtOtherSizesOfDimsThatHangTogether) {
  const graph::Dim a = graph::symbol_dim(tables_.symbol("a")), b = graph::symbol_dim(tables_.symbol("b"));
  const Value y = op(OpKind::reshape, {input({2, a, b})}, {{Attr::shape, graph::Ints{2, 4, 3}}});
  graph_.add_output(op(OpKind::relu, {y}));
  graph::Bindings others;
  for (const graph::Dim dim : {a, b}) others.bind(graph::dim_symbol(dim), 5);
  const SiteReport report = rewrite("r: Relu(Reshape{r}(x)) => Reshape{r}(Relu(x))", others);
  EXPECT_TRUE(report.passes) << report.reason;
}

TEST_F(SiteCheck, PassesARewriteOfWhatNothingUses) {
  const Value x = input({3});
  graph_.add_output(x);
  op(OpKind::relu, {op(OpKind::relu, {x})});
  EXPECT_TRUE(rewrite("r: Relu(Relu(x)) => Relu(x)").passes);
}

// fp64 holds these constants; the model's float32 does not, and then 0 becomes a NaN or all becomes 0.
TEST_F(SiteCheck, RefusesAConstantThatOverflowsItsType) {
  graph_.add_output(op(OpKind::mul, {op(OpKind::mul, {input({4}), scalar(1e30)}), scalar(2e30)}));
  const SiteReport report = rewrite("r: Mul(Mul(x, c), d), const(c, d) => Mul(x, c * d)");
  EXPECT_FALSE(report.passes);
  EXPECT_THAT(report.reason, HasSubstr("overflows float32"));
}

TEST_F(SiteCheck, RefusesAConstantThatVanishesInItsType) {
  graph_.add_output(op(OpKind::mul, {op(OpKind::mul, {input({4}), scalar(1e-30)}), scalar(2e-30)}));
  const SiteReport report = rewrite("r: Mul(Mul(x, c), d), const(c, d) => Mul(x, c * d)");
  EXPECT_FALSE(report.passes);
  EXPECT_THAT(report.reason, HasSubstr("vanishes in float32"));
}

TEST_F(SiteCheck, RefusesTheReciprocalOfADenormalNumber) {
  graph_.add_output(op(OpKind::div, {input({4}), scalar(1e-42)}));
  const SiteReport report = rewrite("r: Div(x, c), const(c) => Mul(x, Reciprocal(c))");
  EXPECT_FALSE(report.passes);
  EXPECT_THAT(report.reason, HasSubstr("overflows float32"));
}

TEST_F(SiteCheck, PassesConstantsThatWereDenormalBefore) {
  graph_.add_output(op(OpKind::mul, {op(OpKind::mul, {input({4}), scalar(1e-40)}), scalar(1)}));
  const SiteReport report = rewrite("r: Mul(Mul(x, c), d), const(c, d) => Mul(x, Neg(Neg(c)))");
  EXPECT_TRUE(report.passes) << report.reason;
}

}  // namespace
}
