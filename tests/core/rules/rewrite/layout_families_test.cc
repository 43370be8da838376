// The families of configs/rules/layout.rules: a small model of each, the script that leads it to the form
// meant, and the search that finds it.
#include <gtest/gtest.h>

#include "core/rules/leads.h"

namespace regraft::rules {
namespace {

using graph::Attr;
using graph::Ints;
using graph::OpKind;
using testing::GraphBuilder;
using testing::Value;

Value image_conv(GraphBuilder& b, Value x, std::int64_t channels, std::int64_t k, std::int64_t group = 1) {
  return b.op(OpKind::conv, {x, b.weight({channels, channels / group, k, k}), b.weight({channels})},
              {{Attr::pads, Ints(4, k / 2)}, {Attr::group, group}});
}

Value row_conv(GraphBuilder& b, Value x, std::int64_t channels) {
  return b.op(OpKind::conv, {x, b.weight({channels, channels, 3}), b.weight({channels})},
              {{Attr::pads, Ints{1, 1}}});
}

Value hard_swish_in_parts(GraphBuilder& b, Value x) {
  const Value clipped =
      b.op(OpKind::clip, {b.op(OpKind::add, {x, b.scalar(3)})}, {{Attr::min, 0.0}, {Attr::max, 6.0}});
  return b.op(OpKind::div, {b.op(OpKind::mul, {x, clipped}), b.scalar(6)});
}

Value scaled_and_shifted(GraphBuilder& b, Value x) {
  return b.op(OpKind::add, {b.op(OpKind::mul, {b.literal({1}, {0.75f}), x}), b.literal({1}, {-0.25f})});
}

// Paddle's blocks: a depthwise convolution, a scale and a shift of one number, an activation in parts, and
// again.
TEST(LayoutFamilies, NothingIsLeftBetweenConvolutionsButTheirActivation) {
  GraphBuilder b;
  Value x = b.input({1, 16, 6, 6});
  for (const std::int64_t group : {16, 1})
    x = scaled_and_shifted(
        b, hard_swish_in_parts(b, scaled_and_shifted(b, image_conv(b, x, 16, group == 1 ? 1 : 3, group))));
  b.output(image_conv(b, x, 16, 1));
  testing::expect_shipped_rules_lead(
      b,
      "hard-swish-parts 2\nexpect Clip 0\nexpect HardSigmoid 2\nexpect Div 0\n"
      "conv-mul all\nconv-add all\naffine-bn 2\nbn-conv 2\nexpect Conv 3\nexpect Mul 2\nexpect total 7\n");
}

TEST(LayoutFamilies, WhatStandsBeforeAConvolutionGoesIntoItsWeights) {
  GraphBuilder b;
  const Value x = b.input({1, 16, 6, 6});
  const Value deep = image_conv(b, b.op(OpKind::mul, {x, b.weight({16, 1, 1})}), 16, 3, 16);
  const Value scaled = image_conv(b, b.op(OpKind::mul, {deep, b.scalar(0.5)}), 16, 3, 4);
  b.output(image_conv(b, b.op(OpKind::add, {scaled, b.scalar(2)}), 16, 1));
  testing::expect_shipped_rules_lead(b, "factor-depthwise\nfactor-conv\nsummand-conv\nexpect total 3\n");
}

// Over all the electrodes at once: whole, and a filter a group.
TEST(LayoutFamilies, RowsAreChannelsToAKernelAsLongAsTheirAxis) {
  for (const std::int64_t group : {1, 3}) {
    GraphBuilder b;
    const Value x = b.op(OpKind::relu, {b.input({2, 3, 5, 8})});
    b.output(b.op(OpKind::conv, {x, b.weight({6, 3 / group, 5, 3}), b.weight({6})},
                  {{Attr::group, group}, {Attr::strides, Ints{1, 2}}, {Attr::pads, Ints{0, 1, 0, 1}}}));
    testing::expect_shipped_rules_lead(b,
                                       "conv-whole-axis\nexpect Reshape 1\nexpect Conv 1\nexpect total 3\n");
  }
}

TEST(LayoutFamilies, ChannelsAreFilledUpBeforeAConvolution) {
  GraphBuilder b;
  b.output(b.op(OpKind::conv, {b.input({1, 15, 6, 6}), b.weight({16, 15, 3, 3})}));
  testing::expect_shipped_rules_lead(b, "conv-pad-inputs all\nexpect Pad 1\nexpect Conv 1\n");
}

TEST(LayoutFamilies, AGateAndWhatItPassesAreOneProduct) {
  GraphBuilder b;
  const Value x = image_conv(b, b.input({1, 16, 6, 6}), 16, 1);
  const Value gate = b.op(OpKind::sigmoid, {b.op(OpKind::global_average_pool, {x})});
  b.output(b.op(OpKind::add, {x, b.op(OpKind::mul, {x, gate})}));
  testing::expect_shipped_rules_lead(
      b, "gate-residual\nexpect Mul 1\nexpect Add 0\nexpect BatchNormalization 1\nexpect total 5\n");
}

// A residual block of rows, as audio networks have it, all in images of one row.
TEST(LayoutFamilies, RowsAreImagesOfOneRow) {
  GraphBuilder b;
  const Value x = b.input({1, 16, 32});
  const Value y = row_conv(b, b.op(OpKind::relu, {row_conv(b, x, 16)}), 16);
  const Value sum = b.op(OpKind::add, {x, b.op(OpKind::mul, {y, b.weight({16, 1})})});
  b.output(b.op(OpKind::max_pool, {sum}, {{Attr::kernel_shape, Ints{2}}, {Attr::strides, Ints{2}}}));
  testing::expect_shipped_rules_lead(
      b,
      "conv-rows 2\nrows-unary\nrows-back\nrows-constant\nrows-other-first\nrows-max-pool\nexpect Squeeze 1\n"
      "expect Unsqueeze 1\nexpect Conv 2\n");
}

/// Ten channels through what a mobile network has: pointwise, depthwise, a squeeze-excite gate, a residual, a
/// pool and a Concat.
Value narrow_block(GraphBuilder& b, Value x, std::int64_t channels) {
  const Value wide = b.op(OpKind::hard_swish, {b.op(OpKind::conv, {x, b.weight({channels, 10, 1, 1})})});
  const Value deep = image_conv(b, wide, channels, 3, channels);
  const Value squeezed = b.op(OpKind::global_average_pool, {deep});
  const Value gate = b.op(OpKind::sigmoid, {image_conv(b, squeezed, channels, 1)});
  const Value gated = b.op(OpKind::mul, {deep, gate});
  const Value sum = b.op(OpKind::add, {b.op(OpKind::mul, {wide, b.weight({channels, 1, 1})}), gated});
  const Value pooled = b.op(OpKind::max_pool, {b.op(OpKind::add, {sum, b.scalar(0.5)})},
                            {{Attr::kernel_shape, Ints{2, 2}}, {Attr::strides, Ints{2, 2}}});
  const Value joined = b.op(OpKind::concat, {pooled, pooled}, {{Attr::axis, std::int64_t{1}}});
  return b.op(OpKind::conv, {joined, b.weight({3, 2 * channels, 1, 1})});
}

TEST(LayoutFamilies, ChannelsAreFilledUpThroughAllThatAgreesInThem) {
  GraphBuilder b;
  b.output(narrow_block(b, b.input({1, 10, 6, 6}), 12));
  testing::expect_shipped_rules_lead(
      b,
      "channels-conv/block=16 all\nexpect Slice 2\nchannels-unary\nchannels-depthwise\nchannels-global\n"
      "channels-into-conv\nchannels-unary\nchannels-each\nchannels-binary 2\nchannels-number\n"
      "channels-max-pool\nchannels-into-concat 2\nexpect Slice 0\nexpect Pad 0\nexpect Conv 4\n");
}

TEST(LayoutFamilies, FilledUpChannelsTakeUpWhatAConvolutionWasFilledUpWith) {
  GraphBuilder b;
  const Value x = b.op(OpKind::conv, {b.input({1, 4, 6, 6}), b.weight({14, 4, 3, 3})});
  b.output(b.op(OpKind::conv, {b.op(OpKind::relu, {x}), b.weight({16, 14, 3, 3})}));
  testing::expect_shipped_rules_lead(
      b,
      "conv-pad-inputs all\nexpect Pad 1\nchannels-conv/block=8\nchannels-unary\n"
      "channels-padded\nexpect Pad 0\nexpect Slice 0\nexpect total 3\n");
}

// An unrolled recurrent network: the products of its steps' inputs are one.
TEST(LayoutFamilies, ProductsOfATensorsRowsAreOne) {
  GraphBuilder b;
  const Value x = b.input({3, 2, 4});
  const Value w = b.weight({8, 4}), bias = b.weight({8});
  for (const std::int64_t step : {0, 1, 2}) {
    const Value row = b.op(OpKind::gather, {x, b.integer(step)}, {{Attr::axis, std::int64_t{0}}});
    b.output(b.op(OpKind::tanh, {b.op(OpKind::gemm, {row, w, bias}, {{Attr::trans_b, std::int64_t{1}}})}));
  }
  testing::expect_shipped_rules_lead(b, "gemm-gathers\nexpect Gemm 0\nexpect MatMul 1\nexpect Gather 3\n");
}

}  // namespace
}
