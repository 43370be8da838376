#include "core/corpus/activate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/corpus/constant_net.h"

namespace regraft::corpus {
namespace {

const std::vector<float> kNumbers = {-7, -3.5, -1, -0.25, 0, 0.5, 1, 2, 2.75, 3.5, 8};

double expected(Activation activation, double x) {
  const double hard = std::clamp(x + 3, 0.0, 6.0) / 6;
  switch (activation) {
    case Activation::relu6:
      return std::clamp(x, 0.0, 6.0);
    case Activation::gelu:
      return x / 2 * (1 + std::erf(x / std::numbers::sqrt2));
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::hard_swish:
      return x * hard;
    default:
      return hard;
  }
}

TEST(Activations, AreTheSameFunctionInAllDialects) {
  for (const Activation activation : {Activation::relu6, Activation::gelu, Activation::gelu_tanh,
                                      Activation::silu, Activation::hard_swish, Activation::hard_sigmoid}) {
    for (int exporter = 0; exporter < 5; ++exporter) {
      for (const std::int64_t opset : {11, 13, 14, 17, 20}) {
        Net net = net_of(static_cast<Exporter>(exporter), opset);
        const Tensor x = net.table({static_cast<std::int64_t>(kNumbers.size())}, kNumbers);
        const std::vector<double> values = value_of(net, activate(net, x, activation));
        ASSERT_EQ(values.size(), kNumbers.size());
        for (std::size_t i = 0; i < values.size(); ++i)
          EXPECT_NEAR(values[i], expected(activation, kNumbers[i]), 1e-5)
              << "activation " << static_cast<int>(activation) << ", exporter " << exporter << ", opset "
              << opset;
      }
    }
  }
}

std::size_t nodes(Exporter exporter, std::int64_t opset, Activation activation) {
  Net net = net_of(exporter, opset);
  activate(net, net.input("x", {4}), activation);
  return static_cast<std::size_t>(
      std::ranges::count_if(net.model().nodes, [](const Node& node) { return node.op != "Constant"; }));
}

TEST(Activations, HaveTheFormsOfTheirExporters) {
  EXPECT_EQ(nodes(Exporter::torch_script, 14, Activation::hard_swish), 1u);
  EXPECT_EQ(nodes(Exporter::torch_script, 13, Activation::hard_swish), 4u);
  EXPECT_EQ(nodes(Exporter::tensorflow, 13, Activation::hard_swish), 5u);
  EXPECT_EQ(nodes(Exporter::torch_dynamo, 18, Activation::gelu), 5u);
  EXPECT_EQ(nodes(Exporter::torch_dynamo, 20, Activation::gelu), 1u);
}

}  // namespace
}
