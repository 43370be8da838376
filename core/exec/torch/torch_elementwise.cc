#include "core/exec/torch/torch_ops.h"

namespace regraft::exec {
namespace {

using at::Tensor;
using graph::Attr;
using K = graph::OpKind;
using Tensors = std::vector<Tensor>;

/// A row of one tensor function.
template <Tensor (*function)(const Tensor&)>
Tensors unary(const TorchCall& call) {
  return {function(call.input(0))};
}

template <Tensor (*function)(const Tensor&, const Tensor&)>
Tensors binary(const TorchCall& call) {
  return {function(call.input(0), call.input(1))};
}

/// Any number of inputs, from left to right.
template <Tensor (*function)(const Tensor&, const Tensor&)>
Tensors chain(const TorchCall& call) {
  Tensor result = call.input(0);
  for (std::size_t i = 1; i < call.inputs.size(); ++i) result = function(result, call.input(i));
  return {result};
}

Tensor add(const Tensor& a, const Tensor& b) {
  return at::add(a, b);
}
Tensor sub(const Tensor& a, const Tensor& b) {
  return at::sub(a, b);
}
Tensor mul(const Tensor& a, const Tensor& b) {
  return at::mul(a, b);
}

/// ONNX divides integers towards zero.
Tensor divide(const Tensor& a, const Tensor& b) {
  return at::isFloatingType(a.scalar_type()) ? at::div(a, b) : at::div(a, b, "trunc");
}

/// The result has the type of the base.
Tensor power(const Tensor& base, const Tensor& exponent) {
  return at::pow(base, exponent).to(base.scalar_type());
}

Tensor prelu(const Tensor& x, const Tensor& slope) {
  return at::where(x < 0, x * slope, x);
}

Tensor hard_swish(const Tensor& x) {
  return x * at::clamp(x / 6.0 + 0.5, 0.0, 1.0);
}

/// Not at::softplus, which is linear from 20 on.
Tensor softplus(const Tensor& x) {
  return at::logaddexp(x, at::zeros_like(x));
}

Tensor identity(const Tensor& x) {
  return x;
}

Tensor round_half_even(const Tensor& x) {
  return at::round(x);
}

Tensors leaky_relu(const TorchCall& call) {
  const Tensor& x = call.input(0);
  return {at::where(x < 0, x * call.attrs.real(Attr::alpha), x)};
}

Tensors elu(const TorchCall& call) {
  const Tensor& x = call.input(0);
  return {at::where(x < 0, at::expm1(x) * call.attrs.real(Attr::alpha), x)};
}

Tensors hard_sigmoid(const TorchCall& call) {
  return {at::clamp(call.input(0) * call.attrs.real(Attr::alpha) + call.attrs.real(Attr::beta), 0.0, 1.0)};
}

Tensors gelu(const TorchCall& call) {
  return {at::gelu(call.input(0), call.attrs.text(Attr::approximate))};
}

Tensors clip(const TorchCall& call) {
  Tensor x = call.input(0);
  if (const auto low = call.bound(Attr::min, 1)) x = at::clamp_min(x, *low);
  if (const auto high = call.bound(Attr::max, 2)) x = at::clamp_max(x, *high);
  return {x};
}

/// Between floating types nothing is rounded: the oracle computes over the reals.
Tensors cast(const TorchCall& call) {
  const auto target = static_cast<graph::DType>(call.attrs.integer(Attr::to));
  return {call.input(0).to(oracle_type(target))};
}

Tensors cast_like(const TorchCall& call) {
  return {call.input(0).to(call.input(1).scalar_type())};
}

Tensors where(const TorchCall& call) {
  return {at::where(call.input(0), call.input(1), call.input(2))};
}

TorchRow unary_row(K kind) {
  switch (kind) {
    case K::relu:
      return unary<at::relu>;
    case K::sigmoid:
      return unary<at::sigmoid>;
    case K::hard_swish:
      return unary<hard_swish>;
    case K::tanh:
      return unary<at::tanh>;
    case K::softplus:
      return unary<softplus>;
    case K::erf:
      return unary<at::erf>;
    case K::exp:
      return unary<at::exp>;
    case K::log:
      return unary<at::log>;
    case K::sqrt:
      return unary<at::sqrt>;
    case K::reciprocal:
      return unary<at::reciprocal>;
    case K::neg:
      return unary<at::neg>;
    case K::abs:
      return unary<at::abs>;
    case K::floor:
      return unary<at::floor>;
    case K::ceil:
      return unary<at::ceil>;
    case K::round:
      return unary<round_half_even>;
    case K::sign:
      return unary<at::sign>;
    case K::sin:
      return unary<at::sin>;
    case K::cos:
      return unary<at::cos>;
    case K::identity:
      return unary<identity>;
    case K::logical_not:
      return unary<at::logical_not>;
    case K::leaky_relu:
      return leaky_relu;
    case K::elu:
      return elu;
    case K::hard_sigmoid:
      return hard_sigmoid;
    case K::gelu:
      return gelu;
    case K::clip:
      return clip;
    case K::cast:
      return cast;
    default:
      return nullptr;
  }
}

}  // namespace

TorchRow elementwise_row(K kind) {
  switch (kind) {
    case K::add:
      return binary<add>;
    case K::sub:
      return binary<sub>;
    case K::mul:
      return binary<mul>;
    case K::div:
      return binary<divide>;
    case K::pow:
      return binary<power>;
    case K::max:
      return chain<at::maximum>;
    case K::min:
      return chain<at::minimum>;
    case K::sum:
      return chain<add>;
    case K::prelu:
      return binary<prelu>;
    case K::equal:
      return binary<at::eq>;
    case K::greater:
      return binary<at::gt>;
    case K::less:
      return binary<at::lt>;
    case K::greater_or_equal:
      return binary<at::ge>;
    case K::less_or_equal:
      return binary<at::le>;
    case K::logical_and:
      return binary<at::logical_and>;
    case K::logical_or:
      return binary<at::logical_or>;
    case K::where:
      return where;
    case K::cast_like:
      return cast_like;
    default:
      return unary_row(kind);
  }
}

}
