// The substitutions that TASO has in its source, beside those that it generates (core/rulegen reads these),
// and the rules that lead a graph of each pattern to what TASO makes of it.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "core/rules/leads.h"
#include "core/rules/match/match_index.h"
#include "core/rules/shipped.h"

namespace regraft::rules {
namespace {

using graph::Attr;
using graph::Ints;
using graph::OpKind;
using testing::GraphBuilder;
using testing::Value;

/// A convolution that keeps the image's size, as TASO's PD_MODE_SAME, or with stride 2.
Value conv(GraphBuilder& b, Value x, Ints weight, std::int64_t stride = 1, std::int64_t group = 1) {
  return b.op(OpKind::conv, {x, b.weight(weight)},
              {{Attr::pads, Ints(4, weight[2] / 2)}, {Attr::strides, Ints(2, stride)}, {Attr::group, group}});
}
Value image(GraphBuilder& b, std::int64_t channels = 4) {
  return b.input({1, channels, 6, 6});
}
Value relu(GraphBuilder& b, Value x) {
  return b.op(OpKind::relu, {x});
}
Value average(GraphBuilder& b, Value x) {
  return b.op(OpKind::average_pool, {x},
              {{Attr::kernel_shape, Ints{3, 3}},
               {Attr::pads, Ints(4, 1)},
               {Attr::count_include_pad, std::int64_t{1}}});
}

void conv_relu(GraphBuilder& b) {
  b.output(relu(b, conv(b, image(b), {8, 4, 3, 3})));
}
void conv_batch(GraphBuilder& b, std::int64_t stride) {
  b.output(b.op(OpKind::batch_norm, {conv(b, image(b), {8, 4, 3, 3}, stride), b.weight({8}), b.weight({8}),
                                     b.weight({8}), b.weight({8}, 0.5, 2)}));
}
void conv_mul(GraphBuilder& b, std::int64_t stride) {
  b.output(b.op(OpKind::mul, {conv(b, image(b), {8, 4, 3, 3}, stride), b.weight({8, 1, 1})}));
}
void conv_mul_computed(GraphBuilder& b) {
  b.output(b.op(OpKind::mul, {conv(b, image(b), {8, 4, 3, 3}), b.input({1, 8, 1, 1})}));
}
void conv_add(GraphBuilder& b, std::int64_t stride) {
  b.output(b.op(OpKind::add, {conv(b, image(b), {8, 4, 3, 3}, stride), b.weight({8, 1, 1})}));
}
void two_convs(GraphBuilder& b, bool active) {
  const Value x = image(b);
  for (const Value y : {conv(b, x, {8, 4, 1, 1}), conv(b, x, {8, 4, 3, 3})})
    b.output(active ? relu(b, y) : y);
}
void grouped_conv(GraphBuilder& b, std::int64_t stride, bool active) {
  const Value y = conv(b, image(b, 8), {8, 2, 3, 3}, stride, 4);
  b.output(active ? relu(b, y) : y);
}
void separable_convs(GraphBuilder& b) {
  const Value u = conv(b, image(b), {4, 4, 3, 3}), v = conv(b, image(b), {4, 4, 3, 3});
  b.output(b.op(OpKind::add, {conv(b, u, {8, 4, 1, 1}), conv(b, v, {8, 4, 1, 1})}));
}
void equal_convs(GraphBuilder& b) {
  const Value x = relu(b, image(b));
  for (const std::int64_t channels : {2, 6}) b.output(conv(b, x, {channels, 4, 3, 3}));
}
void two_products(GraphBuilder& b) {
  const Value x = b.input({3, 4});
  for (const std::int64_t columns : {2, 5}) b.output(b.op(OpKind::matmul, {x, b.weight({4, columns})}));
}
void product_relu(GraphBuilder& b) {
  b.output(relu(b, b.op(OpKind::matmul, {b.input({3, 4}), b.weight({4, 5})})));
}
void residual(GraphBuilder& b) {
  const Value x = relu(b, image(b));
  b.output(b.op(OpKind::add, {conv(b, x, {4, 4, 3, 3}), x}));
}
void joined(GraphBuilder& b) {
  b.output(b.op(OpKind::concat, {relu(b, image(b)), b.op(OpKind::tanh, {image(b)})},
                {{Attr::axis, std::int64_t{1}}}));
}

struct Row {
  const char* taso;  // the function's name and arguments
  std::function<void(GraphBuilder&)> pattern;
  const char* script;  // the rules, and what must then be there; empty: there is no such rewrite, since
  const char* why = "";
};

constexpr const char* kNoActivation =
    "no standard op computes both: the runtime fuses them as it loads the model, which the cost model counts";

const std::array kRows = {
    // What its search uses.
    Row{"create_conv_relu(1 or 2, SAME or VALID)", conv_relu, "", kNoActivation},
    Row{"create_conv_batch(1, SAME or VALID)", [](auto& b) { conv_batch(b, 1); },
        "conv-bn\nexpect BatchNormalization 0\nexpect total 1"},
    Row{"create_conv_batch(2, SAME or VALID)", [](auto& b) { conv_batch(b, 2); },
        "conv-bn\nexpect BatchNormalization 0\nexpect total 1"},
    // TASO's factor is any tensor, and is dropped: sound where it is one for each channel.
    Row{"create_conv_mul(1, SAME or VALID)", [](auto& b) { conv_mul(b, 1); },
        "conv-mul\nexpect Mul 0\nexpect total 1"},
    Row{"create_conv_mul(2, SAME or VALID)", [](auto& b) { conv_mul(b, 2); },
        "conv-mul\nexpect Mul 0\nexpect total 1"},
    Row{"create_conv_mul, a factor that is computed", conv_mul_computed,
        "conv-scale\nexpect Mul 1\nexpect Conv 1"},  // of the weights
    Row{"create_conv_add(1, SAME or VALID)", [](auto& b) { conv_add(b, 1); },
        "conv-add\nexpect Add 0\nexpect total 1"},
    Row{"create_conv_add(2, SAME or VALID)", [](auto& b) { conv_add(b, 2); },
        "conv-add\nexpect Add 0\nexpect total 1"},
    Row{"create_enlarge_merge_convs(NONE)", [](auto& b) { two_convs(b, false); },
        "conv-enlarge/n=3\nconv-siblings\nexpect Conv 1\nexpect Split 1\nexpect total 2"},
    Row{"create_enlarge_merge_convs(RELU)", [](auto& b) { two_convs(b, true); },
        "conv-enlarge/n=3\nconv-siblings\nunary-split\nexpect Conv 1\nexpect Relu 1\nexpect Split 1\nexpect "
        "total 3"},
    Row{"create_merge_group_convs(1, NONE)", [](auto& b) { grouped_conv(b, 1, false); },
        "conv-merge-groups/m=2\nexpect Conv 1\nexpect total 1"},
    Row{"create_merge_group_convs(1, RELU)", [](auto& b) { grouped_conv(b, 1, true); },
        "conv-merge-groups/m=2\nexpect Conv 1\nexpect total 2"},
    Row{"create_merge_group_convs(2, NONE)", [](auto& b) { grouped_conv(b, 2, false); },
        "conv-merge-groups/m=2\nexpect Conv 1\nexpect total 1"},
    Row{"create_merge_group_convs(2, RELU)", [](auto& b) { grouped_conv(b, 2, true); },
        "conv-merge-groups/m=2\nexpect Conv 1\nexpect total 2"},
    // What stands in its source, unused.
    Row{"create_avg_pool_conv", [](auto& b) { b.output(average(b, image(b))); },
        "average-pool-conv\nexpect AveragePool 0\nexpect Conv 1\nexpect total 1"},
    // Two averages of one tensor that are added, as its comments say.
    Row{"create_two_pools",
        [](auto& b) {
          const Value x = image(b);
          b.output(b.op(OpKind::add, {average(b, x), conv(b, x, {4, 1, 3, 3}, 1, 4)}));
        },
        "average-pool-conv\nconv-add-weights\nexpect Conv 1\nexpect total 1"},
    Row{"create_merge_seperable_convs", separable_convs,
        "conv-sum\nconcat-convs\nexpect Conv 2\nexpect Concat 1\nexpect Add 0\nexpect total 3"},
    // What its predecessor MetaFlow has, still named there.
    Row{"create_fuse_conv_batch_xfer", [](auto& b) { conv_batch(b, 1); }, "conv-bn\nexpect total 1"},
    Row{"create_fuse_conv_relu_xfer", conv_relu, "", kNoActivation},
    Row{"create_fuse_mm_acti_xfer", product_relu, "", kNoActivation},
    Row{"create_merge_conv_xfer", equal_convs,
        "conv-siblings\nexpect Conv 1\nexpect Split 1\nexpect total 3"},
    Row{"create_merge_conv_xfer, of two sizes", [](auto& b) { two_convs(b, false); },
        "conv-enlarge/n=3\nconv-siblings\nexpect Conv 1\nexpect Split 1\nexpect total 2"},
    Row{"create_merge_mm_xfer", two_products,
        "matmul-siblings\nexpect MatMul 1\nexpect Split 1\nexpect total 2"},
    Row{"create_enlarge_conv_xfer",
        [](auto& b) {
          b.output(conv(b, image(b), {8, 4, 1, 1}));
        },
        "conv-enlarge/n=3\nexpect Conv 1\nexpect total 1"},
    Row{"create_resnet_merge_xfer", residual, "conv-residual\nexpect Add 0\nexpect Conv 1\nexpect total 2"},
    Row{"create_exclusive_concat_xfer", joined, "",
        "says that the parts are written where the Concat wants them: where tensors lie is the runtime's "
        "affair"},
};

TEST(TasoSubstitutions, EachIsReachedByRulesThatAreLoadedByDefault) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.taso);
    GraphBuilder b;
    row.pattern(b);
    if (*row.script != 0) testing::expect_leads(b, std::string(row.script) + "\n", shipped());
    EXPECT_NE(*row.script == 0, *row.why == 0) << "either rules, or why there are none";
  }
}

// No rule of a pattern without a rewrite gives an equal graph of fewer operations.
TEST(TasoSubstitutions, WhatHasNoRewriteHasNone) {
  for (const Row& row : kRows) {
    if (*row.script != 0) continue;
    SCOPED_TRACE(row.taso);
    GraphBuilder b;
    row.pattern(b);
    clean_up(b.graph());
    const MatchIndex index(shipped(), b.graph());
    for (std::uint32_t rule = 0; rule < shipped().size(); ++rule) {
      for (const Match& match : index.matches(rule)) {
        graph::Graph other = b.graph();
        apply(other, shipped(), match);
        EXPECT_GE(other.operation_count(), b.graph().operation_count()) << shipped().info(rule).name;
      }
    }
  }
}

}  // namespace
}
