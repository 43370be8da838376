#include "core/corpus/basic_ops.h"
#include "core/corpus/families.h"
#include "core/corpus/layers.h"
#include "core/corpus/transformer.h"

namespace regraft::corpus {
namespace {

constexpr std::int64_t kHeadWidth = 64;

struct Sizes {
  std::int64_t width, layers, tokens, past, words;
};

Tensor cache(Net& net, const std::string& name, const Sizes& sizes, std::int64_t heads) {
  return net.input(name, {1, heads, sizes.past, kHeadWidth});
}

}  // namespace

/// Decoders as Llama (rotary positions, RMS norms, gated layers) or GPT-2 (learned positions): a whole
/// sequence, or some tokens behind a cache of keys and values.
void build_decoder(Net& net, Draw& draw) {
  Sizes sizes{};
  sizes.width = draw.pick({128, 256, 384, 512});
  sizes.layers = draw.pick({2, 3, 4, 6});
  const bool has_cache = draw.chance(0.4), rotary = draw.chance(0.7);
  sizes.past = has_cache ? draw.pick({16, 64, 128, 256}) : 0;
  sizes.tokens = has_cache ? draw.pick({1, 1, 4}) : draw.pick({16, 32, 64, 128});
  sizes.words = draw.pick({1000, 2000, 4000, 8000});
  TransformerBlock block;
  block.attention.heads = sizes.width / kHeadWidth;
  block.attention.kv_heads =
      block.attention.heads % 2 == 0 && draw.chance(0.5) ? block.attention.heads / 2 : 0;
  block.attention.projection_bias = !rotary;
  block.attention.outputs_present = has_cache;
  block.root_mean_square = block.gated = rotary;
  block.activation = rotary ? Activation::silu : Activation::gelu_tanh;
  block.inner = rotary ? sizes.width * 11 / 4 / 32 * 32 : 4 * sizes.width;

  Tensor x =
      embedding(net, net.input("input_ids", {1, sizes.tokens}, Element::int64), sizes.words, sizes.width);
  if (rotary) {
    block.attention.cosines = rotary_table(net, sizes.past, sizes.tokens, kHeadWidth, false);
    block.attention.sines = rotary_table(net, sizes.past, sizes.tokens, kHeadWidth, true);
  } else {
    x = add(net, x, net.weight({1, sizes.tokens, sizes.width}, 0.2));
  }
  if (sizes.tokens > 1) block.attention.bias = causal_mask(net, sizes.tokens, sizes.past);
  const std::int64_t kv_heads =
      block.attention.kv_heads > 0 ? block.attention.kv_heads : block.attention.heads;
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    if (has_cache) {
      block.attention.past_keys = cache(net, "past_key_" + std::to_string(i), sizes, kv_heads);
      block.attention.past_values = cache(net, "past_value_" + std::to_string(i), sizes, kv_heads);
    }
    x = transformer_block(net, x, block);
  }
  net.output(linear(net, block_norm(net, x, block), sizes.words, false));
}

}
