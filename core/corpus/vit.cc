#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"
#include "core/corpus/norms.h"
#include "core/corpus/transformer.h"

namespace regraft::corpus {

/// Vision transformers (Dosovitskiy et al. 2021), with a token for the class or a mean of all.
void build_vit(Net& net, Draw& draw) {
  const std::int64_t size = draw.pick({64, 96, 128, 160, 224}), patch = draw.pick({8, 16, 16, 32});
  const std::int64_t width = draw.pick({128, 192, 256, 384}), layers = draw.pick({2, 3, 4, 6, 8, 12});
  const bool has_token = draw.chance(0.6);
  TransformerBlock block;
  block.attention.heads = width / draw.pick({32, 64});
  block.inner = width * draw.pick({2, 3, 4});
  block.activation = draw.pick({Activation::gelu, Activation::gelu, Activation::gelu_tanh});
  block.scales_layers = draw.chance(0.3);
  block.attention.projection_bias = draw.chance(0.8);

  const Tensor image = image_input(net, draw.pick({1, 1, 2}), size);
  Tensor x = patch_tokens(net, image, patch, width);
  if (has_token) {
    Tensor token = net.weight({1, 1, width}, 0.5);
    if (x.dim(0) > 1) token = expand(net, token, {x.dim(0), 1, width});
    x = concat(net, {token, x}, 1);
  }
  x = add(net, x, net.weight({1, x.dim(1), width}, 0.5));
  for (std::int64_t i = 0; i < layers; ++i) x = transformer_block(net, x, block);
  x = has_token ? select(net, layer_norm(net, x), 1, 0)
                : layer_norm(net, reduce(net, "ReduceMean", x, {1}, false));
  net.output(linear(net, x, draw.pick({10, 100, 1000})));
}

}
