#include "core/cost/elementwise_owner.h"

#include <gtest/gtest.h>

#include "core/cost/net.h"

namespace regraft::cost {
namespace {

using testing::elementwise_device;
using testing::Net;
using testing::OpKind;
using testing::Value;

/// The kernels of a graph, each as the number of its nodes.
std::vector<std::size_t> kernels_of(const Net& net) {
  const graph::Bindings bindings;
  std::vector<std::size_t> counts;
  for (const PredictedKernel& kernel : AnalyticCost(elementwise_device(), bindings, net.graph).kernels())
    counts.push_back(kernel.nodes.size());
  EXPECT_EQ(net.launches(elementwise_device()), static_cast<double>(counts.size()));
  return counts;
}
using Counts = std::vector<std::size_t>;

TEST(ElementwiseFusion, AProductDoesWhatFollowsOnConstants) {
  Net net, alone;
  const Value x = net.op(OpKind::tanh, {net.linear(net.input({32, 64}), 128)});
  net.output(net.op(OpKind::sub, {net.scalar(1), x}));
  EXPECT_EQ(kernels_of(net), Counts{4});
  alone.output(alone.op(OpKind::matmul, {alone.input({32, 64}), alone.weight({64, 128})}));
  const graph::Bindings bindings;
  EXPECT_EQ(AnalyticCost(elementwise_device(), bindings, net.graph).latency_us(),
            AnalyticCost(elementwise_device(), bindings, alone.graph).latency_us());
}

TEST(ElementwiseFusion, ASumOfTwoTensorsTakesWhatFollowsBesideTensors) {
  Net net;
  const Value x = net.input({32, 64}), y = net.input({32, 64});
  const Value sum = net.op(OpKind::add, {net.linear(x, 64), x});
  net.output(net.op(OpKind::mul, {y, net.op(OpKind::relu, {sum})}));
  EXPECT_EQ(kernels_of(net), (Counts{2, 3}));
}

TEST(ElementwiseFusion, AConvolutionTakesNormAndActivationAndNeedsNoReorder) {
  Net net;
  const Value x = net.conv(net.input({1, 16, 8, 8}), 16, 3);
  net.output(net.op(OpKind::relu, {net.batch_norm(x)}));
  EXPECT_EQ(kernels_of(net), Counts{3});
}

TEST(ElementwiseFusion, WhatIsReadTwiceOrGrowsIsAKernel) {
  Net twice, grows;
  const Value x = twice.linear(twice.input({32, 64}), 64);
  twice.output(twice.op(OpKind::relu, {x})).output(twice.op(OpKind::tanh, {x}));
  EXPECT_EQ(kernels_of(twice), (Counts{2, 1, 1}));
  const Value row = grows.op(OpKind::relu, {grows.input({1, 64})});
  grows.output(grows.op(OpKind::add, {row, grows.input({32, 64})}));
  EXPECT_EQ(kernels_of(grows), (Counts{1, 1}));
}

TEST(ElementwiseFusion, GelusInPartsGoIntoWhatMakesTheirOperand) {
  for (const auto form : {Net::GeluForm::exported, Net::GeluForm::outer_half, Net::GeluForm::inner_half}) {
    Net net;
    net.output(net.gelu(net.linear(net.input({197, 64}), 128), form));
    EXPECT_EQ(kernels_of(net), Counts{7});
  }
  Net tanh, swish, of_input;
  tanh.output(tanh.gelu_by_tanh(tanh.linear(tanh.input({32, 64}), 64)));
  EXPECT_EQ(kernels_of(tanh), Counts{10});
  const Value x = swish.linear(swish.input({32, 64}), 64);
  const Value y = swish.op(OpKind::mul, {x, swish.op(OpKind::sigmoid, {x})});
  swish.output(swish.op(OpKind::relu, {y}));
  EXPECT_EQ(kernels_of(swish), Counts{5}) << "and what follows";
  of_input.output(of_input.gelu(of_input.input({32, 64}), Net::GeluForm::exported));
  EXPECT_EQ(kernels_of(of_input), Counts{5});
}

TEST(ElementwiseFusion, NormsInPartsAreKernels) {
  for (const bool simplified : {false, true}) {
    Net net;
    const Value x = net.op(OpKind::exp, {net.input({32, 64})});
    const Value norm = net.norm_in_parts(x, simplified);
    net.output(net.op(OpKind::relu, {norm}));
    EXPECT_EQ(kernels_of(net), (Counts{1, simplified ? 6u : 9u, 1}));
  }
}

}  // namespace
}
