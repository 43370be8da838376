#include "core/corpus/layers.h"

#include <cmath>

#include "core/corpus/basic_ops.h"
#include "core/corpus/norms.h"

namespace regraft::corpus {
namespace {

constexpr double kConvGain = 1.4;  // half of what a Relu sees is lost (He et al. 2015)
constexpr double kBiasSpread = 0.02;
constexpr std::int64_t kGroupedCost = 5;  // a multiplication of a grouped convolution beside a dense one

/// Space is all behind the channels.
std::size_t space_rank(const Tensor& x) {
  return x.dims.size() - 2;
}

Ints for_space(const Tensor& x, const Ints& given) {
  return given.size() == 1 ? Ints(space_rank(x), given.front()) : given;
}

/// Starts, then ends. With a stride, TensorFlow pads the end more.
Ints padding(const Net& net, const Tensor& x, const Conv& spec, const Ints& kernel) {
  Ints pads(2 * kernel.size(), 0);
  for (std::size_t i = 0; i < kernel.size() && spec.padded; ++i) {
    const std::int64_t reach = spec.dilation * (kernel[i] - 1);
    const std::int64_t over = (x.dims[i + 2] - 1) % spec.stride;  // behind the last window's start
    const std::int64_t total =
        net.dialect().is(Exporter::tensorflow) ? std::max<std::int64_t>(reach - over, 0) : reach;
    pads[i] = total / 2;
    pads[kernel.size() + i] = total - total / 2;
  }
  return pads;
}

Ints window_dims(const Tensor& x, std::int64_t channels, const Ints& kernel, const Ints& pads,
                 std::int64_t stride, std::int64_t dilation) {
  Ints dims = {x.dim(0), channels};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::int64_t padded = x.dims[i + 2] + pads[i] + pads[kernel.size() + i];
    dims.push_back((padded - dilation * (kernel[i] - 1) - 1) / stride + 1);
  }
  return dims;
}

Tensor pool(Net& net, const std::string& op, const Tensor& x, std::int64_t kernel, std::int64_t stride,
            std::int64_t padding, std::vector<Attr> attrs) {
  const Ints window(space_rank(x), kernel), pads(2 * space_rank(x), padding);
  attrs.push_back({"kernel_shape", window});
  attrs.push_back({"pads", pads});
  attrs.push_back({"strides", Ints(space_rank(x), stride)});
  return net.node(op, {x}, window_dims(x, x.dim(1), window, pads, stride, 1), std::move(attrs));
}

Tensor mean_of_space(Net& net, const Tensor& x, bool keep) {
  Ints axes;
  for (std::int64_t axis = 2; axis < x.rank(); ++axis) axes.push_back(axis);
  return reduce(net, "ReduceMean", x, axes, keep);
}

/// The weight of a linear layer as a MatMul takes it; unfolded, PyTorch's is transposed by a node.
Tensor product_weight(Net& net, std::int64_t from, std::int64_t to) {
  const double deviation = 1 / std::sqrt(static_cast<double>(from));
  if (!net.dialect().is(Exporter::torch_raw)) return net.weight({from, to}, deviation);
  return transpose(net, net.weight({to, from}, deviation), {1, 0});
}

}  // namespace

Tensor image_input(Net& net, std::int64_t batch, std::int64_t size) {
  if (!net.dialect().is(Exporter::tensorflow)) return net.input("image", {batch, 3, size, size});
  return transpose(net, net.input("image", {batch, size, size, 3}), {0, 3, 1, 2});
}

void image_output(Net& net, const Tensor& x) {
  net.output(net.dialect().is(Exporter::tensorflow) ? transpose(net, x, {0, 2, 3, 1}) : x);
}

Tensor conv(Net& net, const Tensor& x, const Conv& spec) {
  const Ints kernel = for_space(x, spec.kernel), pads = padding(net, x, spec, kernel);
  const Ints dims = window_dims(x, spec.channels, kernel, pads, spec.stride, spec.dilation);
  Ints weight_dims = {spec.channels, x.dim(1) / spec.groups};
  weight_dims.insert(weight_dims.end(), kernel.begin(), kernel.end());
  const std::int64_t fan_in = element_count(weight_dims) / spec.channels;
  std::vector<Tensor> inputs = {x};
  inputs.push_back(net.weight(weight_dims, kConvGain / std::sqrt(static_cast<double>(fan_in))));
  if (spec.bias) inputs.push_back(net.weight({spec.channels}, kBiasSpread));
  net.count(element_count(dims) * fan_in * (spec.groups > 1 ? kGroupedCost : 1), 100);
  return net.node("Conv", inputs, dims,
                  {{"dilations", Ints(kernel.size(), spec.dilation)},
                   {"group", spec.groups},
                   {"kernel_shape", kernel},
                   {"pads", pads},
                   {"strides", Ints(kernel.size(), spec.stride)}});
}

Tensor conv_norm(Net& net, const Tensor& x, Conv spec, Activation activation) {
  spec.bias = net.dialect().folds_norms;
  const Tensor y = conv(net, x, spec);
  return activate(net, spec.bias ? y : batch_norm(net, y), activation);
}

