#include "core/corpus/activate.h"

#include <cmath>
#include <numbers>

#include "core/corpus/basic_ops.h"

namespace regraft::corpus {
namespace {

Tensor relu6(Net& net, const Tensor& x) {
  if (net.dialect().is(Exporter::tensorflow)) return binary(net, "Min", unary(net, "Relu", x), 6);
  return net.node("Clip", {x, net.scalar(0), net.scalar(6)}, x.dims);
}

/// x / 2 * (1 + erf(x / sqrt(2)))
Tensor gelu(Net& net, const Tensor& x) {
  const Dialect& dialect = net.dialect();
  if (dialect.opset >= 20) return unary(net, "Gelu", x);
  if (dialect.is(Exporter::torch_dynamo)) {
    const Tensor erf = unary(net, "Erf", binary(net, "Mul", x, std::numbers::sqrt2 / 2));
    const Tensor product = mul(net, x, binary(net, "Add", erf, 1)), half = net.scalar(0.5);
    return mul(net, half, product);
  }
  const Tensor one = binary(net, "Add", unary(net, "Erf", binary(net, "Div", x, std::numbers::sqrt2)), 1);
  if (dialect.is(Exporter::tensorflow)) return mul(net, binary(net, "Mul", x, 0.5), one);
  return binary(net, "Mul", mul(net, x, one), 0.5);
}

/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
Tensor gelu_tanh(Net& net, const Tensor& x) {
  const Dialect& dialect = net.dialect();
  if (dialect.opset >= 20) return unary(net, "Gelu", x, {{"approximate", std::string("tanh")}});
  const Tensor cube = dialect.is(Exporter::paddle) ? mul(net, mul(net, x, x), x) : binary(net, "Pow", x, 3);
  const Tensor inner = add(net, x, binary(net, "Mul", cube, 0.044715));
  const Tensor tanh = unary(net, "Tanh", binary(net, "Mul", inner, std::sqrt(2 / std::numbers::pi)));
  const Tensor one = binary(net, "Add", tanh, 1);
  if (dialect.is(Exporter::torch_dynamo)) return binary(net, "Mul", mul(net, x, one), 0.5);
  return mul(net, binary(net, "Mul", x, 0.5), one);
}

/// clip(x + 3, 0, 6) / 6
Tensor hard_sigmoid(Net& net, const Tensor& x) {
  const bool one_op =
      net.dialect().is(Exporter::paddle) || (net.dialect().is_torch() && net.dialect().opset >= 14);
  if (one_op) return unary(net, "HardSigmoid", x, {{"alpha", 1.0F / 6}, {"beta", 0.5F}});
  const Tensor clipped = relu6(net, binary(net, "Add", x, 3));
  if (net.dialect().is(Exporter::tensorflow)) return binary(net, "Mul", clipped, 1.0 / 6);
  return binary(net, "Div", clipped, 6);
}

Tensor hard_swish(Net& net, const Tensor& x) {
  if (net.dialect().is_torch() && net.dialect().opset >= 14) return unary(net, "HardSwish", x);
  if (net.dialect().is(Exporter::tensorflow)) return mul(net, x, hard_sigmoid(net, x));
  return binary(net, "Div", mul(net, x, relu6(net, binary(net, "Add", x, 3))), 6);
}

}  // namespace

Tensor activate(Net& net, const Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return unary(net, "Relu", x);
    case Activation::relu6:
      return relu6(net, x);
    case Activation::leaky_relu:
      return unary(net, "LeakyRelu", x, {{"alpha", 0.1F}});
    case Activation::gelu:
      return gelu(net, x);
    case Activation::gelu_tanh:
      return gelu_tanh(net, x);
    case Activation::silu:
      return mul(net, x, unary(net, "Sigmoid", x));
    case Activation::hard_swish:
      return hard_swish(net, x);
    case Activation::hard_sigmoid:
      return hard_sigmoid(net, x);
    case Activation::sigmoid:
      return unary(net, "Sigmoid", x);
    case Activation::tanh:
      return unary(net, "Tanh", x);
  }
  return x;
}

}
