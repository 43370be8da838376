#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"
#include "core/corpus/norms.h"
#include "core/corpus/transformer.h"

namespace regraft::corpus {
namespace {

/// 0 where the mask is 1, a large negative number where it is 0: [batch, 1, 1, tokens].
Tensor mask_bias(Net& net, const Tensor& mask) {
  const Tensor wide = unsqueeze(net, unsqueeze(net, mask, 1), 2);
  const Tensor number = net.node("Cast", {wide}, wide.dims, {{"to", 1}});  // float32
  return binary(net, "Mul", binary(net, "Sub", net.scalar(1), number), -1e4);
}

}  // namespace

/// BERT and its kin (Devlin et al. 2019): words, places and kinds of sentences, then blocks.
void build_encoder(Net& net, Draw& draw) {
  const std::int64_t width = draw.pick({128, 192, 256, 312, 384, 512, 768}),
                     layers = draw.pick({2, 3, 4, 6, 8, 12});
  const std::int64_t tokens = draw.pick({16, 32, 48, 64, 128}), batch = draw.pick({1, 1, 1, 2, 4});
  const std::int64_t words = draw.pick({1000, 4000, 8000, 16000});
  TransformerBlock block;
  block.attention.heads = width % 64 == 0 ? width / 64 : 12;
  block.inner = width * draw.pick({2, 4, 4});
  block.activation = draw.pick({Activation::gelu, Activation::gelu, Activation::gelu_tanh, Activation::relu});
  block.norm_first = draw.chance(0.25);
  const bool has_kinds = draw.chance(0.5);

  const Tensor ids = net.input("input_ids", {batch, tokens}, Element::int64);
  const Tensor mask = net.input("attention_mask", {batch, tokens}, Element::int64);
  Tensor x = embedding(net, ids, words, width);
  if (has_kinds) {
    const Tensor kinds = net.input("token_type_ids", {batch, tokens}, Element::int64);
    x = add(net, x, embedding(net, kinds, 2, width));
  }
  x = layer_norm(net, add(net, x, net.weight({1, tokens, width}, 0.5)));
  block.attention.bias = mask_bias(net, mask);
  for (std::int64_t i = 0; i < layers; ++i) x = transformer_block(net, x, block);
  if (block.norm_first) x = layer_norm(net, x);
  switch (draw.pick({0, 1, 2})) {
    case 0:  // hidden states, and the first token's through a layer
      net.output(x);
      net.output(activate(net, linear(net, select(net, x, 1, 0), width), Activation::tanh));
      break;
    case 1:
      net.output(linear(net, reduce(net, "ReduceMean", x, {1}, false), draw.pick({2, 3, 5})));
      break;
    default:  // start and end of an answer
      for (const Tensor& part : chunk(net, linear(net, x, 2), 2, 2)) net.output(squeeze(net, part, 2));
  }
}

}