Tensor conv_transpose(Net& net, const Tensor& x, std::int64_t channels) {
  Ints dims = x.dims, weight_dims = {x.dim(1), channels};
  dims[1] = channels;
  for (std::size_t i = 2; i < dims.size(); ++i) {
    dims[i] *= 2;
    weight_dims.push_back(2);
  }
  const Tensor weight = net.weight(weight_dims, kConvGain / std::sqrt(static_cast<double>(x.dim(1))));
  net.count(element_count(dims) * x.dim(1) * 2, 100);
  return net.node("ConvTranspose", {x, weight, net.weight({channels}, kBiasSpread)}, dims,
                  {{"kernel_shape", Ints(space_rank(x), 2)}, {"strides", Ints(space_rank(x), 2)}});
}

Tensor upsample(Net& net, const Tensor& x) {
  Ints dims = x.dims;
  for (std::size_t i = 2; i < dims.size(); ++i) dims[i] *= 2;
  const Tensor none = net.dialect().opset < 13 ? net.table({0}, std::vector<float>{}) : Tensor{};
  std::vector<Tensor> inputs = {x, none};
  if (net.dialect().is(Exporter::paddle) || net.dialect().is(Exporter::tensorflow)) {
    inputs.push_back(none);
    inputs.push_back(net.list(dims));
  } else {
    inputs.push_back(net.table({4}, std::vector<float>{1, 1, 2, 2}));
  }
  return net.node("Resize", inputs, dims,
                  {{"coordinate_transformation_mode", std::string("asymmetric")},
                   {"mode", std::string("nearest")},
                   {"nearest_mode", std::string("floor")}});
}

Tensor max_pool(Net& net, const Tensor& x, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return pool(net, "MaxPool", x, kernel, stride, padding, {});
}

Tensor average_pool(Net& net, const Tensor& x, std::int64_t kernel, std::int64_t stride,
                    std::int64_t padding) {
  return pool(net, "AveragePool", x, kernel, stride, padding,
              {{"count_include_pad", std::int64_t{net.dialect().is_torch()}}});
}

Tensor global_pool(Net& net, const Tensor& x) {
  if (net.dialect().reduces_space) return mean_of_space(net, x, true);
  Ints dims(x.dims.size(), 1);
  dims[0] = x.dim(0);
  dims[1] = x.dim(1);
  return net.node("GlobalAveragePool", {x}, dims);
}

Tensor squeeze_excite(Net& net, const Tensor& x, std::int64_t reduced, Activation inner, Activation gate) {
  const bool by_keras = net.dialect().is(Exporter::tensorflow);
  const Tensor mean =
      by_keras ? reshape(net, mean_of_space(net, x, false), {x.dim(0), x.dim(1), 1, 1}) : global_pool(net, x);
  const Tensor hidden = activate(net, conv(net, mean, {.channels = reduced}), inner);
  return mul(net, x, activate(net, conv(net, hidden, {.channels = x.dim(1)}), gate));
}

void classify(Net& net, const Tensor& x, std::int64_t classes) {
  Tensor mean;
  if (net.dialect().is(Exporter::tensorflow)) {
    mean = mean_of_space(net, x, false);
  } else if (net.dialect().is(Exporter::torch_dynamo)) {
    mean = reshape(net, global_pool(net, x), {x.dim(0), x.dim(1)});
  } else {
    mean = net.node("Flatten", {global_pool(net, x)}, {x.dim(0), x.dim(1)}, {{"axis", 1}});
  }
  const Tensor logits = linear(net, mean, classes);
  net.output(net.dialect().is_torch() ? logits : softmax(net, logits));
}

Tensor linear(Net& net, const Tensor& x, std::int64_t width, bool bias) {
  const std::int64_t from = x.dim(-1);
  if (x.rank() == 2 && bias && net.dialect().is_torch()) {
    const Tensor weight = net.weight({width, from}, 1 / std::sqrt(static_cast<double>(from)));
    net.count(element_count(weight.dims) * x.dim(0), x.dim(0));
    return net.node("Gemm", {x, weight, net.weight({width}, kBiasSpread)}, {x.dim(0), width},
                    {{"transB", 1}});
  }
  const Tensor weight = product_weight(net, from, width);
  Ints dims = x.dims;
  dims.back() = width;
  Tensor y;
  if (net.dialect().flat_products && x.rank() > 2)
    y = reshape(net, matmul(net, reshape(net, x, {element_count(x.dims) / from, from}), weight), dims);
  else
    y = matmul(net, x, weight);
  if (!bias) return y;
  const Tensor shift = net.weight({width}, kBiasSpread);
  return net.dialect().is_torch() ? add(net, shift, y) : add(net, y, shift);
}

Tensor mlp(Net& net, const Tensor& x, std::int64_t inner, std::int64_t width, Activation activation) {
  return linear(net, activate(net, linear(net, x, inner), activation), width);
}

Tensor embedding(Net& net, const Tensor& ids, std::int64_t rows, std::int64_t width) {
  return gather_rows(net, net.weight({rows, width}, 0.5), ids);
}

}
