#include <cmath>
#include <numbers>

#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"
#include "core/corpus/norms.h"
#include "core/corpus/transformer.h"

namespace regraft::corpus {
namespace {

/// Cosines, then sines, of the Fourier transform of a window: [window + 2, 1, window].
Tensor fourier_basis(Net& net, std::int64_t window) {
  std::vector<float> values;
  for (const bool sines : {false, true}) {
    std::vector<float> wave;
    for (std::int64_t i = 0; i < window; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(window);
      wave.push_back(static_cast<float>(sines ? -std::sin(angle) : std::cos(angle)));
    }
    for (std::int64_t k = 0; k <= window / 2; ++k)
      for (std::int64_t n = 0; n < window; ++n)
        values.push_back(wave[static_cast<std::size_t>(k * n % window)]);
  }
  return net.table({window + 2, 1, window}, std::move(values));
}

/// Log energies of bands, with the mean over time taken away: [1, bands, frames].
Tensor spectrogram(Net& net, std::int64_t samples, std::int64_t window, std::int64_t bands) {
  const std::int64_t hop = window / 2, bins = window / 2 + 1;
  const Tensor wave = unsqueeze(net, net.input("wave", {1, samples}), 1);
  const Tensor padded = net.node("Pad", {wave, net.list({0, 0, hop, 0, 0, hop})}, {1, 1, samples + window});
  const std::int64_t frames = samples / hop + 1;
  net.count((window + 2) * window * frames, 100);
  const Tensor transformed = net.node("Conv", {padded, fourier_basis(net, window)}, {1, window + 2, frames},
                                      {{"kernel_shape", Ints{window}}, {"strides", Ints{hop}}});
  const std::vector<Tensor> part = chunk(net, transformed, 1, 2);
  const Tensor real = binary(net, "Pow", part[0], 2);
  const Tensor power = add(net, real, binary(net, "Pow", part[1], 2));
  const Tensor bank =
      net.weight({bands, bins}, 0.5 / static_cast<double>(bins), 1 / static_cast<double>(bins));
  const Tensor log = unary(net, "Log", binary(net, "Add", matmul(net, bank, power), 1e-5));
  return binary(net, "Sub", log, reduce(net, "ReduceMean", log, {2}, true));
}

/// Convolutions of the wave itself, as in wav2vec 2.0 (Baevski et al. 2020).
Tensor wave_encoder(Net& net, std::int64_t samples, std::int64_t width) {
  Tensor x = unsqueeze(net, net.input("wave", {1, samples}), 1);
  const std::int64_t kernels[] = {10, 3, 3, 3, 2}, strides[] = {5, 2, 2, 2, 2};
  for (std::size_t i = 0; i < std::size(kernels); ++i) {
    x = conv(
        net, x,
        {.channels = width, .kernel = {kernels[i]}, .stride = strides[i], .bias = false, .padded = false});
    if (i == 0) x = group_norm(net, x, width);
    x = activate(net, x, Activation::gelu);
  }
  return x;
}

/// Blocks of convolutions over time: whole ones, or one channel at a time and then one frame at a time.
Tensor time_convolutions(Net& net, Tensor x, std::int64_t width, std::int64_t layers, bool separable) {
  x = conv_norm(net, x, {.channels = width, .kernel = {11}, .stride = 2}, Activation::relu);
  for (std::int64_t i = 0; i < layers; ++i) {
    Tensor y = x;
    if (separable) {
      y = conv(net, y, {.channels = width, .kernel = {13}, .groups = width, .bias = false});
      y = conv_norm(net, y, {.channels = width});
    } else {
      y = conv_norm(net, y, {.channels = width, .kernel = {5}});
    }
    x = activate(net, add(net, x, y), Activation::relu);
  }
  return x;
}

}  // namespace

/// Speech: a front end of convolutions, then convolutions over time or a transformer.
void build_speech(Net& net, Draw& draw) {
  const std::int64_t samples = draw.pick({8000, 16000, 32000}), width = draw.pick({128, 192, 256});
  const std::int64_t layers = draw.pick({2, 4, 6}), window = draw.pick({256, 400, 512});
  const bool of_wave = draw.chance(0.35), separable = draw.chance(0.5), attends = draw.chance(0.5);
  Tensor x = of_wave ? wave_encoder(net, samples, width)
                     : spectrogram(net, samples, window, draw.pick({40, 64, 80}));
  if (!attends || !of_wave) x = time_convolutions(net, x, width, layers, separable);
  x = transpose(net, x, {0, 2, 1});
  if (attends) {
    TransformerBlock block;
    block.attention.heads = width / 64;
    block.inner = 4 * width;
    block.norm_first = draw.chance(0.5);
    x = layer_norm(net, x);
    for (std::int64_t i = 0; i < layers / 2; ++i) x = transformer_block(net, x, block);
  }
  const Tensor letters = linear(net, x, draw.pick({29, 32, 64}));
  net.output(net.dialect().is_torch() ? unary(net, "LogSoftmax", letters, {{"axis", -1}})
                                      : softmax(net, letters));
}

}
