#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"
#include "core/corpus/recurrent_layers.h"

namespace regraft::corpus {
namespace {

/// [batch, steps, width] of a line of text, by convolutions (Shi et al. 2017).
Tensor read_line(Net& net, Draw& draw) {
  Tensor x = net.input("line", {1, 1, 32, draw.pick({96, 128, 160})});
  for (const std::int64_t channels : {16, 32, 64}) {
    x = conv_norm(net, x, {.channels = channels, .kernel = {3}}, Activation::relu);
    x = max_pool(net, x, 2, 2, 0);
  }
  x = conv(net, x, {.channels = 64, .kernel = {4, 1}, .padded = false});
  return transpose(net, squeeze(net, x, 2), {0, 2, 1});
}

Tensor read_words(Net& net, Draw& draw) {
  const std::int64_t batch = draw.pick({1, 1, 4, 8}), steps = draw.pick({16, 24, 48, 64});
  const std::int64_t words = draw.pick({2000, 8000, 12000}), width = draw.pick({64, 100, 128, 200, 256});
  return embedding(net, net.input("ids", {batch, steps}, Element::int64), words, width);
}

}  // namespace

/// LSTM and GRU layers over words, numbers or a line of text that convolutions read.
void build_recurrent(Net& net, Draw& draw) {
  const Cell cell = draw.pick({Cell::lstm, Cell::gru});
  const std::int64_t hidden = draw.pick({64, 128, 200, 256, 384}), layers = draw.pick({1, 2, 3});
  const std::int64_t directions = draw.pick({1, 2});
  Tensor x;
  switch (draw.pick({0, 0, 1, 2})) {
    case 0:
      x = read_words(net, draw);
      break;
    case 1:
      x = read_line(net, draw);
      break;
    default: {
      const std::int64_t steps = draw.pick({20, 50, 100});
      x = net.input("series", {draw.pick({1, 4, 16}), steps, draw.pick({8, 40, 80})});
    }
  }
  x = transpose(net, x, {1, 0, 2});
  for (std::int64_t i = 0; i < layers; ++i) x = recurrent(net, x, cell, hidden, directions);
  x = transpose(net, x, {1, 0, 2});
  const std::int64_t outputs = draw.pick({2, 10, 37, 100});
  if (draw.chance(0.5))
    net.output(softmax(net, linear(net, x, outputs)));
  else
    net.output(linear(net, select(net, x, 1, x.dim(1) - 1), outputs));
}

}
