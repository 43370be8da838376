#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"

namespace regraft::corpus {
namespace {

constexpr Activation kSilu = Activation::silu;

/// Two paths, one through `depth` bottlenecks, joined (Wang et al. 2020).
Tensor partial_block(Net& net, const Tensor& x, std::int64_t channels, std::int64_t depth, bool adds) {
  const std::int64_t half = channels / 2;
  Tensor y = conv_norm(net, x, {.channels = half}, kSilu);
  for (std::int64_t i = 0; i < depth; ++i) {
    const Tensor inner = conv_norm(net, y, {.channels = half}, kSilu);
    const Tensor next = conv_norm(net, inner, {.channels = half, .kernel = {3}}, kSilu);
    y = adds ? add(net, y, next) : next;
  }
  return conv_norm(net, concat(net, {y, conv_norm(net, x, {.channels = half}, kSilu)}, 1),
                   {.channels = channels}, kSilu);
}

/// Pools of growing windows, joined.
Tensor pyramid_pool(Net& net, const Tensor& x) {
  std::vector<Tensor> parts = {conv_norm(net, x, {.channels = x.dim(1) / 2}, kSilu)};
  for (int i = 0; i < 3; ++i) parts.push_back(max_pool(net, parts.back(), 5, 1, 2));
  return conv_norm(net, concat(net, parts, 1), {.channels = x.dim(1)}, kSilu);
}

std::vector<float> grid(std::int64_t height, std::int64_t width) {
  std::vector<float> places;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (const std::int64_t place : {x, y}) places.push_back(static_cast<float>(place) - 0.5F);
  return places;
}

/// Boxes around three anchors a place: [batch, boxes, 5 + classes], in pixels.
Tensor boxes(Net& net, const Tensor& x, std::int64_t classes, float stride) {
  const std::int64_t height = x.dim(2), width = x.dim(3), columns = 5 + classes;
  const Tensor raw = conv(net, x, {.channels = 3 * columns});
  const Tensor parts = reshape(net, raw, {x.dim(0), 3, columns, height, width});
  const Tensor y = unary(net, "Sigmoid", transpose(net, parts, {0, 1, 3, 4, 2}));
  const std::vector<Tensor> part = split(net, y, 4, {2, 2, columns - 4});
  const Tensor places = net.table({1, 1, height, width, 2}, grid(height, width));
  const Tensor shifted = add(net, binary(net, "Mul", part[0], 2), places);
  const Tensor centre = binary(net, "Mul", shifted, stride);
  const Tensor square = binary(net, "Pow", binary(net, "Mul", part[1], 2), 2);
  const Tensor extent =
      mul(net, square, net.table({1, 3, 1, 1, 2}, std::vector<float>{10, 13, 16, 30, 33, 23}));
  return reshape(net, concat(net, {centre, extent, part[2]}, 4), {x.dim(0), 3 * height * width, columns});
}

/// Two stacks of convolutions, for classes and boxes, that all scales share where `shared` holds them.
struct SharedHead {
  std::vector<Tensor> weights, biases;
};

Tensor through(Net& net, Tensor x, const SharedHead& head) {
  for (std::size_t i = 0; i < head.weights.size(); ++i) {
    if (i > 0) x = activate(net, x, Activation::relu);
    Ints dims = x.dims;
    dims[1] = head.weights[i].dim(0);
    net.count(element_count(dims) * element_count(head.weights[i].dims) / dims[1], 100);
    x = net.node("Conv", {x, head.weights[i], head.biases[i]}, dims,
                 {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  }
  return reshape(net, transpose(net, x, {0, 2, 3, 1}), {x.dim(0), x.dim(1) * x.dim(2) * x.dim(3) / 4, 4});
}

SharedHead shared_head(Net& net, std::int64_t channels, std::int64_t depth, std::int64_t outputs) {
  SharedHead head;
  for (std::int64_t i = 0; i <= depth; ++i) {
    const std::int64_t to = i == depth ? outputs : channels;
    head.weights.push_back(net.weight({to, channels, 3, 3}, 0.4 / static_cast<double>(channels)));
    head.biases.push_back(net.weight({to}, 0.02));
  }
  return head;
}

}  // namespace

/// Detectors of one stage: YOLO's heads with anchors, or heads that all scales share as in RetinaNet.
void build_detector(Net& net, Draw& draw) {
  const std::int64_t width = draw.pick({16, 24, 32}), depth = draw.pick({1, 1, 2}),
                     size = draw.pick({128, 160, 192, 256, 320});
  const std::int64_t classes = draw.pick({1, 10, 20, 80});
  const bool shares = draw.chance(0.35), goes_back_down = draw.chance(0.6);
  Tensor x = image_input(net, 1, size);
  x = conv_norm(net, x, {.channels = width, .kernel = {6}, .stride = 2}, kSilu);
  std::vector<Tensor> scales;
  for (std::int64_t stage = 1; stage <= 4; ++stage) {
    x = conv_norm(net, x, {.channels = width << stage, .kernel = {3}, .stride = 2}, kSilu);
    x = partial_block(net, x, width << stage, depth, true);
    if (stage >= 2) scales.push_back(x);
  }
  scales.back() = pyramid_pool(net, scales.back());
  for (std::size_t i = scales.size() - 1; i-- > 0;) {
    const std::int64_t channels = scales[i].dim(1);
    scales[i + 1] = conv_norm(net, scales[i + 1], {.channels = channels}, kSilu);
    const Tensor joined = concat(net, {upsample(net, scales[i + 1]), scales[i]}, 1);
    scales[i] = partial_block(net, joined, channels, depth, false);
  }
  for (std::size_t i = 1; goes_back_down && i < scales.size(); ++i) {
    const std::int64_t channels = scales[i].dim(1);
    const Tensor down =
        conv_norm(net, scales[i - 1], {.channels = channels, .kernel = {3}, .stride = 2}, kSilu);
    scales[i] = partial_block(net, concat(net, {down, scales[i]}, 1), 2 * channels, depth, false);
  }
  std::vector<Tensor> found;
  if (shares) {
    for (Tensor& scale : scales) scale = conv(net, scale, {.channels = 4 * width});
    for (const bool of_boxes : {true, false}) {
      const SharedHead head = shared_head(net, 4 * width, depth, of_boxes ? 12 : 3 * 4 * ((classes + 3) / 4));
      found.clear();
      for (const Tensor& scale : scales) found.push_back(through(net, scale, head));
      const Tensor joined = concat(net, found, 1);
      net.output(of_boxes ? joined : unary(net, "Sigmoid", joined));
    }
    return;
  }
  for (std::size_t i = 0; i < scales.size(); ++i)
    found.push_back(boxes(net, scales[i], classes, static_cast<float>(8 << i)));
  net.output(concat(net, found, 1));
}

}
