// Rewrites of models of 8 bits, found by descent, and left alone where they do not pay.
#include <gtest/gtest.h>

#include "core/search/descend.h"

namespace regraft::search {
namespace {

using graph::Attr;
using graph::DType;
using graph::OpKind;
using graph::Value;
using rules::testing::GraphBuilder;
using testing::count;
using testing::descend;

Value zero_point(GraphBuilder& b, DType bytes) {
  return b.integers({}, {3}, bytes);
}
Value bytes_of(GraphBuilder& b, Value x, DType bytes) {
  return b.op(OpKind::quantize_linear, {x, b.scalar(0.1), zero_point(b, bytes)});
}
Value floats_of(GraphBuilder& b, Value x) {
  return b.op(OpKind::dequantize_linear, {x, b.scalar(0.1), zero_point(b, b.graph().type(x).dtype)});
}

Value probabilities(GraphBuilder& b) {
  const Value x = floats_of(b, b.input({1, 6, 100, 100}, DType::uint8));
  return b.op(OpKind::softmax, {x}, {{Attr::axis, std::int64_t{-1}}});
}

// Attention of bytes: the runtime's Softmax of bytes is slower than one of floats and what makes floats.
TEST(QuantisedFamilies, SoftmaxOfBytesIsComputedInFloats) {
  GraphBuilder b;
  b.output(bytes_of(b, probabilities(b), DType::uint8));
  const testing::Found found = descend(b);
  EXPECT_EQ(count(found.graph, OpKind::dequantize_linear), 0u);
  EXPECT_EQ(count(found.graph, OpKind::cast), 1u);
  EXPECT_GT(found.gain, 1.5);
}

TEST(QuantisedFamilies, ASoftmaxThatStaysInFloatsIsLeftAlone) {
  GraphBuilder b;
  b.output(probabilities(b));
  EXPECT_EQ(count(descend(b).graph, OpKind::dequantize_linear), 1u);
}

/// Residual blocks, each tensor as bytes.
void residual_blocks(GraphBuilder& b, DType bytes) {
  const auto conv = [&](Value x) {
    const Value weight = floats_of(b, b.integers({32, 32, 3, 3}, graph::Ints(32 * 32 * 9, 1), DType::int8));
    return b.op(OpKind::conv, {x, weight}, {{Attr::pads, graph::Ints{1, 1, 1, 1}}});
  };
  const auto as_bytes = [&](Value x) { return floats_of(b, bytes_of(b, x, bytes)); };
  Value x = as_bytes(b.input({1, 32, 20, 20}));
  for (int block = 0; block < 3; ++block)
    x = as_bytes(b.op(OpKind::add, {as_bytes(conv(as_bytes(conv(x)))), x}));
  b.output(x);
}

std::size_t count_of_bytes(const graph::Graph& graph, DType bytes) {
  std::size_t found = 0;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id)
    if (graph.alive(id) && graph.node(id).kind == OpKind::quantize_linear)
      found += graph.type({id, 0}).dtype == bytes ? 1 : 0;
  return found;
}

// What quantisers make by default: signed bytes, for which the runtime has no kernels where two operations
// read.
TEST(QuantisedFamilies, SignedBytesOfResidualsBecomeUnsigned) {
  GraphBuilder b;
  residual_blocks(b, DType::int8);
  const testing::Found found = descend(b);
  EXPECT_GE(count_of_bytes(found.graph, DType::uint8), 3u);
  EXPECT_GT(found.gain, 1.2);
}

TEST(QuantisedFamilies, UnsignedBytesStay) {
  GraphBuilder b;
  residual_blocks(b, DType::uint8);
  EXPECT_NEAR(descend(b).gain, 1, 1e-9);
}

}  // namespace
}
