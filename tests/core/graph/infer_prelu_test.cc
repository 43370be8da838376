#include <gtest/gtest.h>

#include "core/graph/op.h"
#include "core/graph/tables.h"

namespace regraft::graph {
namespace {

// ONNX broadcasts PRelu's slope to its input, never the input: a rewrite that would is refused.
TEST(InferPRelu, BroadcastsTheSlopeAlone) {
  Tables tables;
  const auto infer = [&](Dims x, Dims slope) {
    const Operand operands[] = {{tables.intern(DType::float32, x)}, {tables.intern(DType::float32, slope)}};
    return tables.describe(infer_types(tables, OpKind::prelu, {}, operands)[0]);
  };
  EXPECT_EQ(infer({2, 1, 6}, {1, 6}), "float32[2, 1, 6]");
  EXPECT_EQ(infer({2, 1, 6}, {}), "float32[2, 1, 6]");
  EXPECT_THROW(infer({1, 1, 6}, {2, 1, 6}), GraphError);
  EXPECT_THROW(infer({6}, {2, 6}), GraphError);
}

}  // namespace
}
