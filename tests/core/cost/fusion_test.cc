#include "core/cost/fusion.h"

#include <gtest/gtest.h>

#include "core/cost/net.h"

namespace regraft::cost {
namespace {

using testing::Attr;
using testing::Dim;
using testing::Ints;
using testing::Net;
using testing::OpKind;
using testing::Value;

TEST(Fusion, ConvolutionTakesNormAddAndActivation) {
  Net net;
  const Value x = net.conv(net.input({1, 16, 8, 8}), 16, 3);
  const Value y = net.batch_norm(net.conv(x, 16, 3));
  net.output(net.op(OpKind::relu, {net.op(OpKind::add, {y, x})}));
  EXPECT_EQ(net.launches(), 2 + 2);  // the convolutions, and a reorder at both ends
}

TEST(Fusion, ATensorUsedTwiceIsNotFusedAway) {
  Net net;
  const Value x = net.conv(net.input({1, 16, 8, 8}), 16, 3);
  net.output(net.op(OpKind::relu, {x})).output(net.op(OpKind::tanh, {x}));
  EXPECT_EQ(net.launches(), 1 + 2 + 1 + 2);  // a reorder of the input and one of each output
}

TEST(Fusion, OnlyOneOfTwoConvolutionsTakesTheAdd) {
  Net net;
  const Value x = net.input({1, 16, 8, 8});
  const Value sum = net.op(OpKind::add, {net.conv(x, 16, 1), net.conv(x, 16, 3)});
  net.output(net.op(OpKind::relu, {sum}));
  EXPECT_EQ(net.launches(), 2 + 2);
}

TEST(Fusion, ConvolutionTakesAHardSwishInPartsBehindItsSum) {
  for (const bool sum : {false, true}) {
    Net net;
    const Value image = net.input({1, 16, 8, 8}), y = net.conv(image, 16, 3);
    const Value x = sum ? net.op(OpKind::add, {y, net.conv(image, 16, 1)}) : y;
    const Value gate = net.op(OpKind::hard_sigmoid, {x}, {{Attr::alpha, 1.0 / 6}, {Attr::beta, 0.5}});
    net.output(net.conv(net.op(OpKind::mul, {x, gate}), 16, 3));
    EXPECT_EQ(net.launches(), (sum ? 3 : 2) + 2) << "and a reorder at both ends";
  }
}

TEST(Fusion, MatmulTakesBiasAndActivation) {
  Net net;
  net.output(net.op(OpKind::tanh, {net.linear(net.input({1, 7, 32}), 64)}));
  EXPECT_EQ(net.launches(), 1);
}

TEST(Fusion, NothingGoesIntoAProductOfConstants) {
  Net net;
  const Value folded = net.op(OpKind::matmul, {net.weight({4, 4}), net.weight({4, 4})});
  net.output(net.op(OpKind::add, {folded, net.input({4, 4})}));
  EXPECT_EQ(net.launches(), 1);
  const graph::Bindings bindings;
  EXPECT_EQ(AnalyticCost(testing::test_device(), bindings, net.graph).kernels().size(), 1u);
}

TEST(Fusion, FlatMatmulTakesAnyMatrix) {
  Net flat, deep;
  for (Net* net : {&flat, &deep}) {
    const std::vector<testing::Dim> dims =
        net == &flat ? std::vector<testing::Dim>{4, 32} : std::vector<testing::Dim>{2, 4, 32};
    const Value x = net->input(dims), h = net->input(dims);
    const Value sum = net->op(OpKind::add, {net->op(OpKind::matmul, {x, net->weight({32, 32})}), h});
    net->output(net->op(OpKind::sigmoid, {sum}));
  }
  EXPECT_EQ(flat.launches(), 1);
  EXPECT_EQ(deep.launches(), 3);
}

TEST(Fusion, MatmulWithoutAnAddTakesNoActivation) {
  Net net;
  net.output(net.op(OpKind::relu, {net.op(OpKind::matmul, {net.input({4, 32}), net.weight({32, 32})})}));
  EXPECT_EQ(net.launches(), 2);
}

TEST(Fusion, MatmulTakesScaleAndTransposeOfItsOperands) {
  Net net;
  const Value q = net.input({1, 12, 50, 64}), k = net.input({1, 12, 50, 64});
  const Value kt = net.op(OpKind::transpose, {k}, {{Attr::perm, Ints{0, 1, 3, 2}}});
  const Value s = net.op(OpKind::matmul, {net.op(OpKind::mul, {q, net.scalar(0.125)}), kt});
  net.output(net.op(OpKind::mul, {s, net.scalar(2)}));
  EXPECT_EQ(net.launches(), 1);
}

TEST(Fusion, TransposeOfOtherDimsIsAKernel) {
  Net net;
  const Value q = net.input({1, 12, 50, 64}), k = net.input({1, 50, 12, 64});
  const Value kt = net.op(OpKind::transpose, {k}, {{Attr::perm, Ints{0, 2, 3, 1}}});
  net.output(net.op(OpKind::matmul, {q, kt}));
  EXPECT_EQ(net.launches(), 2);
}

TEST(Fusion, GeluIsSeenInItsTwoForms) {
  for (const auto form : {Net::GeluForm::outer_half, Net::GeluForm::inner_half}) {
    Net net;
    net.output(net.gelu(net.linear(net.input({197, 64}), 128), form));
    EXPECT_EQ(net.launches(), 2);
  }
}

TEST(Fusion, AGeluBetweenConvolutionsKeepsTheLayout) {
  Net whole, exported;
  for (Net* net : {&whole, &exported}) {
    const Value a = net->conv(net->input({1, 16, 8, 8}), 16, 3);
    const auto form = net == &whole ? Net::GeluForm::outer_half : Net::GeluForm::exported;
    net->output(net->conv(net->gelu(a, form), 16, 3));
  }
  EXPECT_EQ(whole.launches(), 3 + 2);
  EXPECT_EQ(exported.launches(), 2 + 5 + 4) << "five kernels outside of the layout";
}

TEST(Fusion, GeluAsExportedByTorchIsFiveKernels) {
  Net net;
  net.output(net.gelu(net.linear(net.input({197, 64}), 128), Net::GeluForm::exported));
  EXPECT_EQ(net.launches(), 6);
}

TEST(Fusion, AProductWithItsOwnSigmoidIsOneKernel) {
  Net silu, gate;
  const Value x = silu.input({197, 768}), y = gate.input({197, 768}), z = gate.input({197, 768});
  silu.output(silu.op(OpKind::mul, {x, silu.op(OpKind::sigmoid, {x})}));
  gate.output(gate.op(OpKind::mul, {y, gate.op(OpKind::sigmoid, {z})}));
  EXPECT_EQ(silu.launches(), 1);
  EXPECT_EQ(gate.launches(), 2);
  EXPECT_LT(1.5 * silu.latency_us(), gate.latency_us());
}

TEST(Fusion, FactorsOfChannelsBehindAConvolutionKeepTheLayout) {
  Net net;
  const Value a = net.op(OpKind::relu, {net.conv(net.input({1, 16, 8, 8}), 16, 3)});
  net.output(net.conv(net.op(OpKind::mul, {a, net.weight({16, 1, 1})}), 16, 3));
  EXPECT_EQ(net.launches(), 3 + 2) << "the factors are a convolution of their own";
}

TEST(Fusion, ASquareIsNoGeneralPower) {
  Net square, general, product;
  const Value x = square.input({197, 768}), y = general.input({197, 768}), z = product.input({197, 768});
  square.output(square.op(OpKind::pow, {x, square.scalar(2)}));
  general.output(general.op(OpKind::pow, {y, general.scalar(1.7)}));
  product.output(product.op(OpKind::mul, {z, z}));
  EXPECT_LT(10 * square.latency_us(), general.latency_us());
  EXPECT_GT(square.latency_us(), product.latency_us());
}

TEST(Fusion, GeluOfAnotherScaleIsNoGelu) {
  Net net;
  const Value x = net.input({197, 64});
  const Value one =
      net.op(OpKind::add, {net.op(OpKind::erf, {net.op(OpKind::div, {x, net.scalar(1.5)})}), net.scalar(1)});
  net.output(net.op(OpKind::mul, {net.op(OpKind::mul, {x, one}), net.scalar(0.5)}));
  EXPECT_EQ(net.launches(), 5);
}

TEST(Fusion, AddBeforeLayerNormIsOneSlowKernelAndSumIsNot) {
  Net add, sum;
  for (Net* net : {&add, &sum}) {
    const Value a = net->input({1, 128, 768}), b = net->input({1, 128, 768});
    net->output(net->layer_norm(net->op(net == &add ? OpKind::add : OpKind::sum, {a, b})));
  }
  EXPECT_EQ(add.launches(), 1);
  EXPECT_EQ(sum.launches(), 2);
  EXPECT_GT(add.latency_us(), 3 * sum.latency_us());
}

TEST(Fusion, AConstantOfTheSameShapeIsAddedByTheNormToo) {
  for (const testing::Ints& dims : {testing::Ints{1, 128, 768}, testing::Ints{128, 768}}) {
    Net net;
    net.output(net.layer_norm(net.op(OpKind::add, {net.input({1, 128, 768}), net.weight(dims)})));
    EXPECT_EQ(net.launches(), dims.size() == 3 ? 1 : 2);
  }
}

TEST(Fusion, AResidualUsedAgainKeepsItsAdd) {
  Net net;
  const Value a = net.input({1, 128, 768}), b = net.input({1, 128, 768});
  const Value sum = net.op(OpKind::add, {a, b});
  net.output(net.op(OpKind::add, {sum, net.layer_norm(sum)}));
  EXPECT_EQ(net.launches(), 3);
}

TEST(Fusion, IdentityIsSeenThrough) {
  Net net;
  const Value x = net.op(OpKind::identity, {net.linear(net.input({4, 32}), 32)});
  net.output(net.op(OpKind::relu, {x}));
  EXPECT_EQ(net.launches(), 1);
}

TEST(Fusion, ZeroPadGoesIntoTheConvolution) {
  for (const double value : {0.0, 1.0}) {
    Net net;
    const Value x = net.op(OpKind::pad, {net.input({1, 3, 8, 8})},
                           {{Attr::pads, Ints{0, 0, 1, 1, 0, 0, 1, 1}}, {Attr::value, value}});
    net.output(net.conv(x, 16, 3));
    EXPECT_EQ(net.launches(), value == 0 ? 2 : 3);  // with the reorder of the output
  }
}

TEST(Fusion, APadOfChannelsIsAKernelOfItsOwn) {
  Net net;
  const Value x =
      net.op(OpKind::pad, {net.input({1, 30, 8, 8})}, {{Attr::pads, Ints{0, 0, 0, 0, 0, 2, 0, 0}}});
  net.output(net.conv(x, 16, 3));
  EXPECT_EQ(net.launches(), 2 + 2);  // a reorder at both ends
}

TEST(Fusion, AGeluByTanhIsOneKernel) {
  for (const double cube : {3.0, 2.0}) {
    Net net;
    net.output(net.op(OpKind::neg, {net.gelu_by_tanh(net.input({197, 64}), cube)}));
    EXPECT_EQ(net.launches(), cube == 3 ? 2 : 9);
  }
}

TEST(Fusion, SlicesThatTakeAValueApartAreOneSplit) {
  for (const std::int64_t end : {6, 5}) {
    Net net;
    const Value x = net.op(OpKind::relu, {net.input({4, 6})});
    const auto part = [&](std::int64_t from, std::int64_t to) {
      return net.op(OpKind::slice, {x},
                    {{Attr::starts, Ints{from}}, {Attr::ends, Ints{to}}, {Attr::axes, Ints{1}}});
    };
    net.output(part(0, 2)).output(part(2, 4)).output(part(4, end));
    EXPECT_EQ(net.launches(), end == 6 ? 2 : 4);
  }
}

TEST(Fusion, ABiasedProductOfThreeDimsTakesNothingOnTheWayIn) {
  for (const bool biased : {false, true}) {
    Net net;
    const Value t = net.op(OpKind::transpose, {net.input({2, 32, 7})}, {{Attr::perm, Ints{0, 2, 1}}});
    net.output(biased ? net.linear(t, 64) : net.op(OpKind::matmul, {t, net.weight({32, 64})}));
    EXPECT_EQ(net.launches(), biased ? 2 : 1);
  }
}

TEST(Layout, NarrowGroupsLeaveTheBlockedLayout) {
  Net narrow, wide;
  for (Net* net : {&narrow, &wide}) {
    const Value x = net->conv(net->input({1, 64, 14, 14}), 64, 1);
    const Value y = net->conv(x, 64, 3, net == &narrow ? 8 : 4);
    net->output(net->conv(y, 64, 1));
  }
  EXPECT_EQ(wide.launches(), 3 + 2);
  EXPECT_EQ(narrow.launches(), 3 + 2 + 2);  // out of the layout and back
}

TEST(Layout, ConcatOfWholeBlocksStaysBlocked) {
  DeviceProfile narrow = testing::test_device();
  narrow.channel_block = 8;
  for (const std::int64_t channels : {16, 24}) {
    Net net;
    const Value x = net.conv(net.input({1, 16, 14, 14}), 16, 1);
    const Value y = net.op(OpKind::concat, {net.conv(x, channels, 1), net.conv(x, channels, 3)},
                           {{Attr::axis, std::int64_t{1}}});
    net.output(net.conv(y, 16, 1));
    const double kernels = 4 + 1 + 2;
    EXPECT_EQ(net.launches(), channels == 16 ? kernels : kernels + 3);
    EXPECT_EQ(net.launches(narrow), kernels);
  }
}

// Measured in blocks of 8: 20 channels 245 us, 24 238 us, 28 315 us, 32 313 us.
TEST(Layout, ADepthwiseConvolutionTakesTheTimeOfWholeBlocks) {
  const auto kernel_us = [](std::int64_t channels) {
    Net net;
    net.output(net.conv(net.input({1, channels, 56, 56}), channels, 3, channels));
    return AnalyticCost(testing::test_device(), graph::Bindings(), net.graph).kernels().at(0).analytic_us;
  };
  EXPECT_EQ(kernel_us(20), kernel_us(32));
}

TEST(Layout, TheFirstConvolutionReadsPlainImages) {
  Net net;
  net.output(net.op(OpKind::global_average_pool, {net.conv(net.input({1, 3, 16, 16}), 16, 3)}));
  EXPECT_EQ(net.launches(), 2 + 1);
}

Value zero_point(Net& net, graph::DType bytes) {
  return net.graph.weight_value(net.tables.weights().scalar(bytes, 3));
}
/// Bytes and floats of them again, by one scale.
Value bytes_of(Net& net, Value x, graph::DType bytes) {
  return net.op(OpKind::quantize_linear, {x, net.scalar(0.5), zero_point(net, bytes)});
}
Value floats_of(Net& net, Value x) {
  return net.op(OpKind::dequantize_linear, {x, net.scalar(0.5), zero_point(net, net.graph.type(x).dtype)});
}
Value probabilities(Net& net, graph::DType bytes) {
  const Value x = floats_of(net, bytes_of(net, net.input({1, 8, 64}), bytes));
  return net.op(OpKind::softmax, {x}, {{Attr::axis, std::int64_t{-1}}});
}

TEST(Fusion, ASoftmaxOfBytesIsOneSlowKernel) {
  Net bytes, floats;
  bytes.output(bytes_of(bytes, probabilities(bytes, graph::DType::uint8), graph::DType::uint8));
  floats.output(probabilities(floats, graph::DType::uint8));
  EXPECT_EQ(bytes.launches(), 2);
  EXPECT_EQ(floats.launches(), 3);
  EXPECT_GT(bytes.latency_us(), floats.latency_us());
}

/// The sum of a tensor of bytes and a product of it.
double launches_of_residual(graph::DType bytes) {
  Net net;
  const Value x = floats_of(net, bytes_of(net, net.input({8, 64}), bytes));
  const Value weight{net.graph.weight_value(net.tables.weights().literal(
      net.tables.intern(graph::DType::int8, std::vector<Dim>{64, 64}), std::vector<std::byte>(64 * 64)))};
  const Value y = floats_of(net, bytes_of(net, net.op(OpKind::matmul, {x, floats_of(net, weight)}), bytes));
  net.output(bytes_of(net, net.op(OpKind::add, {x, y}), graph::DType::uint8));
  return net.launches();
}

TEST(Fusion, SignedBytesThatTwoReadAreNoKernelsOfBytes) {
  EXPECT_EQ(launches_of_residual(graph::DType::uint8), 3);
  EXPECT_EQ(launches_of_residual(graph::DType::int8), 8);
}

}  // namespace
}
