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

/// Additions of constants to inputs of one type.
class SiteMemoTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kSize = 5000;  // not small

  Value input() {
    return {graph_.add_input(tables_.intern(graph::DType::float32, std::array{kSize}), inputs_++), 0};
  }
  Value constant(float value) {
    const std::vector<float>& bytes = held_.emplace_back(kSize, value);
    return graph_.weight_value(
        tables_.weights().source(tables_.intern(graph::DType::float32, std::array{kSize}),
                                 std::as_bytes(std::span(bytes)), static_cast<std::int32_t>(held_.size())));
  }
  Value op(OpKind kind, std::vector<Value> inputs) {
    return {graph_.add(kind, tables_.intern(graph::AttrBlock{}), inputs), 0};
  }
  /// x + (-constant), replaced by what is given, which may be right.
  SiteReport check(Value constant, OpKind kind) {
    const Value x = input(), was = op(OpKind::add, {x, op(OpKind::neg, {constant})});
    graph_.add_output(was);
    const graph::Graph before = graph_;
    rules::Rewrite rewrite;
    rewrite.match.nodes.push_back(was.node);
    rewrite.match.nodes.push_back(before.node(was.node).inputs[1].node);
    rewrite.before.push_back(was);
    rewrite.after.push_back(op(kind, {x, constant}));
    return memo_.check(before, graph_, rewrite, {});
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

TEST_F(SiteMemoTest, WhatFailedIsCheckedAgain) {
  const Value one = constant(1);
  for (int i = 0; i < 2; ++i) EXPECT_THAT(check(one, OpKind::add).reason, HasSubstr("differs from"));
}

}  // namespace
}  // namespace regraft::exec
