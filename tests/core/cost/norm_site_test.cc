#include "core/cost/norm_site.h"

#include <gtest/gtest.h>

#include "core/cost/net.h"

namespace regraft::cost {
namespace {

using testing::Net;
using testing::OpKind;
using testing::Value;

/// All nodes that compute something are part of one norm.
void expect_one_norm(const Net& net, bool simplified, std::size_t nodes) {
  const Neighbourhood near(net.graph);
  std::size_t found = 0;
  for (graph::NodeId id = 0; id < net.graph.id_bound(); ++id) {
    if (net.graph.node(id).kind == OpKind::input || net.graph.node(id).kind == OpKind::weight) continue;
    const NormSite site = norm_around(near, id);
    ASSERT_TRUE(site.found()) << id;
    EXPECT_EQ(site.simplified, simplified);
    EXPECT_EQ(site.nodes.size(), nodes);
    ++found;
  }
  EXPECT_EQ(found, nodes);
}

TEST(NormSite, IsFoundFromEachOfItsNodes) {
  Net whole, simplified;
  whole.output(whole.norm_in_parts(whole.input({1, 8, 16}), false));
  expect_one_norm(whole, false, 9);
  simplified.output(simplified.norm_in_parts(simplified.input({1, 8, 16}), true));
  expect_one_norm(simplified, true, 6);
}

TEST(NormSite, IsOneKernel) {
  for (const bool simplified : {false, true}) {
    Net parts, one;
    parts.output(parts.norm_in_parts(parts.input({1, 128, 768}), simplified));
    one.output(one.layer_norm(one.input({1, 128, 768})));
    EXPECT_EQ(parts.launches(), 1);
    EXPECT_NEAR(parts.latency_us(), one.latency_us(), 0.01 * one.latency_us());
  }
}

/// A rule that only makes the square cheaper takes the norm apart.
TEST(NormSite, ASquareAsAProductIsNone) {
  Net net;
  const Value x = net.input({1, 128, 768});
  const testing::AttrBlock last{{testing::Attr::axes, testing::Ints{-1}},
                                {testing::Attr::keepdims, std::int64_t{1}}};
  const Value mean = net.op(OpKind::reduce_mean, {net.op(OpKind::mul, {x, x})}, last);
  const Value root = net.op(OpKind::sqrt, {net.op(OpKind::add, {mean, net.scalar(1e-5)})});
  net.output(net.op(OpKind::mul, {net.op(OpKind::div, {x, root}), net.weight({768})}));
  Net norm;
  norm.output(norm.norm_in_parts(norm.input({1, 128, 768}), true));
  EXPECT_EQ(net.launches(), 6);
  EXPECT_GT(net.latency_us(), norm.latency_us());
}

TEST(NormSite, WithAnAdditionBeforeItIsSkipLayerNormalization) {
  Net net;
  const Value a = net.input({1, 128, 768}), b = net.input({1, 128, 768});
  net.output(net.norm_in_parts(net.op(OpKind::add, {a, b}), false));
  EXPECT_EQ(net.launches(), 1);
}

}  // namespace
}  // namespace regraft::cost
