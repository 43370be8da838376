#include "core/corpus/transformer.h"

#include "core/corpus/basic_ops.h"
#include "core/corpus/layers.h"
#include "core/corpus/norms.h"

namespace regraft::corpus {
namespace {

constexpr double kLayerScale = 0.2;

Tensor scaled(Net& net, const Tensor& x, const TransformerBlock& block) {
  return block.scales_layers ? mul(net, x, net.weight({x.dim(-1)}, kLayerScale / 2, kLayerScale)) : x;
}

Tensor inner_layers(Net& net, const Tensor& x, const TransformerBlock& block) {
  if (!block.gated) return mlp(net, x, block.inner, x.dim(-1), block.activation);
  const bool bias = block.attention.projection_bias;
  const Tensor gate = activate(net, linear(net, x, block.inner, bias), block.activation);
  return linear(net, mul(net, gate, linear(net, x, block.inner, bias)), x.dim(-1), bias);
}

}  // namespace

Tensor block_norm(Net& net, const Tensor& x, const TransformerBlock& block) {
  return block.root_mean_square ? rms_norm(net, x) : layer_norm(net, x);
}

Tensor transformer_block(Net& net, const Tensor& x, const TransformerBlock& block) {
  if (!block.norm_first) {
    const Tensor y = block_norm(net, add(net, attend(net, x, block.attention), x), block);
    return block_norm(net, add(net, inner_layers(net, y, block), y), block);
  }
  const Tensor seen = attend(net, block_norm(net, x, block), block.attention);
  const Tensor y = add(net, x, scaled(net, seen, block));
  const Tensor made = inner_layers(net, block_norm(net, y, block), block);
  return add(net, y, scaled(net, made, block));
}

Tensor patch_tokens(Net& net, const Tensor& image, std::int64_t patch, std::int64_t width) {
  const Tensor x = conv(net, image, {.channels = width, .kernel = {patch}, .stride = patch, .padded = false});
  const std::int64_t places = x.dim(2) * x.dim(3);
  if (net.dialect().is(Exporter::tensorflow))  // channels are last already
    return reshape(net, transpose(net, x, {0, 2, 3, 1}), {x.dim(0), places, width});
  return transpose(net, reshape(net, x, {x.dim(0), width, places}), {0, 2, 1});
}

}
