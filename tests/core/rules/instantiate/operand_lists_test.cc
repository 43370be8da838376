#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/rules/graph_builder.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/match/match_index.h"

// Lists of operands: those without a member, and what their members have in common.

namespace regraft::rules {
namespace {

using graph::Attr;
using graph::Ints;
using graph::OpKind;
using graph::Value;
using testing::GraphBuilder;
using ::testing::HasSubstr;

std::size_t count_matches(const std::string& rule, const graph::Graph& graph) {
  return MatchIndex(RuleSet::parse(rule, "t"), graph).match_count();
}

Value slice(GraphBuilder& b, Value x, std::int64_t first, std::int64_t last) {
  return b.op(
      OpKind::slice, {x},
      {{Attr::starts, Ints{first}}, {Attr::ends, Ints{last}}, {Attr::axes, Ints{1}}, {Attr::steps, Ints{1}}});
}

Value concat(GraphBuilder& b, std::vector<Value> parts) {
  return b.op(OpKind::concat, std::move(parts), {{Attr::axis, std::int64_t{0}}});
}

TEST(OperandLists, ANameWithoutAMemberIsTheSameForAllMembers) {
  const std::string rule =
      "r: Concat{a}(Slice{[i],[j],[b],[1]}(x@)...), a != b => Slice{[i],[j],[b],[1]}(Concat{a}(x@...))\n";
  for (const std::int64_t first : {1, 2}) {
    GraphBuilder b;
    const Value x = b.input({2, 6}), y = b.input({2, 6});
    b.output(concat(b, {slice(b, x, 1, 3), slice(b, y, first, first + 2)}));
    EXPECT_EQ(count_matches(rule, b.graph()), first == 1 ? 1u : 0u);
  }
}

TEST(OperandLists, ANameOfMembersThatAreNotThereHasNoValue) {
  GraphBuilder b;
  const Value x = b.input({2, 6}), y = b.input({2, 6});
  b.output(concat(b, {b.op(OpKind::relu, {x})}));
  const std::string rule =
      "r: Concat{a}(Relu(y), Slice{[i],[j],[b],[1]}(x@)...), a != b => Relu(Slice{[i],[j],[b],[1]}(y))\n";
  EXPECT_EQ(count_matches(rule, b.graph()), 0u);
  b.output(y);
}

TEST(OperandLists, AnOperationOfNoOperandsIsNotMade) {
  GraphBuilder b;
  const Value x = b.input({2, 3}), y = b.input({2, 3});
  b.output(b.op(OpKind::sum, {b.op(OpKind::relu, {x})}));
  const std::string rule = "r: Sum(p@p..., Relu(x)) => Add(Relu(x), Sum(p@p...))\n";
  EXPECT_EQ(count_matches(rule, b.graph()), 0u);
  b.output(b.op(OpKind::sum, {y, b.op(OpKind::relu, {x})}));
  EXPECT_EQ(count_matches(rule, b.graph()), 1u);
}

// Each place is described by the same operations and values; the lists alone are of other lengths.
TEST(OperandLists, LegalityOfOneDivisionSaysNothingOfAnother) {
  GraphBuilder b;
  const Value x = b.op(OpKind::relu, {b.input({2, 3})}), y = b.input({2, 3}), z = b.input({2, 3});
  b.output(b.op(OpKind::sum, {x, y, z}));
  const Value last = b.op(OpKind::sum, {y, z, x});
  b.output(last);
  const RuleSet rules = RuleSet::parse("r: Sum(p@p..., Relu(x), q@q...) => Add(Relu(x), Sum(p@p...))\n", "t");
  const MatchIndex index(rules, b.graph());
  ASSERT_EQ(index.match_count(), 1u);
  EXPECT_EQ(index.matches(0)[0].nodes[0], last.node);
}

std::string error_of(const std::string& rule) {
  try {
    RuleSet::parse(rule, "t");
  } catch (const RuleError& error) {
    return error.what();
  }
  return "no error";
}

TEST(OperandLists, AListIsNoSingleOperand) {
  EXPECT_THAT(error_of("r: Sum(p@p..., x) => Add(x, Full([1], 0, p@p...))\n"), HasSubstr("t:1:45"));
  EXPECT_THAT(error_of("r: Sum(p@p..., x) => Add(x, Values([1], [1], p@p...))\n"), HasSubstr("t:1:49"));
  EXPECT_THAT(error_of("r: Sum(p@p..., x) => Add(x, (p@p...) ?? (p@p...))\n"), HasSubstr("t:1:"));
}

}  // namespace
}
