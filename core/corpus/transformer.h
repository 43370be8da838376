#pragma once

#include "core/corpus/activate.h"
#include "core/corpus/attention.h"

namespace regraft::corpus {

/// A block of a transformer: attention, then two linear layers, each beside a residual connection.
struct TransformerBlock {
  Attention attention{};
  std::int64_t inner = 0;  // width between the two linear layers
  Activation activation = Activation::gelu;
  bool norm_first = true;         // before each part, not behind its sum
  bool root_mean_square = false;  // RMS norms
  bool gated = false;             // the inner layer is a product of two
  bool scales_layers = false;     // what a part adds is weighted by channel
};

/// Over [batch, tokens, width].
Tensor transformer_block(Net& net, const Tensor& x, const TransformerBlock& block);

/// The norm that the block has.
Tensor block_norm(Net& net, const Tensor& x, const TransformerBlock& block);

/// Patches of an image as tokens: [batch, places, width].
Tensor patch_tokens(Net& net, const Tensor& image, std::int64_t patch, std::int64_t width);

}
