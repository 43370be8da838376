// Operations that rewrites leave alone have times of their own.
#include <gtest/gtest.h>

#include "core/cost/net.h"

namespace regraft::cost {
namespace {

using testing::Attr;
using testing::AttrBlock;
using testing::Dim;
using testing::Net;
using testing::OpKind;
using testing::Value;

Value opaque(Net& net, const std::string& op, const std::vector<Value>& values,
             const std::vector<Dim>& output, AttrBlock attrs = {}) {
  return {net.opaque(op, values, {net.type(output)}, std::move(attrs)), 0};
}

PredictedKernel kernel(Net& net, const DeviceProfile& device = testing::test_device()) {
  const graph::Bindings bindings;
  return AnalyticCost(device, bindings, net.graph).kernels().at(0);
}

/// One op on inputs of these dims.
PredictedKernel kernel(const std::string& op, const std::vector<std::vector<Dim>>& inputs,
                       const std::vector<Dim>& output, const AttrBlock& attrs = {}) {
  Net net;
  std::vector<Value> values;
  for (const auto& dims : inputs) values.push_back(net.input(dims));
  net.output(opaque(net, op, values, output, attrs));
  return kernel(net);
}

PredictedKernel recurrence(const std::string& op, Dim gates, Dim steps, Dim batch, Dim hidden,
                           Dim directions = 1) {
  Net net;
  const Value x = net.input({steps, batch, hidden});
  net.output(opaque(
      net, op,
      {x, net.weight({directions, gates * hidden, hidden}), net.weight({directions, gates * hidden, hidden})},
      {steps, directions, batch, hidden}));
  return kernel(net);
}

TEST(OpaqueKernels, ARecurrenceTakesTimeForEachStepDirectionAndGate) {
  const double once = recurrence("LSTM", 4, 50, 1, 256).us;
  EXPECT_NEAR(recurrence("LSTM", 4, 100, 1, 256).us / once, 2, 0.1);
  EXPECT_NEAR(recurrence("LSTM", 4, 50, 1, 256, 2).us / once, 2, 0.1);
  EXPECT_LT(recurrence("GRU", 3, 50, 1, 256).us, once);
  EXPECT_LT(recurrence("RNN", 1, 50, 1, 256).us, 0.5 * once);
  EXPECT_LT(recurrence("LSTM", 4, 50, 4, 256).us, 3.5 * once) << "sequences share the weights that are read";
  EXPECT_GT(recurrence("LSTM", 4, 50, 4, 256).us, once);
}

// 50 steps that each read 1 MB of weights take longer than the bytes of sequence and weights, read once.
TEST(OpaqueKernels, ARecurrenceReadsItsWeightsInEachStep) {
  const DeviceProfile& device = testing::test_device();
  const double weights_us = 4.0 * 4 * 256 * 256 / device.gemv_resident_gbps * 1e-3;
  EXPECT_GT(recurrence("LSTM", 4, 50, 1, 256).us, 50 * weights_us);
}

TEST(OpaqueKernels, AnEinsumTakesTheTimeOfItsProducts) {
  Net product;
  product.output(product.op(OpKind::matmul, {product.input({8, 128, 64}), product.input({8, 64, 128})}));
  const double matmul = kernel(product).us;
  const AttrBlock equation{{Attr::equation, std::string("hid,hdj->hij")}};
  const double einsum = kernel("Einsum", {{8, 128, 64}, {8, 64, 128}}, {8, 128, 128}, equation).us;
  EXPECT_GE(einsum, matmul);
  EXPECT_LT(einsum, 4 * matmul);
  Net known;
  known.output(known.op(OpKind::einsum, {known.input({8, 128, 64}), known.input({8, 64, 128})},
                        {{Attr::equation, graph::Ints{0, 1, 2, 0, 2, 3, 0, 1, 3}}}));
  EXPECT_DOUBLE_EQ(kernel(known).us, einsum);
}

TEST(OpaqueKernels, OpsOfTheSameSizesHaveTheirOwnTimes) {
  const auto of = [](const std::string& op) { return kernel(op, {{64, 512}}, {64, 512}); };
  EXPECT_GT(of("Celu").us, of("ThresholdedRelu").us);
  EXPECT_EQ(of("Celu").features.kernel_kind(), "Opaque Celu float32");
  EXPECT_EQ(of("my.domain.Celu").features.op, "my.domain.Celu");
  const AttrBlock cubic{{Attr::mode, std::string("cubic")}};
  EXPECT_EQ(kernel("Resize", {{1, 64}}, {1, 64}, cubic).features.op, "Resize cubic");
  const DeviceProfile& device = testing::test_device();
  const double bytes = 2 * 4 * 64 * 512;
  EXPECT_NEAR(of("my.domain.Celu").us, device.launch_us + bytes * device.near_ns_per_byte * 1e-3, 1e-3)
      << "traffic, where nothing else is known";
}

TEST(OpaqueKernels, SelectionsAndInterpolationsGrowWithTheirWork) {
  EXPECT_GT(kernel("TopK", {{64, 4096}, {1}}, {64, 512}).us, kernel("TopK", {{64, 4096}, {1}}, {64, 4}).us);
  const auto resize = [](const char* mode) {
    return kernel("Resize", {{1, 64, 32, 32}}, {1, 64, 64, 64}, {{Attr::mode, std::string(mode)}}).us;
  };
  EXPECT_GT(resize("cubic"), 8 * resize("linear")) << "beside four times the taps";
  EXPECT_GT(kernel("ReduceL2", {{64, 64, 64}}, {64, 1, 64}).us,
            2 * kernel("ReduceL2", {{64, 64, 64}}, {64, 64, 1}).us)
      << "across rows";
  EXPECT_GT(kernel("CumSum", {{64, 4096}, {}}, {64, 4096}).us,
            kernel("CumSum", {{8, 4096}, {}}, {8, 4096}).us);
}

TEST(OpaqueKernels, WhatIsMadeOfConstantsIsFoldedBeforeARun) {
  const auto kernels = [](const std::string& op) {
    Net net;
    net.output(net.op(OpKind::add, {net.input({8, 8}), opaque(net, op, {net.weight({8, 8})}, {8, 8})}));
    const graph::Bindings bindings;
    return AnalyticCost(testing::test_device(), bindings, net.graph).kernels().size();
  };
  EXPECT_EQ(kernels("CumSum"), 1u);
  EXPECT_EQ(kernels("RandomNormalLike"), 2u) << "another result in each run";
}

// All that is opaque was of one kind: what was measured of an LSTM changed what others take.
TEST(OpaqueKernels, WhatIsMeasuredOfOneOpIsOfThatOpAlone) {
  Net celu, selu;
  celu.output(opaque(celu, "Celu", {celu.input({64, 512})}, {64, 512}));
  selu.output(opaque(selu, "Selu", {selu.input({64, 512})}, {64, 512}));
  const PredictedKernel one = kernel(celu), other = kernel(selu);
  DeviceProfile measured = testing::test_device();
  const std::vector<KernelSample> samples{{one.features, one.analytic_us, 5 * one.analytic_us},
                                          {other.features, other.analytic_us, other.analytic_us}};
  measured.measured = std::make_shared<MeasuredKernels>(samples);
  EXPECT_NEAR(kernel(celu, measured).us / one.us, 5, 0.1);
  EXPECT_NEAR(kernel(selu, measured).us / other.us, 1, 0.1);
}

}  // namespace
}
