#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"

namespace regraft::corpus {
namespace {

/// SqueezeNet's module (Iandola et al. 2016).
Tensor fire(Net& net, const Tensor& x, std::int64_t width) {
  const Tensor squeezed = activate(net, conv(net, x, {.channels = width / 4}), Activation::relu);
  const Tensor one = activate(net, conv(net, squeezed, {.channels = width}), Activation::relu);
  const Tensor three =
      activate(net, conv(net, squeezed, {.channels = width, .kernel = {3}}), Activation::relu);
  return concat(net, {one, three}, 1);
}

/// Branches of 1, 3 and 5 pixels and a pool; the middle ones as a row and a column of `factor`, when it is
/// not 0.
Tensor branches(Net& net, const Tensor& x, std::int64_t width, std::int64_t factor) {
  constexpr Activation kRelu = Activation::relu;
  const Tensor one = conv_norm(net, x, {.channels = width}, kRelu);
  Tensor three = conv_norm(net, x, {.channels = width / 2}, kRelu);
  if (factor == 0) {
    three = conv_norm(net, three, {.channels = width, .kernel = {3}}, kRelu);
  } else {
    three = conv_norm(net, three, {.channels = width / 2, .kernel = {1, factor}}, kRelu);
    three = conv_norm(net, three, {.channels = width, .kernel = {factor, 1}}, kRelu);
  }
  Tensor five = conv_norm(net, x, {.channels = width / 4}, kRelu);
  five = conv_norm(net, five, {.channels = width / 2, .kernel = {3}}, kRelu);
  five = conv_norm(net, five, {.channels = width / 2, .kernel = {3}}, kRelu);
  const Tensor pooled = conv_norm(net, average_pool(net, x, 3, 1, 1), {.channels = width / 2}, kRelu);
  return concat(net, {one, three, five, pooled}, 1);
}

}  // namespace

/// Inception and SqueezeNet: convolutions side by side (Szegedy et al. 2016).
void build_inception(Net& net, Draw& draw) {
  const bool squeezes = draw.chance(0.35);
  const std::int64_t factor = draw.pick({0, 0, 7}), width = draw.pick({32, 48, 64, 96});
  const auto depths = draw.pick<Ints>({{2, 2, 4}, {2, 5, 2}, {1, 2, 2}, {3, 4, 2}});
  const std::int64_t size = draw.pick({96, 128, 160, 224});
  Tensor x = image_input(net, draw.pick({1, 1, 4}), size);
  x = conv_norm(net, x, {.channels = width, .kernel = {3}, .stride = 2}, Activation::relu);
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    x = max_pool(net, x, 3, 2, 1);
    const std::int64_t channels = width * static_cast<std::int64_t>(stage + 1);
    for (std::int64_t i = 0; i < depths[stage]; ++i)
      x = squeezes ? fire(net, x, channels) : branches(net, x, channels, factor);
  }
  if (squeezes) x = activate(net, conv(net, x, {.channels = 1000}), Activation::relu);
  classify(net, x, draw.pick({10, 100, 1000}));
}

}
