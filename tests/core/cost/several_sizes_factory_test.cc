#include "core/cost/several_sizes_factory.h"

#include <gtest/gtest.h>

#include "core/cost/analytic_cost.h"
#include "core/cost/net.h"

namespace regraft::cost {
namespace {

using testing::Net;
using testing::OpKind;
using testing::Value;

/// (x y) z against x (y z): the second is less work where x has few rows, and more where it has many.
struct Products {
  explicit Products(bool inner_first) {
    const graph::SymbolId n = net.tables.symbol("n");
    const Value x = net.input({graph::symbol_dim(n), 256}), y = net.input({256, 256}),
                z = net.input({256, 256});
    const Value product = inner_first ? net.op(OpKind::matmul, {x, net.op(OpKind::matmul, {y, z})})
                                      : net.op(OpKind::matmul, {net.op(OpKind::matmul, {x, y}), z});
    net.graph.add_output(product);
  }
  graph::Bindings rows(std::int64_t size) {
    graph::Bindings bindings;
    bindings.bind(net.tables.symbol("n"), size);
    return bindings;
  }
  Net net;
};

TEST(SeveralSizes, CostIsThatOfTheFirstWhereNoOtherIsSlower) {
  Products before(true), after(false);
  const SeveralSizesFactory costs(testing::test_device(), {before.rows(1), before.rows(4)}, before.net.graph);
  const AnalyticFactory first(testing::test_device(), before.rows(1));
  const auto cost = costs.make(after.net.graph);
  EXPECT_EQ(cost->latency_us(), first.make(after.net.graph)->latency_us());
  EXPECT_EQ(cost->cost().latency_us, cost->latency_us());
  EXPECT_LT(cost->latency_us(), costs.make(before.net.graph)->latency_us());
  EXPECT_TRUE(cost->is_sum());
}

TEST(SeveralSizes, AGraphThatIsSlowerElsewhereIsNeverPreferred) {
  Products before(true), after(false);
  const SeveralSizesFactory costs(testing::test_device(), {before.rows(1), before.rows(4096)},
                                  before.net.graph);
  const double reference_us = costs.make(before.net.graph)->latency_us();
  const auto cost = costs.make(after.net.graph);
  EXPECT_GT(cost->latency_us(), reference_us);
  EXPECT_FALSE(cost->is_sum());
  EXPECT_EQ(cost->cost().latency_us, cost->latency_us());
  const auto latencies = costs.latencies_us(after.net.graph);
  EXPECT_LT(latencies[0], reference_us);
  EXPECT_GT(latencies[1], costs.latencies_us(before.net.graph)[1]);
}

}  // namespace
}
