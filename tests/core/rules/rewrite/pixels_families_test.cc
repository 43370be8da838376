// The families of configs/rules/pixels.rules: a small model of each, and the script that leads it to the form
// meant.
#include <gtest/gtest.h>

#include <array>

#include "core/rules/leads.h"

namespace regraft::rules {
namespace {

using graph::Attr;
using graph::Ints;
using graph::OpKind;
using testing::GraphBuilder;
using testing::Value;

/// Each second element along an axis, from `first` on.
Value each_second(GraphBuilder& b, Value x, std::int64_t axis, std::int64_t first) {
  const std::int64_t end = b.graph().type(x).dims[static_cast<std::size_t>(axis)];
  return b.op(OpKind::slice, {x},
              {{Attr::starts, Ints{first}},
               {Attr::ends, Ints{end}},
               {Attr::axes, Ints{axis}},
               {Attr::steps, Ints{2}}});
}

/// A convolution behind the four parts of an image, in this order of (row, column).
Value focused(GraphBuilder& b, const std::array<std::array<std::int64_t, 2>, 4>& order) {
  const Value x = b.input({2, 3, 8, 6});
  std::vector<Value> parts;
  for (const auto& [row, column] : order)
    parts.push_back(each_second(b, each_second(b, x, 2, row), 3, column));
  const Value z = b.op(OpKind::concat, parts, {{Attr::axis, std::int64_t{1}}});
  return b.op(OpKind::conv, {z, b.weight({5, 12, 3, 3}), b.weight({5})},
              {{Attr::pads, Ints{1, 0, 1, 1}}, {Attr::strides, Ints{1, 2}}});
}

TEST(PixelsFamilies, TheConvolutionReadsTheImageItself) {
  GraphBuilder rows, pixels;
  rows.output(focused(rows, {{{0, 0}, {1, 0}, {0, 1}, {1, 1}}}));
  pixels.output(focused(pixels, {{{0, 0}, {0, 1}, {1, 0}, {1, 1}}}));
  testing::expect_shipped_rules_lead(rows, "slice-axes 4\nfocus-conv\nexpect Conv 1\nexpect total 1\n");
  testing::expect_shipped_rules_lead(pixels, "slice-axes 4\npixels-conv\nexpect Conv 1\nexpect total 1\n");
}

TEST(PixelsFamilies, PixelsThatATransposeMadeChannelsAreReadAsTheyLie) {
  for (const bool first : {false, true}) {
    GraphBuilder b;
    const Value blocks =
        b.op(OpKind::reshape, {b.input({2, 3, 8, 6})}, {{Attr::shape, Ints{2, 3, 4, 2, 2, 3}}});
    const Ints perm = first ? Ints{0, 3, 5, 1, 2, 4} : Ints{0, 1, 3, 5, 2, 4};
    const Value z = b.op(OpKind::reshape, {b.op(OpKind::transpose, {blocks}, {{Attr::perm, perm}})},
                         {{Attr::shape, Ints{2, 18, 4, 2}}});
    b.output(b.op(OpKind::conv, {z, b.weight({5, 18, 3, 1})}, {{Attr::pads, Ints{1, 0, 1, 0}}}));
    testing::expect_shipped_rules_lead(b, std::string(first ? "unshuffle-conv-first" : "unshuffle-conv") +
                                              "\nreshape-reshape\nexpect total 1\n");
  }
}

/// A filter bank over signals of so many samples.
Value filtered(GraphBuilder& b, std::int64_t samples, std::int64_t outputs) {
  return b.op(OpKind::conv, {b.input({1, 2, 3, samples}), b.weight({outputs, 2, 3, 5}), b.weight({outputs})},
              {{Attr::pads, Ints{1, 2, 1, 1}}, {Attr::strides, Ints{1, 2}}});
}

TEST(PixelsFamilies, NeighbouringOutputsAreChannels) {
  for (const char* phases : {"2", "4", "8"}) {
    GraphBuilder whole, odd;
    whole.output(filtered(whole, 32, 3));  // 16 outputs
    odd.output(filtered(odd, 41, 3));      // 20 and one more
    const std::string rule = "conv-phases/n=" + std::string(phases);
    testing::expect_shipped_rules_lead(whole,
                                       rule + "\nslice-all\nexpect Conv 1\nexpect Slice 0\nexpect total 4\n");
    testing::expect_shipped_rules_lead(odd, rule + "\nexpect Conv 1\nexpect Slice 1\nexpect total 5\n");
  }
}

TEST(PixelsFamilies, AnOutputIsASumOfTheChannelsOfADepthwiseConvolution) {
  constexpr std::array kFewOutputs = {"conv-one-depthwise", "conv-two-depthwise", "conv-three-depthwise"};
  for (std::size_t outputs = 1; outputs <= kFewOutputs.size(); ++outputs) {
    GraphBuilder b;
    const auto channels = static_cast<std::int64_t>(outputs);
    b.output(b.op(OpKind::conv, {b.input({1, 6, 5, 7}), b.weight({channels, 6, 3, 3}), b.weight({channels})},
                  {{Attr::pads, Ints{1, 0, 1, 1}}, {Attr::strides, Ints{2, 1}}}));
    testing::expect_shipped_rules_lead(b, std::string(kFewOutputs[outputs - 1]) + "\nexpect Conv " +
                                              std::to_string(2 * outputs) + "\nexpect Concat " +
                                              (outputs > 1 ? "1\n" : "0\n"));
  }
}

}  // namespace
}
