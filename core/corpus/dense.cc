#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"
#include "core/corpus/norms.h"

namespace regraft::corpus {
namespace {

/// Norm and activation come first, so exporters have nothing to fold them into.
Tensor norm_conv(Net& net, const Tensor& x, const Conv& spec) {
  return conv(net, activate(net, batch_norm(net, x), Activation::relu), spec);
}

}  // namespace

/// DenseNet (Huang et al. 2017): each layer sees all before it. PyTorch joins them anew, Keras pair by pair.
void build_dense(Net& net, Draw& draw) {
  const std::int64_t growth = draw.pick({12, 16, 24, 32});
  const auto depths = draw.pick<Ints>({{6, 12, 24, 16}, {4, 8, 8}, {6, 6, 6}, {3, 6, 9, 6}, {4, 4, 4, 4}});
  const bool bottleneck = draw.chance(0.7), pairwise = !net.dialect().is_torch();
  const std::int64_t size = draw.pick({64, 96, 128, 160, 224});
  Tensor x = image_input(net, draw.pick({1, 1, 2}), size);
  x = conv_norm(net, x, {.channels = 2 * growth, .kernel = {7}, .stride = 2}, Activation::relu);
  x = max_pool(net, x, 3, 2, 1);
  for (std::size_t block = 0; block < depths.size(); ++block) {
    std::vector<Tensor> parts = {x};
    for (std::int64_t i = 0; i < depths[block]; ++i) {
      Tensor y = parts.size() == 1 ? parts.front() : concat(net, parts, 1);
      if (pairwise) parts = {y};
      if (bottleneck) y = norm_conv(net, y, {.channels = 4 * growth, .bias = false});
      parts.push_back(norm_conv(net, y, {.channels = growth, .kernel = {3}, .bias = false}));
    }
    x = concat(net, parts, 1);
    if (block + 1 == depths.size()) break;
    x = norm_conv(net, x, {.channels = x.dim(1) / 2, .bias = false});
    x = average_pool(net, x, 2, 2, 0);
  }
  classify(net, activate(net, batch_norm(net, x), Activation::relu), draw.pick({10, 100, 1000}));
}

}
