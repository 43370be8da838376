#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"
#include "core/corpus/norms.h"
#include "core/corpus/transformer.h"

namespace regraft::corpus {
namespace {

/// A scale and a shift for each channel, in the place of a norm (ResMLP, Touvron et al. 2021).
Tensor scale_and_shift(Net& net, const Tensor& x) {
  const Tensor scale = net.weight({1, 1, x.dim(2)}, 0.1, 0.5);
  const Tensor scaled = mul(net, scale, x), shift = net.weight({1, 1, x.dim(2)}, 0.1);
  return add(net, shift, scaled);
}

struct MixerStyle {
  std::int64_t token_width, channel_width;
  bool has_norms;
  bool mixes_once;  // one linear layer over tokens, not two
  Activation activation;
};

Tensor mixer_block(Net& net, const Tensor& x, const MixerStyle& style) {
  const auto norm = [&](const Tensor& y) {
    return style.has_norms ? layer_norm(net, y) : scale_and_shift(net, y);
  };
  Tensor tokens = transpose(net, norm(x), {0, 2, 1});
  tokens = style.mixes_once ? linear(net, tokens, x.dim(1))
                            : mlp(net, tokens, style.token_width, x.dim(1), style.activation);
  const Tensor y = add(net, x, transpose(net, tokens, {0, 2, 1}));
  return add(net, y, mlp(net, norm(y), style.channel_width, x.dim(2), style.activation));
}

}  // namespace

/// MLP-Mixer (Tolstikhin et al. 2021) and ResMLP.
void build_mixer(Net& net, Draw& draw) {
  const std::int64_t size = draw.pick({64, 96, 128, 160, 224}), patch = draw.pick({8, 16, 32});
  const std::int64_t width = draw.pick({96, 128, 192, 256, 384, 512}), layers = draw.pick({2, 4, 6, 8, 12});
  MixerStyle style{};
  style.token_width = width / 2;
  style.channel_width = width * draw.pick({2, 4});
  style.has_norms = draw.chance(0.7);
  style.mixes_once = !style.has_norms;
  style.activation = draw.pick({Activation::gelu, Activation::gelu, Activation::gelu_tanh});
  const Tensor image = image_input(net, draw.pick({1, 1, 2}), size);
  Tensor x = patch_tokens(net, image, patch, width);
  for (std::int64_t i = 0; i < layers; ++i) x = mixer_block(net, x, style);
  x = style.has_norms ? layer_norm(net, x) : scale_and_shift(net, x);
  net.output(linear(net, reduce(net, "ReduceMean", x, {1}, false), draw.pick({10, 100, 1000})));
}

}
