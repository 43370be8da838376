#include "core/cost/measured_kernels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/cost/net.h"
#include "core/cost/random_net.h"

namespace regraft::cost {
namespace {

using graph::DType;
using testing::Net;
using testing::OpKind;
using testing::Value;

KernelFeatures product(std::int64_t rows, std::int64_t width) {
  return {OpKind::matmul,
          KernelForm::constant_operand,
          DType::float32,
          {2 * rows * width * width, 4 * rows * width, 4 * rows * width, 4 * width * width, width, width}};
}

KernelFeatures pass(OpKind kind, std::int64_t elements) {
  return {kind, KernelForm::plain, DType::float32, {0, 4 * elements, 4 * elements, 0, elements, elements}};
}

std::vector<KernelSample> samples(std::initializer_list<KernelSample> list) {
  return list;
}

TEST(MeasuredKernels, NothingMeasuredCorrectsNothing) {
  EXPECT_EQ(MeasuredKernels({}).factor(product(8, 64)), 1);
}

TEST(MeasuredKernels, AMeasuredKernelHasItsOwnFactor) {
  const MeasuredKernels measured(
      samples({{product(8, 64), 100, 200}, {product(16, 64), 100, 100}, {product(512, 512), 1000, 500}}));
  EXPECT_NEAR(measured.factor(product(8, 64)), 2, 0.02);
  EXPECT_NEAR(measured.factor(product(16, 64)), 1, 0.02);
  EXPECT_NEAR(measured.factor(product(512, 512)), 0.5, 0.01);
}

TEST(MeasuredKernels, AKernelBetweenTwoHasAFactorBetweenTheirs) {
  const MeasuredKernels measured(samples({{product(8, 64), 100, 200}, {product(512, 64), 1000, 1000}}));
  const double near = measured.factor(product(12, 64)), far = measured.factor(product(256, 64));
  EXPECT_GT(near, 1.8);
  EXPECT_LT(far, 1.2);
  EXPECT_LT(near, 2);
  EXPECT_GT(far, 1);
}

TEST(MeasuredKernels, RepeatedMeasurementsAreAveraged) {
  const MeasuredKernels measured(samples({{product(8, 64), 100, 100}, {product(8, 64), 100, 400}}));
  EXPECT_NEAR(std::log2(measured.factor(product(8, 64))), 1, 0.05);
}

TEST(MeasuredKernels, KindsDoNotMixButTheUnmeasuredTakeTheMeanOfAll) {
  const MeasuredKernels measured(samples({{pass(OpKind::erf, 1000), 100, 300}, {product(8, 64), 100, 100}}));
  EXPECT_NEAR(measured.factor(pass(OpKind::erf, 1000)), 3, 0.05);
  EXPECT_NEAR(measured.factor(product(8, 64)), 1, 0.02);
  EXPECT_GT(measured.factor(pass(OpKind::tanh, 1000)), 2);  // of no dense kernel
}

TEST(MeasuredKernels, KernelsOfFewMicrosecondsCountLess) {
  const MeasuredKernels measured(
      samples({{pass(OpKind::erf, 100), 1, 2}, {pass(OpKind::erf, 200), 500, 500}}));
  EXPECT_LT(measured.factor(pass(OpKind::erf, 141)), 1.2);
}

TEST(MeasuredKernels, KernelsOfOtherModelsCountForThemselves) {
  const auto other = KernelSource::other_model;
  const MeasuredKernels measured(samples({{product(8, 64), 100, 400, other},
                                          {product(32, 64), 100, 50},
                                          {product(16, 64), 100, 400, other},
                                          {product(16, 64), 100, 200}}));
  EXPECT_NEAR(measured.factor(product(8, 64)), 4, 0.1);
  EXPECT_NEAR(measured.factor(product(16, 64)), 2, 0.1) << "this model has it";
  EXPECT_LT(measured.factor(product(9, 64)), 2);
  const MeasuredKernels calibrated(samples({{product(8, 64), 100, 400, KernelSource::calibration}}));
  EXPECT_GT(calibrated.factor(product(9, 64)), 3);
}

TEST(MeasuredKernels, OfAKindThatThisModelLacksOtherModelsOnlyLowerTheFactor) {
  KernelFeatures conv = product(8, 64);
  conv.kind = OpKind::conv;
  const auto factor_with = [&](double other_us) {
    return MeasuredKernels(
               samples({{product(512, 64), 100, 200}, {conv, 100, other_us, KernelSource::other_model}}))
        .factor({OpKind::conv, conv.form, conv.dtype, product(64, 64).sizes});
  };
  EXPECT_NEAR(factor_with(800), 2, 0.01) << "that of this model's dense kernels";
  EXPECT_NEAR(factor_with(50), 0.5, 0.01);
}

TEST(MeasuredKernels, FactorsAreBounded) {
  const MeasuredKernels measured(samples({{product(8, 64), 1e-3, 1e6}, {pass(OpKind::erf, 9), 1e6, 1e-3}}));
  EXPECT_EQ(measured.factor(product(8, 64)), 1024);
  EXPECT_GE(measured.factor(pass(OpKind::erf, 9)), 1.0 / 1024);
}

TEST(MeasuredKernels, FiguresThatAreNoTimesAreLeftOut) {
  EXPECT_TRUE(MeasuredKernels(samples({{product(8, 64), 0, 5}, {product(8, 64), 5, NAN}})).empty());
}

// --- in the analytic cost

DeviceProfile corrected(const std::vector<KernelSample>& measured) {
  DeviceProfile device = testing::test_device();
  device.measured = std::make_shared<MeasuredKernels>(measured);
  return device;
}

/// Every kernel of a graph, measured at `factor` times what the rates say.
std::vector<KernelSample> measured_at(double factor, const graph::Graph& graph) {
  const graph::Bindings bindings;
  std::vector<KernelSample> measured;
  for (const PredictedKernel& kernel : AnalyticCost(testing::test_device(), bindings, graph).kernels())
    if (!kernel.view) measured.push_back({kernel.features, kernel.analytic_us, factor * kernel.analytic_us});
  return measured;
}

/// What is not corrected: views, and what kernels do on the way out.
double beside_us(const graph::Graph& graph) {
  const graph::Bindings bindings;
  double us = 0;
  for (const PredictedKernel& kernel : AnalyticCost(testing::test_device(), bindings, graph).kernels())
    us += kernel.view ? kernel.us : kernel.us - kernel.corrected_us;
  return us;
}

TEST(CorrectedCost, KernelsAddUpToTheLatency) {
  const graph::Bindings bindings;
  for (int seed = 0; seed < 20; ++seed) {
    Rng rng(static_cast<std::uint64_t>(seed), "nets");
    Net net;
    testing::RandomNet(net, rng).grow(40);
    for (const auto& samples : {std::vector<KernelSample>{}, measured_at(3, net.graph)}) {
      const DeviceProfile device = corrected(samples);
      AnalyticCost cost(device, bindings, net.graph);
      double us = 0;
      for (const PredictedKernel& kernel : cost.kernels()) us += kernel.us;
      EXPECT_NEAR(us, cost.latency_us(), 1e-6 * us) << "seed " << seed;
    }
  }
}

TEST(CorrectedCost, AFactorOfAllKernelsIsThatOfTheGraph) {
  const graph::Bindings bindings;
  Net net;
  const Value image = net.conv(net.input({1, 16, 32, 32}), 32, 3);
  net.output(net.conv(net.batch_norm(image), 32, 3, 32));
  const Value x = net.layer_norm(net.linear(net.input({1, 64, 256}), 256));
  net.output(net.norm_in_parts(net.gelu(x, Net::GeluForm::exported), true));
  const double before = AnalyticCost(testing::test_device(), bindings, net.graph).latency_us();
  const DeviceProfile device = corrected(measured_at(2, net.graph));
  const double beside = beside_us(net.graph);
  EXPECT_NEAR(AnalyticCost(device, bindings, net.graph).latency_us(), 2 * (before - beside) + beside,
              0.03 * before);
}

TEST(EachAlone, OperationsAreNeitherFusedNorReordered) {
  const graph::Bindings bindings;
  Net net;
  const Value x = net.conv(net.input({1, 16, 8, 8}), 16, 3);
  net.output(net.op(OpKind::relu, {net.op(OpKind::add, {net.batch_norm(net.conv(x, 16, 3)), x})}));
  DeviceProfile device = testing::test_device();
  device.fusing = Fusing::nothing;
  AnalyticCost cost(device, bindings, net.graph);
  EXPECT_EQ(cost.cost().launches, 5);
  EXPECT_EQ(cost.kernels().size(), 5u);
  EXPECT_GT(cost.latency_us(), net.latency_us());
}

}  // namespace
}
