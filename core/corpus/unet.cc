#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"
#include "core/corpus/norms.h"

namespace regraft::corpus {
namespace {

struct UnetStyle {
  Activation activation;
  bool groups;      // GroupNorm, not BatchNorm
  bool transposes;  // transposed convolutions make images larger
  bool adds;        // what was kept is added, not joined
};

Tensor double_conv(Net& net, Tensor x, std::int64_t channels, const UnetStyle& style) {
  for (int i = 0; i < 2; ++i) {
    const Conv spec{.channels = channels, .kernel = {3}};
    x = style.groups ? activate(net, group_norm(net, conv(net, x, spec), 8), style.activation)
                     : conv_norm(net, x, spec, style.activation);
  }
  return x;
}

}  // namespace

/// U-Net (Ronneberger et al. 2015) and kin.
void build_unet(Net& net, Draw& draw) {
  UnetStyle style{};
  style.activation =
      draw.pick({Activation::relu, Activation::relu, Activation::leaky_relu, Activation::silu});
  style.groups = draw.chance(0.3);
  style.transposes = draw.chance(0.5);
  style.adds = draw.chance(0.25);
  const std::int64_t width = draw.pick({8, 16, 24, 32}), depth = draw.pick({2, 3, 4});
  const std::int64_t size = draw.pick({64, 96, 128, 160, 256});
  Tensor x = image_input(net, 1, size);
  std::vector<Tensor> kept;
  for (std::int64_t i = 0; i < depth; ++i) {
    kept.push_back(double_conv(net, x, width << i, style));
    x = max_pool(net, kept.back(), 2, 2, 0);
  }
  x = double_conv(net, x, width << depth, style);
  for (; !kept.empty(); kept.pop_back()) {
    const std::int64_t channels = kept.back().dim(1);
    x = style.transposes ? conv_transpose(net, x, channels)
                         : conv(net, upsample(net, x), {.channels = channels, .kernel = {3}});
    x = style.adds ? add(net, x, kept.back()) : concat(net, {kept.back(), x}, 1);
    x = double_conv(net, x, channels, style);
  }
  x = conv(net, x, {.channels = draw.pick({1, 2, 4, 21})});
  image_output(net, x.dim(1) == 1 ? unary(net, "Sigmoid", x) : x);
}

}
