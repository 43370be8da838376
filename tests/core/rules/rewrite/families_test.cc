// Families of rules that no model of tests/models has a use for: a small model of each, and the script that
// leads it to the form meant.
#include <gtest/gtest.h>

#include <set>

#include "core/rules/leads.h"
#include "core/rules/match/match_index.h"

namespace regraft::rules {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::Ints;
using graph::OpKind;
using testing::GraphBuilder;
using testing::Value;

const std::string kRules = std::string(REGRAFT_SOURCE_DIR) + "/configs/rules";

// By the rules that are loaded unless others are asked for, and those that make a runtime's own ops.
void expect_leads(GraphBuilder& b, const std::string& script) {
  static const RuleSet rules = RuleSet::load(kRules, {RuleStatus::bounded_checked, {"com.microsoft"}});
  testing::expect_leads(b, script, rules);
}

// By a rule that is only tested, too.
void expect_tested_rules_lead(GraphBuilder& b, const std::string& script) {
  static const RuleSet rules = RuleSet::load(kRules, RuleChoice::all());
  testing::expect_leads(b, script, rules);
}

Value conv(GraphBuilder& b, Value x, std::int64_t in, std::int64_t out, std::int64_t k,
           std::int64_t group = 1) {
  return b.op(OpKind::conv, {x, b.weight({out, in / group, k, k}), b.weight({out})},
              {{Attr::pads, Ints(4, k / 2)}, {Attr::group, group}});
}

Value relu(GraphBuilder& b, Value x) {
  return b.op(OpKind::relu, {x});
}

Value reshape(GraphBuilder& b, Value x, Ints dims) {
  return b.op(OpKind::reshape, {x}, {{Attr::shape, std::move(dims)}});
}

Value transpose(GraphBuilder& b, Value x, Ints perm) {
  return b.op(OpKind::transpose, {x}, {{Attr::perm, std::move(perm)}});
}

AttrBlock axis(std::int64_t at) {
  return {{Attr::axis, at}};
}

// Groups of 12 channels do not fill a block of 16: zeros do, on both sides of the grouped convolution.
TEST(Families, GroupsArePaddedToTheBlock) {
  GraphBuilder b;
  const Value x = b.input({1, 6, 4, 4});
  const Value grouped = relu(b, conv(b, relu(b, conv(b, x, 6, 24, 1)), 24, 24, 3, 2));
  b.output(conv(b, grouped, 24, 6, 1));
  expect_leads(b, "conv-pad-channels 2\nexpect Conv 3\nexpect Relu 2\nexpect total 5\n");
}

Value shuffled(GraphBuilder& b, Value x, std::int64_t groups, std::int64_t channels) {
  return reshape(b, transpose(b, reshape(b, x, {1, groups, channels / groups, 4, 4}), {0, 2, 1, 3, 4}),
                 {1, channels, 4, 4});
}

// A unit of a ShuffleNet: the shuffle between depthwise and pointwise convolution goes into the weights.
TEST(Families, ShufflesOfChannelsGoIntoTheWeights) {
  GraphBuilder b;
  const Value y = shuffled(b, relu(b, conv(b, conv(b, b.input({1, 4, 4, 4}), 4, 8, 1), 8, 8, 3, 8)), 2, 8);
  b.output(conv(b, y, 8, 4, 1));
  expect_leads(b, "shuffle-gather\ngather-conv\nexpect Gather 0\nexpect total 4\n");
  expect_leads(
      b,
      "shuffle-gather\ngather-unary\ngather-depthwise\ngather-conv-out\nexpect Gather 0\nexpect total 4\n");
}

// Parts of the channels, each with a convolution of its own, as groups of one; and back.
TEST(Families, ParallelConvolutionsAreGroups) {
  GraphBuilder b;
  const Value x = b.input({1, 8, 4, 4});
  const graph::NodeId parts =
      b.node(OpKind::split, {x}, {{Attr::axis, std::int64_t{1}}, {Attr::split, Ints{4, 4}}});
  b.output(b.op(OpKind::concat, {conv(b, {parts, 0}, 4, 2, 3), conv(b, {parts, 1}, 4, 2, 3)}, axis(1)));
  expect_leads(b, "split-convs\nconcat-split\nexpect Conv 1\nexpect total 1\n");
  expect_leads(
      b, "concat-convs\nconcat-split\nexpect Conv 1\nexpect total 1\nconv-group-halves\nexpect Conv 2\n");
}

// Squeeze and excite: the computed scale goes into the weights of the next convolution.
TEST(Families, ASqueezedScaleGoesIntoTheWeights) {
  GraphBuilder b;
  const Value x = relu(b, conv(b, b.input({1, 3, 4, 4}), 3, 8, 3));
  const Value s = b.op(OpKind::sigmoid,
                       {conv(b, relu(b, conv(b, b.op(OpKind::global_average_pool, {x}), 8, 2, 1)), 2, 8, 1)});
  b.output(conv(b, b.op(OpKind::mul, {x, s}), 8, 4, 1));
  expect_leads(b, "scale-conv\nexpect Mul 1\nexpect Conv 4\n");
}

// An inverted bottleneck, its wide hidden channels in four groups.
TEST(Families, InvertedBottlenecksAreSplitIntoGroupsOfChannels) {
  GraphBuilder b;
  const Value wide = relu(b, conv(b, b.input({1, 2, 4, 4}), 2, 16, 1));
  b.output(conv(b, relu(b, conv(b, wide, 16, 16, 3, 16)), 16, 2, 1));
  expect_leads(b, "bottleneck-halves\nexpect Conv 6\nbottleneck-halves 2\nexpect Conv 12\nexpect Add 3\n");
}

// Masked attention: the division by the sum comes after the product with the values.
TEST(Families, SoftmaxIsDeferredPastTheValues) {
  GraphBuilder b;
  const Value scores = b.op(OpKind::matmul, {b.input({2, 4, 3}), b.input({2, 3, 5})});
  const Value masked = b.op(OpKind::add, {scores, b.input({1, 1, 5})});
  b.output(b.op(OpKind::matmul, {b.op(OpKind::softmax, {masked}, axis(-1)), b.input({2, 5, 3})}));
  expect_leads(b, "softmax-deferred\nexpect Softmax 0\nexpect Exp 1\nexpect Div 1\n");
}

/// A number for each side of a box, as detectors read it from the probabilities of its bins.
Value side_of_bins(GraphBuilder& b, bool transposed) {
  const Value x = transposed ? transpose(b, b.input({2, 4, 5, 7}), {0, 2, 1, 3}) : b.input({2, 5, 4, 7});
  return b.op(OpKind::conv, {b.op(OpKind::softmax, {x}, axis(1)), b.weight({1, 5, 1, 1}), b.weight({1})});
}

TEST(Families, BinsAreWeighedBeforeTheyAreNormalised) {
  for (const bool transposed : {false, true}) {
    GraphBuilder b;
    b.output(side_of_bins(b, transposed));
    expect_leads(b, transposed ? "softmax-conv-transposed\nexpect Softmax 0\nexpect Conv 0\nexpect MatMul 1\n"
                               : "softmax-conv\nexpect Softmax 0\nexpect Conv 1\nexpect Div 1\n");
  }
  GraphBuilder b;
  const Value p = b.op(OpKind::softmax, {b.input({2, 5, 7})}, axis(1));
  b.output(b.op(OpKind::matmul, {b.weight({3, 5}), p}));
  expect_leads(b, "softmax-contract\nexpect Softmax 0\nexpect MatMul 1\nexpect Div 1\n");
}

TEST(Families, TheLargestOfAFunctionIsThatOfAnEnd) {
  const auto largest = [](const std::string& rule, auto function, const std::string& kind, int count) {
    GraphBuilder b;
    b.output(b.op(OpKind::reduce_max, {function(b, b.input({2, 3, 5}))},
                  {{Attr::axes, Ints{1, 2}}, {Attr::keepdims, std::int64_t{0}}}));
    expect_leads(b, rule + "\nexpect " + kind + " " + std::to_string(count) + "\nexpect ReduceMax 1\n");
  };
  const auto gelu = [](GraphBuilder& b, Value x) { return b.op(OpKind::gelu, {x}); };
  const auto silu = [](GraphBuilder& b, Value x) {
    return b.op(OpKind::mul, {b.op(OpKind::sigmoid, {x}), x});
  };
  const auto gelu_in_parts = [](GraphBuilder& b, Value x) {
    const Value erf = b.op(OpKind::erf, {b.op(OpKind::div, {x, b.scalar(1.41421354)})});
    return b.op(OpKind::mul, {b.op(OpKind::mul, {x, b.op(OpKind::add, {erf, b.scalar(1)})}), b.scalar(0.5)});
  };
  const auto hard_swish_in_parts = [](GraphBuilder& b, Value x) {
    const AttrBlock gate{{Attr::alpha, 1.0 / 6}, {Attr::beta, 0.5}};
    return b.op(OpKind::mul, {x, b.op(OpKind::hard_sigmoid, {x}, gate)});
  };
  largest("max-monotone", relu, "ReduceMin", 0);
  largest("max-valley", gelu, "Gelu", 2);
  largest("max-silu", silu, "Sigmoid", 2);
  largest("max-gelu-parts", gelu_in_parts, "Erf", 2);
  largest("max-hard-swish-parts", hard_swish_in_parts, "HardSigmoid", 2);
  GraphBuilder b;
  b.output(b.op(OpKind::global_max_pool, {gelu(b, b.input({2, 3, 4, 5}))}));
  expect_leads(b, "global-max-reduce\nmax-valley\nexpect ReduceMin 1\nexpect GlobalMaxPool 0\n");
}

// One slope is an attribute, which runtimes fuse; slopes of channels are factors.
TEST(Families, SlopesAreFactorsAndOneIsLeakyRelus) {
  GraphBuilder b;
  const Value x = b.op(OpKind::prelu, {b.input({2, 3, 4}), b.weight({3, 1})});
  b.output(b.op(OpKind::prelu, {x, b.scalar(0.25)}));
  expect_leads(b, "prelu-leaky\nprelu-parts\nexpect LeakyRelu 1\nexpect Mul 2\nexpect total 5\n");
}

TEST(Families, AProductWithAVectorIsOneWithAColumn) {
  GraphBuilder b;
  b.output(b.op(OpKind::matmul, {b.input({2, 3, 5}), b.weight({5})}));
  expect_leads(b, "matmul-vector\nexpect MatMul 1\nexpect Squeeze 1\nexpect total 2\n");
}

// Letters, looked up, scaled, multiplied twice and put through a function: one table.
TEST(Families, WhatIsComputedOfLettersIsATable) {
  GraphBuilder b;
  const Value rows = b.op(OpKind::gather, {b.weight({9, 6}), b.input({3}, graph::DType::int64)});
  const Value hidden = b.op(OpKind::matmul, {b.op(OpKind::mul, {rows, b.scalar(2)}), b.weight({6, 5})});
  b.output(b.op(OpKind::tanh, {b.op(OpKind::gemm, {hidden, b.weight({5, 4}), b.weight({4})})}));
  expect_leads(b, "table-binary\ntable-matmul\ntable-gemm\ntable-unary\nexpect Gather 1\nexpect total 1\n");
}

// Each letter compared with all of them: rows of a table, and its function by tanh in the order that runtimes
// fuse.
TEST(Families, LettersComparedWithAllAreRowsOfATable) {
  GraphBuilder b;
  const Value letters = b.integers({1, 1, 4}, {0, 1, 2, 3});
  const Value hot = b.op(OpKind::equal, {b.input({2, 5, 1}, graph::DType::int64), letters});
  const Value float_hot = b.op(OpKind::cast, {hot}, {{Attr::to, std::int64_t{1}}});
  const Value x = b.op(OpKind::matmul, {float_hot, b.weight({4, 6})});
  const Value cube =
      b.op(OpKind::mul, {x, b.op(OpKind::mul, {x, b.op(OpKind::mul, {x, b.scalar(0.044715)})})});
  const Value bent =
      b.op(OpKind::tanh, {b.op(OpKind::mul, {b.op(OpKind::add, {x, cube}), b.scalar(0.79788458)})});
  const Value gate = b.op(OpKind::mul, {b.scalar(0.5), b.op(OpKind::add, {bent, b.scalar(1)})});
  b.output(b.op(OpKind::mul, {x, gate}));
  expect_leads(
      b, "tanh-gelu-form\ntable-one-hot\nexpect Gather 1\nexpect MatMul 0\nexpect Equal 0\nexpect Pow 1\n");
}

// Attention pooling: the bias of the scores cancels, the sum of the steps is a product.
TEST(Families, StepsAreSummedByAProduct) {
  for (const std::int64_t keep : {0, 1}) {
    GraphBuilder b;
    const Value x = b.input({2, 5, 3});
    const Value scores = b.op(OpKind::add, {b.op(OpKind::matmul, {x, b.weight({3, 1})}), b.weight({1})});
    const Value weighted = b.op(OpKind::mul, {b.op(OpKind::softmax, {scores}, axis(1)), x});
    b.output(b.op(OpKind::reduce_sum, {weighted}, {{Attr::axes, Ints{1}}, {Attr::keepdims, keep}}));
    const std::string summed = keep == 1 ? "sum-weighted-kept" : "sum-weighted";
    expect_leads(b, "softmax-shift-scalar\n" + summed +
                        "\nexpect Add 0\nexpect Mul 0\nexpect ReduceSum 0\nexpect Reshape 0\n");
  }
}

TEST(Families, SumsAndMeansOfRowsAreProducts) {
  for (const std::int64_t keep : {0, 1}) {
    for (const bool mean : {false, true}) {
      GraphBuilder b;
      const Value x = relu(b, b.input({1, 6, 4}));
      b.output(b.op(mean ? OpKind::reduce_mean : OpKind::reduce_sum, {x},
                    {{Attr::axes, Ints{1}}, {Attr::keepdims, keep}}));
      expect_leads(b, std::string(mean ? "mean" : "sum") + "-rows" + (keep == 1 ? "-kept" : "") +
                          "\nexpect MatMul 1\nexpect ReduceSum 0\nexpect ReduceMean 0\n");
    }
  }
}

// Attention of each token to one other.
TEST(Families, ProductsOfVectorsAreElementwise) {
  GraphBuilder b;
  const Value score = b.op(OpKind::matmul, {b.input({7, 2, 1, 5}), b.input({7, 2, 5, 1})});
  b.output(b.op(OpKind::matmul, {b.op(OpKind::tanh, {score}), b.input({7, 2, 1, 3})}));
  expect_leads(b, "dot-mul\nouter-mul\nexpect MatMul 0\nexpect Mul 2\nexpect ReduceSum 1\n");
}

// Windows cut out of an image and put together again: one Gather of rows each way, and one of both.
TEST(Families, ChainsOfReshapesAndTransposesAreOneGather) {
  GraphBuilder b;
  const Value x = b.input({1, 4, 4, 3});
  const Value windows =
      reshape(b, transpose(b, reshape(b, x, {1, 2, 2, 2, 2, 3}), {0, 1, 3, 2, 4, 5}), {4, 4, 3});
  const Value y = b.op(OpKind::transpose, {reshape(b, transpose(b, windows, {1, 0, 2}), {2, 2, 4, 3})},
                       {{Attr::perm, Ints{1, 2, 0, 3}}});
  b.output(relu(b, y));
  expect_leads(b,
               "window-rows\nshuffle-rows\nreshape-reshape all\nreshape-identity all\ngather-gather\nexpect "
               "Gather 1\nexpect Transpose 0\n");
}

TEST(Families, JoinedProductsAndSumsAreOne) {
  GraphBuilder b;
  const Value x = b.input({2, 3}), y = b.input({2, 3});
  const Value w = b.weight({3, 4});
  const Value columns = b.op(
      OpKind::concat, {b.op(OpKind::matmul, {x, w}), b.op(OpKind::matmul, {x, b.weight({3, 2})})}, axis(1));
  const Value rows =
      b.op(OpKind::concat, {b.op(OpKind::matmul, {x, w}), b.op(OpKind::matmul, {y, w})}, axis(0));
  const Value sums = b.op(OpKind::concat, {b.op(OpKind::add, {x, y}), b.op(OpKind::add, {y, y})}, axis(0));
  for (const Value v : {columns, rows, sums}) b.output(v);
  expect_leads(b, "concat-matmuls\nconcat-matmul-rows\nconcat-binary\nexpect MatMul 2\nexpect Add 1\n");
}

/// softmax(q k * scale + mask) v of four heads, as exporters write it.
void masked_attention(GraphBuilder& b, bool factors, bool masked) {
  const auto heads = [&](Ints dims, Ints perm) {
    const Ints apart{dims[0], dims[1], 4, dims[2] / 4};
    return transpose(b, reshape(b, b.input(dims), apart), std::move(perm));
  };
  Value q = heads({2, 3, 8}, {0, 2, 1, 3}), k = heads({2, 5, 8}, {0, 2, 3, 1});
  const Value v = heads({2, 5, 12}, {0, 2, 1, 3}), c = b.literal({}, {0.5F});
  if (factors) q = b.op(OpKind::mul, {q, c}), k = b.op(OpKind::mul, {k, c});
  Value scores = b.op(OpKind::matmul, {q, k});
  if (!factors) scores = b.op(OpKind::mul, {scores, c});
  if (masked) scores = b.op(OpKind::add, {scores, b.input({2, 1, 1, 5})});
  const Value mixed = b.op(OpKind::matmul, {b.op(OpKind::softmax, {scores}, axis(-1)), v});
  b.output(reshape(b, transpose(b, mixed, {0, 2, 1, 3}), {2, 3, 12}));
}

TEST(Families, AttentionIsOneOperation) {
  for (const bool factors : {false, true})
    for (const bool masked : {false, true}) {
      GraphBuilder b;
      masked_attention(b, factors, masked);
      // With a mask and factors the rule's examples are too many to enumerate: it is tested only.
      const auto leads = factors && masked ? expect_tested_rules_lead : expect_leads;
      leads(b, std::string("attention-op") + (masked ? "-masked" : "") + (factors ? "-factors" : "-scaled") +
                   "\nreshape-identity all\nexpect MultiHeadAttention 1\nexpect Softmax 0\nexpect "
                   "Reshape 0\nexpect total " +
                   (masked ? "2" : "1") + "\n");
    }
}

// Tokens first, in a batch of one, and a factor on all queries.
TEST(Families, AttentionOfTokensIsOneOperation) {
  GraphBuilder b;
  const auto heads = [&](Value x, Ints perm) {
    return transpose(b, reshape(b, x, {5, 2, 3}), std::move(perm));
  };
  const Value q = b.op(OpKind::mul, {b.input({1, 5, 6}), b.literal({1}, {0.75F})});
  const Value scores = b.op(OpKind::matmul, {heads(q, {1, 0, 2}), heads(b.input({1, 5, 6}), {1, 2, 0})});
  const Value mixed =
      b.op(OpKind::matmul, {b.op(OpKind::softmax, {scores}, axis(-1)), heads(b.input({5, 1, 6}), {1, 0, 2})});
  b.output(reshape(b, transpose(b, mixed, {1, 0, 2}), {5, 6}));
  expect_leads(b,
               "attention-op-first\nexpect MultiHeadAttention "
               "1\nreshape-identity all\nattention-op-query\nexpect Mul 0\n");
}

// Squeeze and excite: the factor of each channel is repeated to the pixels, and back.
TEST(Families, AFactorOfChannelsIsResizedToThePixels) {
  GraphBuilder b;
  const Value x = relu(b, conv(b, b.input({2, 3, 4, 5}), 3, 8, 3));
  const Value s = b.op(OpKind::sigmoid,
                       {conv(b, relu(b, conv(b, b.op(OpKind::global_average_pool, {x}), 8, 2, 1)), 2, 8, 1)});
  b.output(conv(b, b.op(OpKind::mul, {x, s}), 8, 4, 1));
  expect_leads(b, "scale-resize\nexpect Resize 1\nexpect Mul 1\nresize-scale\nexpect Resize 0\n");
}

// An average of an image that may be smaller than the window is one where a convolution is refused.
TEST(Families, AveragesBecomeConvolutionsWhereTheirWindowsFit) {
  static const RuleSet rules = RuleSet::load(kRules);
  const auto names = [](bool dynamic, std::int64_t k, std::int64_t stride, std::int64_t pad) {
    GraphBuilder b;
    const std::int64_t side = dynamic ? graph::symbol_dim(b.tables().symbol("side")) : 5;
    const Value x = b.op(OpKind::conv, {b.input({1, 4, side, side}), b.weight({4, 4, 1, 1})});
    b.output(b.op(OpKind::average_pool, {x},
                  {{Attr::kernel_shape, Ints{k, k}},
                   {Attr::strides, Ints(2, stride)},
                   {Attr::pads, Ints(4, pad)},
                   {Attr::count_include_pad, std::int64_t{1}}}));
    const MatchIndex index(rules, b.graph());
    std::set<std::string> found;
    for (std::uint32_t rule = 0; rule < rules.size(); ++rule)
      if (!index.matches(rule).empty()) found.insert(rules.info(rule).name);
    return std::pair(found.contains("average-pool-conv"), found.contains("conv-average"));
  };
  const bool dynamic = true;
  EXPECT_EQ(names(!dynamic, 3, 1, 0), std::pair(true, true));
  EXPECT_EQ(names(!dynamic, 3, 1, 1), std::pair(true, false)) << "padding";
  EXPECT_EQ(names(dynamic, 3, 1, 0), std::pair(false, false)) << "an empty map where the side is 2";
  EXPECT_EQ(names(dynamic, 3, 2, 0), std::pair(false, false)) << "an empty map where the side is 1";
  EXPECT_EQ(names(dynamic, 2, 2, 0), std::pair(false, true)) << "a map of one where the side is 1";
  EXPECT_EQ(names(dynamic, 3, 2, 1), std::pair(true, false)) << "the padding alone nearly fills a window";
  EXPECT_EQ(names(dynamic, 4, 2, 1), std::pair(false, false));
}

// A Slice may keep nothing of a dynamic side, and a convolution refuses that.
TEST(Families, PixelsAreSlicedBeforeAConvolutionWhereSomeAreLeft) {
  static const RuleSet rules = RuleSet::load(kRules);
  const auto matches = [](std::int64_t axis) {
    GraphBuilder b;
    const std::int64_t side = graph::symbol_dim(b.tables().symbol("side"));
    const Value x = b.op(OpKind::conv, {b.input({1, 4, side, 8}), b.weight({4, 4, 1, 1})});
    b.output(b.op(
        OpKind::slice, {x},
        {{Attr::starts, Ints{4}}, {Attr::ends, Ints{7}}, {Attr::axes, Ints{axis}}, {Attr::steps, Ints{1}}}));
    const MatchIndex index(rules, b.graph());
    return index.matches(static_cast<std::uint32_t>(rules.find("slice-pixels").value())).size();
  };
  EXPECT_EQ(matches(2), 0U) << "empty where the side is 4";
  EXPECT_EQ(matches(3), 1U);
}

TEST(Families, ConvolutionsOfSumsAndAverages) {
  GraphBuilder b;
  const Value x = b.input({1, 4, 5, 5}), y = b.input({1, 4, 5, 5});
  const AttrBlock window{
      {Attr::kernel_shape, Ints{3, 3}}, {Attr::pads, Ints(4, 1)}, {Attr::count_include_pad, std::int64_t{1}}};
  const Value averaged = b.op(OpKind::average_pool, {b.op(OpKind::add, {x, y})}, window);
  b.output(conv(b, averaged, 4, 2, 1));
  expect_leads(b,
               "average-conv-bias\nconv-distribute\nexpect Conv 2\nconv-add-inputs\nexpect Conv "
               "1\naverage-pool-conv\nexpect AveragePool 0\n");
}

}  // namespace
}
