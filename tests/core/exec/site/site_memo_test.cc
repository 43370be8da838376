#include "core/exec/site/site_memo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <vector>

namespace regraft::exec {
namespace {

using graph::OpKind;
using graph::Value;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kAgain[] = "the same rewrite passed before";

/// Sites that read inputs of one type.
class SiteMemoTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kSize = 5000;  // not small

  Value input() {
    return {graph_.add_input(tables_.intern(graph::DType::float32, std::array{kSize}), inputs_++), 0};
  }
  Value constant(float value, std::int64_t size = kSize) {
    const std::vector<float>& bytes = held_.emplace_back(size, value);
    return graph_.weight_value(
        tables_.weights().source(tables_.intern(graph::DType::float32, std::array{size}),
                                 std::as_bytes(std::span(bytes)), static_cast<std::int32_t>(held_.size())));
  }
  Value op(OpKind kind, std::vector<Value> inputs) {
    return {graph_.add(kind, tables_.intern(graph::AttrBlock{}), inputs), 0};
  }
  /// Values replaced by others of the present graph.
  SiteReport check(const graph::Graph& before, const std::vector<graph::NodeId>& matched,
                   const std::vector<Value>& were, const std::vector<Value>& are) {
    rules::Rewrite rewrite{{}, were, are};
    for (const graph::NodeId id : matched) rewrite.match.nodes.push_back(id);
    return memo_.check(before, graph_, rewrite, {});
  }
  /// x + (-constant), replaced by what is given, which may be right.
  SiteReport check(Value constant, OpKind kind) {
    const Value x = input(), was = op(OpKind::add, {x, op(OpKind::neg, {constant})});
    graph_.add_output(was);
    const graph::Graph before = graph_;
    return check(before, {was.node, before.node(was.node).inputs[1].node}, {was}, {op(kind, {x, constant})});
  }

  graph::Tables tables_;
  graph::Graph graph_{tables_};
  SiteMemo memo_;

 private:
  std::int32_t inputs_ = 0;
  std::deque<std::vector<float>> held_;
};

TEST_F(SiteMemoTest, TheSameSitePassesAtOnceElsewhere) {
  const Value one = constant(1);
  const SiteReport first = check(one, OpKind::sub);
  EXPECT_TRUE(first.passes) << first.reason;
  EXPECT_THAT(first.reason, StartsWith("largest relative error"));
  const SiteReport again = check(one, OpKind::sub);
  EXPECT_TRUE(again.passes);
  EXPECT_EQ(again.reason, kAgain);
}

TEST_F(SiteMemoTest, AnotherRightSideOrConstantIsChecked) {
  EXPECT_TRUE(check(constant(1), OpKind::sub).passes);
  const SiteReport other = check(constant(2), OpKind::sub);
  EXPECT_TRUE(other.passes);
  EXPECT_NE(other.reason, kAgain);
  EXPECT_FALSE(check(constant(1), OpKind::add).passes);
  EXPECT_TRUE(check(constant(0), OpKind::add).passes);  // by the value of the constant alone
  EXPECT_FALSE(check(constant(3), OpKind::add).passes);
}

TEST_F(SiteMemoTest, ASmallConstantCountsByItsValue) {
  const auto check_without_bound = [&](float most) {
    const Value x = input(), was = op(OpKind::min, {x, constant(most, 1)});
    return check(graph_, {was.node}, {was}, {x});
  };
  EXPECT_TRUE(check_without_bound(100).passes);
  EXPECT_FALSE(check_without_bound(10).passes) << "wide numbers reach it";
}

TEST_F(SiteMemoTest, ListsDoNotRunIntoEachOther) {
  const Value minus = constant(-1);
  const auto make = [&] {
    const Value x = input();
    return std::array{x, op(OpKind::neg, {x}), op(OpKind::abs, {x}), op(OpKind::exp, {x})};
  };
  const auto [x, u, v, w] = make();
  const graph::Graph before = graph_;
  EXPECT_TRUE(check(before, {u.node, v.node, w.node}, {u}, {op(OpKind::mul, {x, minus})}).passes);
  const auto [y, s, t, z] = make();
  const Value product = op(OpKind::mul, {y, minus});
  EXPECT_FALSE(check(graph_, {z.node}, {s, product}, {s, t}).passes) << "the same values in the same order";
}

TEST_F(SiteMemoTest, WhatFailedIsCheckedAgain) {
  const Value one = constant(1);
  for (int i = 0; i < 2; ++i) EXPECT_THAT(check(one, OpKind::add).reason, HasSubstr("differs from"));
}

}  // namespace
}
