#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"

namespace regraft::corpus {
namespace {

/// Channel i of group g becomes the g-th of the i-th ones.
Tensor shuffle(Net& net, const Tensor& x, std::int64_t groups) {
  const Tensor split = reshape(net, x, {x.dim(0), groups, x.dim(1) / groups, x.dim(2), x.dim(3)});
  return reshape(net, transpose(net, split, {0, 2, 1, 3, 4}), x.dims);
}

/// ShuffleNet v1: grouped convolutions of one pixel.
Tensor grouped_unit(Net& net, const Tensor& x, std::int64_t channels, std::int64_t stride,
                    std::int64_t groups) {
  const std::int64_t inner = channels / 4;
  const std::int64_t added = stride == 1 ? channels : channels - x.dim(1);
  Tensor y = conv_norm(net, x, {.channels = inner, .groups = groups}, Activation::relu);
  y = shuffle(net, y, groups);
  y = conv_norm(net, y, {.channels = inner, .kernel = {3}, .stride = stride, .groups = inner});
  y = conv_norm(net, y, {.channels = added, .groups = groups});
  const Tensor joined = stride == 1 ? add(net, x, y) : concat(net, {average_pool(net, x, 3, 2, 1), y}, 1);
  return activate(net, joined, Activation::relu);
}

/// ShuffleNet v2: half of the channels pass by.
Tensor split_unit(Net& net, const Tensor& x, std::int64_t channels, std::int64_t stride) {
  const std::int64_t half = channels / 2;
  Tensor by, y = x;
  if (stride == 1) {
    const std::vector<Tensor> halves = chunk(net, x, 1, 2);
    by = halves[0];
    y = halves[1];
  } else {
    by = conv_norm(net, x, {.channels = x.dim(1), .kernel = {3}, .stride = 2, .groups = x.dim(1)});
    by = conv_norm(net, by, {.channels = half}, Activation::relu);
  }
  y = conv_norm(net, y, {.channels = half}, Activation::relu);
  y = conv_norm(net, y, {.channels = half, .kernel = {3}, .stride = stride, .groups = half});
  y = conv_norm(net, y, {.channels = half}, Activation::relu);
  return shuffle(net, concat(net, {by, y}, 1), 2);
}

}  // namespace

/// ShuffleNet v1 and v2 (Zhang et al. 2018, Ma et al. 2018).
void build_shuffled(Net& net, Draw& draw) {
  const bool grouped = draw.chance(0.4);
  const std::int64_t groups = draw.pick({2, 4, 8}), width = draw.pick({48, 96, 128, 192, 256});
  const auto depths = draw.pick<Ints>({{4, 8, 4}, {2, 4, 2}, {3, 7, 3}});
  const std::int64_t size = draw.pick({96, 128, 160, 192, 224});
  Tensor x = image_input(net, draw.pick({1, 1, 1, 4}), size);
  x = conv_norm(net, x, {.channels = 24, .kernel = {3}, .stride = 2}, Activation::relu);
  x = max_pool(net, x, 3, 2, 1);
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    const std::int64_t channels = (grouped ? 2 * width : width) << stage;
    for (std::int64_t i = 0; i < depths[stage]; ++i) {
      const std::int64_t stride = i == 0 ? 2 : 1;
      x = grouped ? grouped_unit(net, x, channels, stride, groups) : split_unit(net, x, channels, stride);
    }
  }
  if (!grouped) x = conv_norm(net, x, {.channels = 1024}, Activation::relu);
  classify(net, x, draw.pick({10, 100, 1000}));
}

}
