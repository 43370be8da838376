#include "core/onnx/runs.h"

#include <gtest/gtest.h>

namespace regraft::onnx {
namespace {

TEST(Runs, OfABodyInABodyMultiply) {
  graph::Tables tables;
  const graph::Dim n = graph::symbol_dim(tables.symbol("n"));
  const Runs both = Runs{10, {n}}.times_each({2, {3, n}});
  EXPECT_EQ(both.times, 20);
  graph::Bindings bindings;
  bindings.bind(graph::dim_symbol(n), 5);
  EXPECT_EQ(both.at(bindings), 20 * 5 * 3 * 5);
  EXPECT_EQ(both.describe(tables), "60 * n * n");
  EXPECT_EQ(Runs{}.describe(tables), "1");
  EXPECT_EQ(Runs{}.at(bindings), 1);
}

}  // namespace
}
