// Families of rewrites that models in the wild want: each found by descent from a small model, and left alone
// where it does not pay or does not hold.
#include <gtest/gtest.h>

#include <vector>

#include "core/search/descend.h"

namespace regraft::search {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::Ints;
using graph::OpKind;
using graph::Value;
using rules::testing::GraphBuilder;
using testing::count;
using testing::descend;
using testing::Found;

Value gelu(GraphBuilder& b, Value x) {
  const Value erf = b.op(OpKind::erf, {b.op(OpKind::div, {x, b.scalar(1.41421354)})});
  return b.op(OpKind::mul, {b.op(OpKind::mul, {x, b.op(OpKind::add, {erf, b.scalar(1)})}), b.scalar(0.5)});
}

Value row_conv(GraphBuilder& b, Value x, std::int64_t out) {
  const std::int64_t in = b.graph().type(x).dims[1];
  return b.op(OpKind::conv, {x, b.weight({out, in, 5}), b.weight({out})}, {{Attr::pads, Ints{2, 2}}});
}

// Detectors of series: residual blocks of convolutions of rows with Gelus between, which stay in the blocked
// layout.
TEST(WildFamilies, BlocksOfRowsAndGelusBecomeImages) {
  GraphBuilder b;
  Value x = b.input({1, 32, 128});
  for (int block = 0; block < 3; ++block)
    x = gelu(b, b.op(OpKind::add, {x, row_conv(b, gelu(b, row_conv(b, x, 32)), 32)}));
  b.output(x);
  const Found found = descend(b);
  EXPECT_EQ(count(found.graph, OpKind::conv, 4), 6u);
  EXPECT_EQ(count(found.graph, OpKind::squeeze) + count(found.graph, OpKind::unsqueeze), 2u);
  EXPECT_GT(found.gain, 1.15);
}

TEST(WildFamilies, RowsStayRowsWhereTheLayoutIsLeftAtOnce) {
  GraphBuilder b;
  b.output(b.op(OpKind::softmax, {row_conv(b, b.input({1, 32, 16}), 32)}, {{Attr::axis, std::int64_t{2}}}));
  EXPECT_EQ(count(descend(b).graph, OpKind::conv, 3), 1u);
}

/// A convolution over all the electrodes, behind one over time.
Value montage(GraphBuilder& b, std::int64_t channels, std::int64_t electrodes, std::int64_t kernel) {
  const Value x = b.op(
      OpKind::relu, {b.op(OpKind::conv, {b.input({1, 1, electrodes, 200}), b.weight({channels, 1, 1, 5})})});
  return b.op(OpKind::conv, {x, b.weight({64, channels, kernel, 3})});
}

TEST(WildFamilies, AKernelAsLongAsAnAxisMakesChannelsOfIt) {
  GraphBuilder b;
  b.output(montage(b, 20, 32, 32));
  const Found found = descend(b);
  EXPECT_EQ(count(found.graph, OpKind::reshape), 1u);
  EXPECT_GT(found.gain, 1.1) << "20 channels take the time of 32";
}

TEST(WildFamilies, AxesStayWhereKernelsAreShorterOrChannelsWhole) {
  GraphBuilder shorter, whole;
  shorter.output(montage(shorter, 20, 32, 31));
  whole.output(montage(whole, 32, 32, 32));
  EXPECT_EQ(count(descend(shorter).graph, OpKind::reshape), 0u);
  EXPECT_EQ(count(descend(whole).graph, OpKind::reshape), 0u);
}

/// A convolution of rows of pixels, in the blocked layout but for its channels.
Value wide_conv(GraphBuilder& b, std::int64_t channels) {
  const Value x = b.input({1, channels, 32, 32});
  return b.op(OpKind::relu, {b.op(OpKind::conv, {x, b.weight({64, channels, 3, 3})})});
}

TEST(WildFamilies, ChannelsOffTheLayoutAreFilledUpWhereFewAreMissing) {
  GraphBuilder one, many;
  one.output(wide_conv(one, 63));
  many.output(wide_conv(many, 51));
  const Found found = descend(one);
  EXPECT_EQ(count(found.graph, OpKind::pad), 1u);
  EXPECT_GT(found.gain, 1.05);
  EXPECT_EQ(count(descend(many).graph, OpKind::pad), 0u) << "52 channels take the time of 64";
}

/// Letters, looked up and multiplied, as recurrent cells take their input.
Value letters(GraphBuilder& b, std::int64_t alphabet) {
  const Value rows = b.op(OpKind::gather, {b.weight({alphabet, 64}), b.input({3}, graph::DType::int64)});
  return b.op(OpKind::tanh, {b.op(OpKind::gemm, {rows, b.weight({64, 192}), b.weight({192})})});
}

TEST(WildFamilies, WhatIsComputedOfLettersIsATable) {
  GraphBuilder b;
  b.output(letters(b, 40));
  const Found found = descend(b);
  EXPECT_EQ(count(found.graph, OpKind::gather), 1u);
  EXPECT_EQ(count(found.graph, OpKind::gemm) + count(found.graph, OpKind::matmul), 0u);
  EXPECT_EQ(count(found.graph, OpKind::tanh), 0u);
}

TEST(WildFamilies, OfAVocabularyFarLargerThanItsRowsNoTableIsMade) {
  GraphBuilder b;
  b.output(letters(b, 1000));
  const Found found = descend(b);
  EXPECT_EQ(count(found.graph, OpKind::gemm) + count(found.graph, OpKind::matmul), 1u);
}

/// Steps, summed by weights that are computed.
Value pooled(GraphBuilder& b, std::int64_t columns) {
  const Value x = b.input({1, 225, 32}), weights = b.op(OpKind::sigmoid, {b.input({1, 225, columns})});
  return b.op(OpKind::reduce_sum, {b.op(OpKind::mul, {x, weights})},
              {{Attr::axes, Ints{1}}, {Attr::keepdims, std::int64_t{0}}});
}

TEST(WildFamilies, ASumByWeightsIsAProduct) {
  GraphBuilder b, each;
  b.output(pooled(b, 1));
  each.output(pooled(each, 32));
  EXPECT_EQ(count(descend(b).graph, OpKind::mul), 0u);
  EXPECT_EQ(count(descend(each).graph, OpKind::mul), 1u) << "each column has weights of its own";
}

Value summed(GraphBuilder& b, const graph::Ints& dims) {
  const Value x = b.op(OpKind::relu, {b.input({dims.begin(), dims.end()})});
  return b.op(OpKind::reduce_sum, {x}, {{Attr::axes, Ints{1}}, {Attr::keepdims, std::int64_t{0}}});
}

TEST(WildFamilies, RowsOfALoneMatrixAreSummedByAProduct) {
  GraphBuilder lone, small, column;
  lone.output(summed(lone, {1, 512, 1000}));  // measured 584 and 63 us
  small.output(summed(small, {1, 8, 16}));
  column.output(summed(column, {64000, 32, 1}));  // measured 14 and 0.3 ms
  EXPECT_EQ(count(descend(lone).graph, OpKind::matmul), 1u);
  EXPECT_EQ(count(descend(small).graph, OpKind::reduce_sum), 1u);
  const Found found = descend(column);
  EXPECT_EQ(count(found.graph, OpKind::reduce_sum, 2) + count(found.graph, OpKind::reduce_sum, 1), 1u);
  EXPECT_GT(found.gain, 10);
}

/// Each of many tokens attends to `others` that are its own.
Value attended(GraphBuilder& b, std::int64_t others) {
  const Value scores = b.op(OpKind::matmul, {b.input({4096, 1, 32}), b.input({4096, 32, others})});
  return b.op(OpKind::matmul, {b.op(OpKind::sigmoid, {scores}), b.input({4096, others, 32})});
}

TEST(WildFamilies, ManyProductsOfVectorsAreElementwise) {
  GraphBuilder one, eight;
  one.output(attended(one, 1));
  eight.output(attended(eight, 8));
  const Found found = descend(one);
  EXPECT_EQ(count(found.graph, OpKind::matmul), 0u);
  EXPECT_GT(found.gain, 2) << "measured 26 ms of 64,000 such tokens, 3 ms elementwise";
  EXPECT_EQ(count(descend(eight).graph, OpKind::matmul), 2u);
}

/// Each token's features weighed by one vector.
Value weighed(GraphBuilder& b, std::int64_t tokens) {
  return b.op(OpKind::matmul, {b.op(OpKind::relu, {b.input({1, tokens, 17})}), b.weight({17})});
}

TEST(WildFamilies, AProductWithAVectorIsOneWithAColumn) {
  GraphBuilder many, one;
  many.output(weighed(many, 8500));
  one.output(weighed(one, 1));
  const Found found = descend(many);
  EXPECT_EQ(count(found.graph, OpKind::squeeze), 1u);
  EXPECT_GT(found.gain, 8) << "measured 1428 and 79 us";
  EXPECT_EQ(count(descend(one).graph, OpKind::squeeze), 0u);
}

/// Each second element along an axis, from `first` on.
Value each_second(GraphBuilder& b, Value x, std::int64_t axis, std::int64_t first) {
  return b.op(OpKind::slice, {x},
              {{Attr::starts, Ints{first}},
               {Attr::ends, Ints{b.graph().type(x).dims[static_cast<std::size_t>(axis)]}},
               {Attr::axes, Ints{axis}},
               {Attr::steps, Ints{2}}});
}

/// YOLO's first layers: the four parts of an image, rows before columns, and a convolution.
Value focused(GraphBuilder& b, std::int64_t dilation) {
  const Value x = b.input({1, 3, 160, 160});
  std::vector<Value> parts;
  for (const std::int64_t column : {0, 1})
    for (const std::int64_t row : {0, 1})
      parts.push_back(each_second(b, each_second(b, x, 2, row), 3, column));
  const Value z = b.op(OpKind::concat, parts, {{Attr::axis, std::int64_t{1}}});
  const Value y = b.op(OpKind::conv, {z, b.weight({32, 12, 3, 3}), b.weight({32})},
                       {{Attr::pads, Ints(4, 1)}, {Attr::dilations, Ints(2, dilation)}});
  return b.op(OpKind::mul, {y, b.op(OpKind::sigmoid, {y})});
}

TEST(WildFamilies, AFirstConvolutionReadsTheImageItself) {
  GraphBuilder dense, dilated;
  dense.output(focused(dense, 1));
  dilated.output(focused(dilated, 2));
  const Found found = descend(dense);
  EXPECT_EQ(count(found.graph, OpKind::slice) + count(found.graph, OpKind::concat), 0u);
  EXPECT_GT(found.gain, 1.15) << "measured 1.28 at 320 pixels";
  EXPECT_EQ(count(descend(dilated).graph, OpKind::concat), 1u) << "a pixel and its neighbour part";
}

/// The largest Gelu along some axes.
Value largest(GraphBuilder& b, const Ints& dims, const Ints& axes) {
  return b.op(OpKind::reduce_max, {gelu(b, b.input({dims.begin(), dims.end()}))},
              {{Attr::axes, axes}, {Attr::keepdims, std::int64_t{0}}});
}

TEST(WildFamilies, TheLargestOfAFunctionThatFallsAndRisesIsThatOfAnEnd) {
  GraphBuilder last, rows;
  last.output(largest(last, {1, 64, 64, 64}, {2, 3}));
  rows.output(largest(rows, {1, 128, 256}, {1}));
  const Found found = descend(last);
  EXPECT_EQ(count(found.graph, OpKind::reduce_min), 1u);
  EXPECT_GT(found.gain, 2) << "measured 3.9";
  EXPECT_EQ(count(descend(rows).graph, OpKind::reduce_min), 0u)
      << "across rows a reduction costs more than a Gelu";
}

/// The sides of boxes, each by the probabilities of 16 bins along `axis`.
Value sides(GraphBuilder& b, std::int64_t axis) {
  const bool last = axis == 3;
  const Value bins = b.op(OpKind::reshape, {b.input({1, 64, 2100})},
                          {{Attr::shape, last ? Ints{1, 4, 2100, 16} : Ints{1, 4, 16, 2100}}});
  if (last)
    return b.op(OpKind::matmul, {b.op(OpKind::softmax, {bins}, {{Attr::axis, axis}}), b.weight({16, 1})});
  const Value sides_last = b.op(OpKind::transpose, {bins}, {{Attr::perm, Ints{0, 2, 1, 3}}});
  return b.op(OpKind::conv,
              {b.op(OpKind::softmax, {sides_last}, {{Attr::axis, axis}}), b.weight({1, 16, 1, 1})});
}

TEST(WildFamilies, BinsOfDetectorsAreWeighedBeforeTheyAreNormalised) {
  GraphBuilder first, last;
  first.output(sides(first, 1));
  last.output(sides(last, 3));
  const Found found = descend(first);
  EXPECT_EQ(count(found.graph, OpKind::softmax), 0u);
  EXPECT_GT(found.gain, 4) << "measured 10";
  EXPECT_EQ(count(descend(last).graph, OpKind::softmax), 1u) << "along the last axis it is fast";
}

/// A filter bank over signals; or over colours, with steps of two pixels.
Value filters(GraphBuilder& b, bool signals) {
  if (signals)
    return b.op(OpKind::conv, {b.input({1, 1, 32, 1000}), b.weight({8, 1, 1, 65})},
                {{Attr::pads, Ints{0, 32, 0, 32}}});
  return b.op(OpKind::conv, {b.input({1, 3, 128, 128}), b.weight({8, 3, 3, 3})},
              {{Attr::pads, Ints(4, 1)}, {Attr::strides, Ints{2, 2}}});
}

TEST(WildFamilies, NeighbouringOutputsOfLongFiltersAreChannels) {
  GraphBuilder signals, colours;
  signals.output(filters(signals, true));
  colours.output(filters(colours, false));
  const Found found = descend(signals);
  EXPECT_EQ(count(found.graph, OpKind::transpose), 1u);
  EXPECT_GT(found.gain, 1.15) << "measured 1.4";
  EXPECT_EQ(count(descend(colours).graph, OpKind::transpose), 0u) << "measured 0.86";
}

/// One map out of 64.
Value one_map(GraphBuilder& b, std::int64_t kernel) {
  const Value x =
      b.op(OpKind::relu, {b.op(OpKind::conv, {b.input({1, 64, 64, 64}), b.weight({64, 64, 1, 1})})});
  return b.op(OpKind::conv, {x, b.weight({1, 64, kernel, kernel}), b.weight({1})},
              {{Attr::pads, Ints(4, kernel / 2)}});
}

TEST(WildFamilies, OneOutputIsASumOfTheChannelsOfADepthwiseConvolution) {
  GraphBuilder image, point;
  image.output(one_map(image, 3));
  point.output(one_map(point, 1));
  const Found found = descend(image);
  EXPECT_EQ(count(found.graph, OpKind::conv), 3u);
  EXPECT_GT(found.gain, 1.5) << "measured 2.1";
  EXPECT_EQ(count(descend(point).graph, OpKind::conv), 2u);
}

/// Four layers of few channels: each over the image and then over the channels, or both at once.
Value narrow(GraphBuilder& b, std::int64_t channels, bool apart) {
  Value x = b.input({1, 3, 32, 32});
  const auto layer = [&](std::int64_t in, std::int64_t kernel, std::int64_t group) {
    const Value w = b.weight({channels, in / group, kernel, kernel});
    const AttrBlock attrs{{Attr::pads, Ints(4, kernel / 2)}, {Attr::group, group}};
    x = b.op(OpKind::relu, {b.op(OpKind::conv, {x, w, b.weight({channels})}, attrs)});
  };
  layer(3, 3, 1);
  for (int i = 0; i < 4; ++i) {
    layer(channels, 3, apart ? channels : 1);
    if (apart) layer(channels, 1, 1);
  }
  return b.op(OpKind::global_average_pool, {x});
}

TEST(WildFamilies, NarrowChannelsAreFilledUpThroughAWholeNetworkWhereItIsDepthwise) {
  GraphBuilder apart, at_once;
  apart.output(narrow(apart, 10, true));
  at_once.output(narrow(at_once, 10, false));
  const Found found = descend(apart);
  EXPECT_EQ(count(found.graph, OpKind::slice), 1u);
  EXPECT_EQ(count(found.graph, OpKind::conv), 9u);
  EXPECT_GT(found.gain, 1.5) << "measured 2.8";
  EXPECT_EQ(count(descend(at_once).graph, OpKind::slice), 0u) << "measured 0.88";
}

TEST(WildFamilies, ChannelsAreFilledUpToTheBlocksThatTheMachineHas) {
  GraphBuilder outside, inside;
  outside.output(narrow(outside, 18, true));
  inside.output(narrow(inside, 20, true));
  const Found found = descend(outside, 8);
  EXPECT_EQ(count(found.graph, OpKind::slice), 1u);
  for (graph::NodeId id = 0; id < found.graph.id_bound(); ++id)
    if (found.graph.alive(id) && found.graph.node(id).kind == OpKind::conv) {
      EXPECT_EQ(found.graph.type({id, 0}).dims[1], 24);
    }
  EXPECT_GT(found.gain, 1.5) << "measured 2.1; with 32, 1.5";
  EXPECT_LT(descend(inside, 8).gain, 1.1) << "in the layout as it is; measured 1.04";
}

/// Bytes compared with numbers `step` apart, multiplied, and put through a function by tanh, as Keras writes
/// both.
Value one_hot(GraphBuilder& b, std::int64_t step) {
  Ints numbers;
  for (std::int64_t i = 0; i < 257; ++i) numbers.push_back(i * step);
  const Value bytes = b.input({1, 256, 1}, graph::DType::int64);
  const Value hot = b.op(OpKind::equal, {bytes, b.integers({1, 1, 257}, numbers)});
  const Value rows = b.op(OpKind::cast, {hot}, {{Attr::to, std::int64_t{1}}});
  const Value x =
      b.op(OpKind::add, {b.op(OpKind::matmul, {rows, b.weight({257, 64})}), b.weight({1, 1, 64})});
  Value cube = b.op(OpKind::mul, {x, b.scalar(0.044715)});
  for (int i = 0; i < 2; ++i) cube = b.op(OpKind::mul, {x, cube});
  const Value bent = b.op(OpKind::mul, {b.op(OpKind::add, {x, cube}), b.scalar(0.79788458)});
  const Value gate = b.op(OpKind::add, {b.op(OpKind::tanh, {bent}), b.scalar(1)});
  return b.op(OpKind::mul, {x, b.op(OpKind::mul, {gate, b.scalar(0.5)})});
}

TEST(WildFamilies, AFunctionOfOneHotRowsIsATable) {
  GraphBuilder all, some;
  all.output(one_hot(all, 1));
  some.output(one_hot(some, 2));
  const Found found = descend(all), left = descend(some);
  EXPECT_EQ(count(found.graph, OpKind::gather), 1u);
  EXPECT_EQ(count(found.graph, OpKind::matmul) + count(found.graph, OpKind::tanh), 0u);
  EXPECT_GT(found.gain, 2);
  EXPECT_EQ(count(left.graph, OpKind::gather), 0u) << "numbers that are no rows";
  EXPECT_EQ(count(left.graph, OpKind::pow), 1u) << "in the order that the runtime fuses";
}

/// One query a head, and keys and values that heads share, repeated for them along `axis`.
Value shared_heads(GraphBuilder& b, std::int64_t axis) {
  const auto repeated = [&](Value x) {
    const Ints dims = axis == 2 ? Ints{1, 2, 7, 256, 64} : Ints{1, 7, 2, 256, 64};
    const Value wide = b.op(OpKind::expand, {b.op(OpKind::unsqueeze, {x}, {{Attr::axes, Ints{axis}}})},
                            {{Attr::shape, dims}});
    return b.op(OpKind::reshape, {wide}, {{Attr::shape, Ints{1, 14, 256, 64}}});
  };
  const Value keys =
      b.op(OpKind::transpose, {repeated(b.input({1, 2, 256, 64}))}, {{Attr::perm, Ints{0, 1, 3, 2}}});
  const Value scores = b.op(OpKind::matmul, {b.input({1, 14, 1, 64}), keys});
  const Value p = b.op(OpKind::softmax, {scores}, {{Attr::axis, std::int64_t{3}}});
  return b.op(OpKind::matmul, {p, repeated(b.input({1, 2, 256, 64}))});
}

TEST(WildFamilies, KeysAndValuesThatHeadsShareAreNotRepeated) {
  GraphBuilder neighbours, apart;
  neighbours.output(shared_heads(neighbours, 2));
  apart.output(shared_heads(apart, 1));
  const Found found = descend(neighbours);
  EXPECT_EQ(count(found.graph, OpKind::expand), 0u);
  EXPECT_GT(found.gain, 2);
  EXPECT_EQ(count(descend(apart).graph, OpKind::expand), 2u)
      << "heads that share keys are not next to each other";
}

}  // namespace
}
