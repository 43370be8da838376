// What TensorFlow's exporter leaves: activations between transposes, numbers with axes of one, norms in
// parts. Each is found by descent from a small model, and left alone where it does not pay or does not hold.
#include <gtest/gtest.h>

#include "core/rules/tensorflow_forms.h"
#include "core/search/descend.h"

namespace regraft::search {
namespace {

using graph::Attr;
using graph::Ints;
using graph::OpKind;
using graph::Value;
using rules::testing::GraphBuilder;
using rules::testing::inverse_root_mean_square;
using rules::testing::norm_in_parts;
using rules::testing::scaled_cube;
using rules::testing::tanh_gate;
using testing::count;
using testing::descend;
using testing::Found;

/// A Gelu by tanh whose cube is taken with the channels last, and whose 1 has `axes` axes.
Value transposed_gelu(GraphBuilder& b, Value x, std::size_t axes) {
  const auto moved = [&](Value v, Ints perm) {
    return b.op(OpKind::transpose, {v}, {{Attr::perm, std::move(perm)}});
  };
  const Value cube = moved(scaled_cube(b, moved(x, {0, 2, 3, 1}), 0.044715), {0, 3, 1, 2});
  const Value half = b.op(OpKind::mul, {b.scalar(0.5), x});
  return b.op(OpKind::mul, {half, tanh_gate(b, x, cube, b.literal(Ints(axes, 1), {1}))});
}

Value image_conv(GraphBuilder& b, Value x) {
  return b.op(OpKind::conv, {x, b.weight({16, 16, 3, 3}), b.weight({16})}, {{Attr::pads, Ints(4, 1)}});
}

TEST(TensorflowFamilies, AGeluBetweenTransposesIsFused) {
  for (const std::size_t axes : {0, 4}) {
    GraphBuilder b;
    Value x = b.input({1, 16, 32, 32});
    for (int block = 0; block < 2; ++block) x = transposed_gelu(b, image_conv(b, x), axes);
    b.output(image_conv(b, x));
    const Found found = descend(b);
    EXPECT_EQ(count(found.graph, OpKind::transpose), 0u);
    EXPECT_GT(found.gain, 1.3) << axes;
  }
}

// LayerNormalization is an operation from opset 17 on; runtimes fuse the parts at any.
TEST(TensorflowFamilies, ANormInPartsIsFused) {
  for (const std::int64_t opset : {13, 17}) {
    GraphBuilder b;
    b.graph().tables().set_opset(opset);
    b.output(
        b.op(OpKind::matmul, {norm_in_parts(b, b.input({1, 64, 96}), 2, {1, 1, 96}), b.weight({96, 32})}));
    const Found found = descend(b);
    EXPECT_EQ(count(found.graph, OpKind::reciprocal), 0u);
    EXPECT_EQ(count(found.graph, OpKind::pow) + count(found.graph, OpKind::layer_norm), 1u) << opset;
    EXPECT_GT(found.gain, 2.0) << opset;
  }
}

TEST(TensorflowFamilies, ARootMeanSquareNormIsFused) {
  GraphBuilder b;
  const Value x = b.input({1, 64, 96});
  const Value scaled = b.op(OpKind::mul, {x, inverse_root_mean_square(b, x, 2)});
  b.output(b.op(OpKind::matmul, {b.op(OpKind::mul, {scaled, b.weight({96})}), b.weight({96, 32})}));
  const Found found = descend(b);
  EXPECT_EQ(count(found.graph, OpKind::reciprocal), 0u);
  EXPECT_GT(found.gain, 1.1);
}

TEST(TensorflowFamilies, ANormOfOtherAxesStaysInParts) {
  GraphBuilder rows, scaled;
  rows.output(norm_in_parts(rows, rows.input({1, 64, 96}), 1, {1, 64, 1}));
  scaled.output(norm_in_parts(scaled, scaled.input({1, 64, 96}), 2, {1, 64, 1}));
  for (GraphBuilder* b : {&rows, &scaled}) {
    const Found found = descend(*b);
    EXPECT_EQ(count(found.graph, OpKind::layer_norm), 0u);
    EXPECT_EQ(count(found.graph, OpKind::reciprocal), 1u);
  }
}

/// Attention as Keras writes it: queries and keys of 4 heads by Einsum, and their products.
Value scores(GraphBuilder& b) {
  const Value x = b.input({2, 64, 128});
  const auto heads = [&] {
    return b.op(OpKind::einsum, {x, b.weight({128, 4, 32})},
                {{Attr::equation, Ints{0, 1, 2, 2, 3, 4, 0, 1, 3, 4}}});
  };
  return b.op(OpKind::softmax,
              {b.op(OpKind::einsum, {heads(), heads()},
                    {{Attr::equation, Ints{0, 1, 2, 3, 0, 4, 2, 3, 0, 2, 4, 1}}})},
              {{Attr::axis, std::int64_t{3}}});
}

TEST(TensorflowFamilies, EinsumsAreProductsOfMatrices) {
  GraphBuilder b;
  b.output(scores(b));
  const Found found = descend(b);
  EXPECT_EQ(count(found.graph, OpKind::einsum), 0u);
  EXPECT_EQ(count(found.graph, OpKind::matmul), 3u);
  EXPECT_EQ(count(found.graph, OpKind::transpose), 2u);
  EXPECT_GT(found.gain, 1.05);
  GraphBuilder integers;
  integers.output(integers.op(
      OpKind::einsum,
      {integers.input({64, 64}, graph::DType::int64), integers.input({64, 64}, graph::DType::int64)},
      {{Attr::equation, Ints{0, 1, 2, 1, 2, 0}}}));
  EXPECT_EQ(count(descend(integers).graph, OpKind::einsum), 1u) << "rules speak of real numbers";
}

}  // namespace
}
