#include <algorithm>

#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"

namespace regraft::corpus {
namespace {

struct InvertedStage {
  std::int64_t expansion, channels, repeats, stride, kernel;
};

/// A number of channels near to the product that is a multiple of 8.
std::int64_t scaled(std::int64_t channels, double width) {
  return std::max<std::int64_t>(8,
                                static_cast<std::int64_t>(static_cast<double>(channels) * width + 4) / 8 * 8);
}

struct InvertedStyle {
  Activation activation, gate;
  bool excites;
};

Tensor inverted_block(Net& net, const Tensor& x, const InvertedStage& stage, std::int64_t channels,
                      std::int64_t stride, const InvertedStyle& style) {
  const std::int64_t inner = x.dim(1) * stage.expansion;
  Tensor y = x;
  if (stage.expansion > 1) y = conv_norm(net, y, {.channels = inner}, style.activation);
  y = conv_norm(net, y, {.channels = inner, .kernel = {stage.kernel}, .stride = stride, .groups = inner},
                style.activation);
  if (style.excites) y = squeeze_excite(net, y, scaled(inner, 0.25), Activation::relu, style.gate);
  y = conv_norm(net, y, {.channels = channels});
  return stride == 1 && channels == x.dim(1) ? add(net, x, y) : y;
}

}  // namespace

/// MobileNet v2 and v3, EfficientNet (Sandler et al. 2018, Howard et al. 2019, Tan and Le 2019).
void build_inverted(Net& net, Draw& draw) {
  const InvertedStyle style =
      draw.pick<InvertedStyle>({{Activation::relu6, Activation::sigmoid, false},
                                {Activation::hard_swish, Activation::hard_sigmoid, true},
                                {Activation::silu, Activation::sigmoid, true}});
  const double width = draw.pick({0.35, 0.5, 0.75, 1.0});
  const std::int64_t large = draw.pick({3, 5}), more = draw.pick({0, 0, 1}), expansion = draw.pick({4, 6});
  const InvertedStage stages[] = {
      {1, 16, 1, 1, 3},
      {expansion, 24, 2, 2, 3},
      {expansion, 40, 2 + more, 2, large},
      {expansion, 80, 3 + more, 2, 3},
      {expansion, 112, 2 + more, 1, large},
      {expansion, 192, 2 + more, 2, large},
  };
  const std::int64_t size = draw.pick({96, 128, 160, 192, 224});
  Tensor x = image_input(net, draw.pick({1, 1, 2}), size);
  x = conv_norm(net, x, {.channels = scaled(32, width), .kernel = {3}, .stride = 2}, style.activation);
  for (const InvertedStage& stage : stages)
    for (std::int64_t i = 0; i < stage.repeats; ++i)
      x = inverted_block(net, x, stage, scaled(stage.channels, width), i == 0 ? stage.stride : 1, style);
  x = conv_norm(net, x, {.channels = scaled(960, width)}, style.activation);
  classify(net, x, draw.pick({10, 100, 1000}));
}

}
