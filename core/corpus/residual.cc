#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"

namespace regraft::corpus {
namespace {

struct ResidualStyle {
  bool bottleneck = false;
  std::int64_t groups = 1;      // ResNeXt: of bottlenecks
  bool excites = false;         // SENet
  bool pools_shortcut = false;  // ResNet-D
  Activation activation = Activation::relu;
};

Tensor shortcut(Net& net, const Tensor& x, std::int64_t channels, std::int64_t stride,
                const ResidualStyle& block) {
  if (x.dim(1) == channels && stride == 1) return x;
  if (!block.pools_shortcut || stride == 1)
    return conv_norm(net, x, {.channels = channels, .stride = stride});
  return conv_norm(net, average_pool(net, x, 2, 2, 0), {.channels = channels});
}

Tensor residual_block(Net& net, const Tensor& x, std::int64_t width, std::int64_t stride,
                      const ResidualStyle& block) {
  Tensor y;
  std::int64_t channels = width;
  if (block.bottleneck) {
    channels = 4 * width;
    const std::int64_t inner = block.groups > 1 ? 2 * width : width;
    y = conv_norm(net, x, {.channels = inner}, block.activation);
    y = conv_norm(net, y, {.channels = inner, .kernel = {3}, .stride = stride, .groups = block.groups},
                  block.activation);
    y = conv_norm(net, y, {.channels = channels});
  } else {
    y = conv_norm(net, x, {.channels = width, .kernel = {3}, .stride = stride}, block.activation);
    y = conv_norm(net, y, {.channels = width, .kernel = {3}});
  }
  if (block.excites) y = squeeze_excite(net, y, channels / 16, Activation::relu, Activation::sigmoid);
  return activate(net, add(net, y, shortcut(net, x, channels, stride, block)), block.activation);
}

}  // namespace

/// ResNet and its kin (He et al. 2016).
void build_residual(Net& net, Draw& draw) {
  ResidualStyle block;
  block.bottleneck = draw.chance(0.5);
  block.groups = block.bottleneck ? draw.pick({1, 1, 8, 32}) : 1;
  block.excites = draw.chance(0.3);
  block.pools_shortcut = draw.chance(0.3);
  block.activation =
      draw.pick({Activation::relu, Activation::relu, Activation::silu, Activation::leaky_relu});
  const auto depths =
      draw.pick<Ints>({{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 4, 6, 3}, {2, 2, 2}, {3, 3, 3}, {1, 2, 4, 1}});
  const std::int64_t width = draw.pick({32, 32, 48, 64}), size = draw.pick({64, 96, 128, 160, 192, 224});
  Tensor x = image_input(net, draw.pick({1, 1, 1, 2, 4}), size);
  if (draw.chance(0.7)) {
    x = conv_norm(net, x, {.channels = width, .kernel = {7}, .stride = 2}, block.activation);
  } else {
    x = conv_norm(net, x, {.channels = width / 2, .kernel = {3}, .stride = 2}, block.activation);
    x = conv_norm(net, x, {.channels = width / 2, .kernel = {3}}, block.activation);
    x = conv_norm(net, x, {.channels = width, .kernel = {3}}, block.activation);
  }
  x = max_pool(net, x, 3, 2, 1);
  for (std::size_t stage = 0; stage < depths.size(); ++stage)
    for (std::int64_t i = 0; i < depths[stage]; ++i)
      x = residual_block(net, x, width << stage, i == 0 && stage > 0 ? 2 : 1, block);
  classify(net, x, draw.pick({10, 100, 1000}));
}

}
