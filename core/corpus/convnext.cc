#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"
#include "core/corpus/norms.h"

namespace regraft::corpus {
namespace {

constexpr double kChannelScale = 0.2;

Tensor norm_of_channels(Net& net, const Tensor& x) {
  return transpose(net, layer_norm(net, transpose(net, x, {0, 2, 3, 1})), {0, 3, 1, 2});
}

struct ConvNextStyle {
  std::int64_t kernel;
  bool convolves;  // the two layers behind are convolutions of one pixel, not linear
  bool scales;
  Activation activation;
};

Tensor next_block(Net& net, const Tensor& x, const ConvNextStyle& style) {
  const std::int64_t width = x.dim(1);
  Tensor y = conv(net, x, {.channels = width, .kernel = {style.kernel}, .groups = width});
  if (style.convolves) {
    y = conv(net, norm_of_channels(net, y), {.channels = 4 * width});
    y = conv(net, activate(net, y, style.activation), {.channels = width});
    if (style.scales) y = mul(net, y, net.weight({1, width, 1, 1}, kChannelScale / 2, kChannelScale));
    return add(net, x, y);
  }
  y = layer_norm(net, transpose(net, y, {0, 2, 3, 1}));
  y = mlp(net, y, 4 * width, width, style.activation);
  if (style.scales) y = mul(net, y, net.weight({width}, kChannelScale / 2, kChannelScale));
  return add(net, x, transpose(net, y, {0, 3, 1, 2}));
}

}  // namespace

/// ConvNeXt (Liu et al. 2022).
void build_convnext(Net& net, Draw& draw) {
  ConvNextStyle style{};
  style.kernel = draw.pick({5, 7, 7});
  style.convolves = draw.chance(0.4);
  style.scales = draw.chance(0.7);
  style.activation = draw.pick({Activation::gelu, Activation::gelu, Activation::gelu_tanh});
  const std::int64_t width = draw.pick({24, 32, 40, 48, 64}), size = draw.pick({64, 96, 128, 160, 224});
  const auto depths = draw.pick<Ints>({{1, 1, 3, 1}, {2, 2, 6, 2}, {3, 3, 9, 3}, {2, 2, 2, 2}, {2, 2, 4}});
  Tensor x = image_input(net, draw.pick({1, 1, 2}), size);
  x = norm_of_channels(net, conv(net, x, {.channels = width, .kernel = {4}, .stride = 4, .padded = false}));
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    if (stage > 0)
      x = conv(net, norm_of_channels(net, x),
               {.channels = width << stage, .kernel = {2}, .stride = 2, .padded = false});
    for (std::int64_t i = 0; i < depths[stage]; ++i) x = next_block(net, x, style);
  }
  const Tensor mean = reshape(net, global_pool(net, x), {x.dim(0), x.dim(1)});
  net.output(linear(net, layer_norm(net, mean), draw.pick({10, 100, 1000})));
}

}
