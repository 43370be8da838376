#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"
#include "core/corpus/norms.h"
#include "core/corpus/transformer.h"

namespace regraft::corpus {
namespace {

/// [batch, height, width, channels], moved by some places along both axes; what leaves comes in behind.
Tensor roll(Net& net, Tensor x, std::int64_t places) {
  for (const std::int64_t axis : {1, 2}) {
    const std::int64_t size = x.dim(axis), cut = (places % size + size) % size;
    const Tensor last = slice(net, x, axis, cut, size);
    x = concat(net, {last, slice(net, x, axis, 0, cut)}, axis);
  }
  return x;
}

/// [batch * windows, window^2, channels]
Tensor to_windows(Net& net, const Tensor& x, std::int64_t window) {
  const std::int64_t batch = x.dim(0), rows = x.dim(1) / window, columns = x.dim(2) / window,
                     channels = x.dim(3);
  const Tensor parts = reshape(net, x, {batch, rows, window, columns, window, channels});
  return reshape(net, transpose(net, parts, {0, 1, 3, 2, 4, 5}),
                 {batch * rows * columns, window * window, channels});
}

Tensor from_windows(Net& net, const Tensor& x, const Ints& dims, std::int64_t window) {
  const Tensor parts =
      reshape(net, x, {dims[0], dims[1] / window, dims[2] / window, window, window, dims[3]});
  return reshape(net, transpose(net, parts, {0, 1, 3, 2, 4, 5}), dims);
}

/// Biases by the distance of two places, read from a table of each head's: [1, heads, places, places].
Tensor place_bias(Net& net, std::int64_t window, std::int64_t heads) {
  const std::int64_t span = 2 * window - 1, places = window * window;
  Ints rows;
  for (std::int64_t a = 0; a < places; ++a)
    for (std::int64_t b = 0; b < places; ++b)
      rows.push_back((a / window - b / window + window - 1) * span + a % window - b % window + window - 1);
  const Tensor table = net.weight({span * span, heads}, 0.3);
  const Tensor biases = gather_rows(net, table, net.table({places * places}, rows));
  return unsqueeze(net, transpose(net, reshape(net, biases, {places, places, heads}), {2, 0, 1}), 0);
}

struct WindowStyle {
  std::int64_t window, head_width;
  Activation activation;
};

Tensor windowed_block(Net& net, const Tensor& x, bool shifts, const WindowStyle& style) {
  Tensor y = layer_norm(net, x);
  if (shifts) y = roll(net, y, style.window / 2);
  Attention attention;
  attention.heads = x.dim(3) / style.head_width;
  attention.bias = place_bias(net, style.window, attention.heads);
  y = from_windows(net, attend(net, to_windows(net, y, style.window), attention), x.dims, style.window);
  if (shifts) y = roll(net, y, -style.window / 2);
  y = add(net, x, y);
  return add(net, y, mlp(net, layer_norm(net, y), 4 * x.dim(3), x.dim(3), style.activation));
}

/// Four neighbours become one place of twice the width.
Tensor merge(Net& net, const Tensor& x) {
  std::vector<Tensor> parts;
  for (const std::int64_t column : {0, 1})
    for (const std::int64_t row : {0, 1})
      parts.push_back(slice(net, slice(net, x, 1, row, x.dim(1), 2), 2, column, x.dim(2), 2));
  return linear(net, layer_norm(net, concat(net, parts, 3)), 2 * x.dim(3), false);
}

}  // namespace

/// Swin (Liu et al. 2021): attention within windows that move by half of their size every other time. The
/// masks of windows at the edge are left out, as some forks do.
void build_windowed(Net& net, Draw& draw) {
  WindowStyle style{};
  style.window = draw.pick({4, 7, 8});
  style.head_width = draw.pick({16, 32});
  style.activation = draw.pick({Activation::gelu, Activation::gelu, Activation::gelu_tanh});
  const auto depths = draw.pick<Ints>({{2, 2}, {2, 2, 2}, {2, 4}, {2, 2, 4}});
  const std::int64_t width = draw.pick({32, 64, 96}), patch = 4;
  const std::int64_t size = style.window * patch * draw.pick({4, 4, 8});
  Tensor x = image_input(net, 1, size);
  x = patch_tokens(net, x, patch, width);
  x = layer_norm(net, reshape(net, x, {1, size / patch, size / patch, x.dim(2)}));
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    if (stage > 0) x = merge(net, x);
    for (std::int64_t i = 0; i < depths[stage]; ++i)
      x = windowed_block(net, x, i % 2 == 1 && x.dim(1) > style.window, style);
  }
  const Tensor tokens = reshape(net, layer_norm(net, x), {1, x.dim(1) * x.dim(2), x.dim(3)});
  net.output(linear(net, reduce(net, "ReduceMean", tokens, {1}, false), draw.pick({10, 100, 1000})));
}

}
