#include "core/corpus/norms.h"

#include "core/corpus/basic_ops.h"

namespace regraft::corpus {
namespace {

constexpr double kSpread = 0.1;  // of scales around 1 and shifts around 0

float epsilon(const Net& net) {
  return net.dialect().is(Exporter::tensorflow) ? 1e-3F : 1e-5F;
}

struct Affine {
  Tensor scale, shift;
};

Affine affine(Net& net, const Ints& dims) {
  const Tensor scale = net.weight(dims, kSpread, 1);
  return {scale, net.weight(dims, kSpread)};
}

/// PyTorch's and Paddle's: (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + shift
Tensor norm_in_parts(Net& net, const Tensor& x, const Affine& weights) {
  const Tensor centred = binary(net, "Sub", x, reduce(net, "ReduceMean", x, {-1}, true));
  const Tensor variance = reduce(net, "ReduceMean", binary(net, "Pow", centred, 2), {-1}, true);
  const Tensor deviation = unary(net, "Sqrt", binary(net, "Add", variance, epsilon(net)));
  return add(net, mul(net, binary(net, "Div", centred, deviation), weights.scale), weights.shift);
}

/// Keras': x * f + (shift - mean * f), where f = scale / sqrt(variance + epsilon)
Tensor norm_by_moments(Net& net, const Tensor& x, const Affine& weights) {
  const Tensor mean = reduce(net, "ReduceMean", x, {-1}, true);
  const Tensor centred = binary(net, "Sub", x, mean);
  const Tensor variance = reduce(net, "ReduceMean", mul(net, centred, centred), {-1}, true);
  const Tensor inverse =
      unary(net, "Reciprocal", unary(net, "Sqrt", binary(net, "Add", variance, epsilon(net))));
  const Tensor factor = mul(net, inverse, weights.scale);
  const Tensor scaled = mul(net, x, factor);
  const Tensor shift = binary(net, "Sub", weights.shift, mul(net, mean, factor));
  return add(net, scaled, shift);
}

}  // namespace

Tensor batch_norm(Net& net, const Tensor& x) {
  const Ints dims = {x.dim(1)};
  const Affine weights = affine(net, dims);
  const Tensor mean = net.weight(dims, kSpread);
  const Tensor variance = net.weight(dims, kSpread, 1);
  return net.node("BatchNormalization", {x, weights.scale, weights.shift, mean, variance}, x.dims,
                  {{"epsilon", epsilon(net)}});
}

Tensor layer_norm(Net& net, const Tensor& x) {
  const Affine weights = affine(net, {x.dim(-1)});
  if (net.dialect().is(Exporter::tensorflow)) return norm_by_moments(net, x, weights);
  if (net.dialect().opset < 17) return norm_in_parts(net, x, weights);
  return net.node("LayerNormalization", {x, weights.scale, weights.shift}, x.dims,
                  {{"axis", -1}, {"epsilon", epsilon(net)}});
}

Tensor rms_norm(Net& net, const Tensor& x) {
  const Tensor scale = net.weight({x.dim(-1)}, kSpread, 1);
  const bool is_product = net.dialect().is(Exporter::tensorflow);
  const Tensor square = is_product ? mul(net, x, x) : binary(net, "Pow", x, 2);
  const Tensor mean = reduce(net, "ReduceMean", square, {-1}, true);
  const Tensor root = unary(net, "Sqrt", binary(net, "Add", mean, epsilon(net)));
  switch (net.dialect().exporter) {
    case Exporter::torch_script:
    case Exporter::torch_raw:
      return mul(net, scale, mul(net, x, binary(net, "Div", net.scalar(1), root)));
    case Exporter::paddle:
      return mul(net, binary(net, "Div", x, root), scale);
    default:
      return mul(net, mul(net, x, unary(net, "Reciprocal", root)), scale);
  }
}

Tensor group_norm(Net& net, const Tensor& x, std::int64_t groups) {
  const Tensor flat = reshape(net, x, {x.dim(0), groups, element_count(x.dims) / x.dim(0) / groups});
  const std::vector<float> ones(static_cast<std::size_t>(groups), 1), zeros(ones.size(), 0);
  const Tensor scale = net.table({groups}, ones);
  const Tensor normal = net.node("InstanceNormalization", {flat, scale, net.table({groups}, zeros)},
                                 flat.dims, {{"epsilon", epsilon(net)}});
  Ints dims(x.dims.size() - 1, 1);
  dims.front() = x.dim(1);
  const Affine weights = affine(net, dims);
  return add(net, mul(net, reshape(net, normal, x.dims), weights.scale), weights.shift);
}

}
