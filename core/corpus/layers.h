#pragma once

#include "core/corpus/activate.h"
#include "core/corpus/net.h"

namespace regraft::corpus {

// Layers of networks. Images are [batch, channels, height, width], sequences [batch, channels, length] for
// convolutions, and [..., channels] for everything else.

struct Conv {
  std::int64_t channels = 0;
  Ints kernel = {1};  // one number stands for all axes of space
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  std::int64_t dilation = 1;
  bool bias = true;
  bool padded = true;  // so that the stride alone makes the output smaller
};

/// An image as the framework takes it, made [batch, 3, size, size].
Tensor image_input(Net& net, std::int64_t batch, std::int64_t size);
/// An image as the framework gives it.
void image_output(Net& net, const Tensor& x);

Tensor conv(Net& net, const Tensor& x, const Conv& spec);
/// With BatchNorm, which is part of the convolution where the exporter folds.
Tensor conv_norm(Net& net, const Tensor& x, Conv spec, Activation activation = Activation::none);
/// Twice as large, by a transposed convolution.
Tensor conv_transpose(Net& net, const Tensor& x, std::int64_t channels);
/// Twice as large, nearest neighbours.
Tensor upsample(Net& net, const Tensor& x);
Tensor max_pool(Net& net, const Tensor& x, std::int64_t kernel, std::int64_t stride, std::int64_t padding);
Tensor average_pool(Net& net, const Tensor& x, std::int64_t kernel, std::int64_t stride,
                    std::int64_t padding);
/// Means over space, each an image of one pixel.
Tensor global_pool(Net& net, const Tensor& x);
/// Channels weighted by what a small network makes of their means (Hu et al. 2018).
Tensor squeeze_excite(Net& net, const Tensor& x, std::int64_t reduced, Activation inner, Activation gate);
/// Means over space, then logits of classes: the model's output.
void classify(Net& net, const Tensor& x, std::int64_t classes);

Tensor linear(Net& net, const Tensor& x, std::int64_t width, bool bias = true);
/// Two linear layers.
Tensor mlp(Net& net, const Tensor& x, std::int64_t inner, std::int64_t width, Activation activation);
/// Rows of a table of weights.
Tensor embedding(Net& net, const Tensor& ids, std::int64_t rows, std::int64_t width);

}
