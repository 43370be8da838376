#pragma once

#include "core/corpus/net.h"

namespace regraft::corpus {

/// How tokens look at tokens.
struct Attention {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 0;          // fewer than heads: shared by groups of them; 0: as many
  Tensor bias{};                      // added to the scores, when it has a name: a mask, or positions
  Tensor cosines{}, sines{};          // [tokens, head width], when they have names: rotary positions
  Tensor past_keys{}, past_values{};  // [batch, kv heads, past, head width], when they have names
  bool outputs_present = false;       // keys and values become outputs
  bool projection_bias = true;
};

/// Scaled dot-product attention over [batch, tokens, width], with its four projections.
Tensor attend(Net& net, const Tensor& x, const Attention& spec);

/// Which tokens [tokens, past + tokens] may be seen, as what is added to scores: 0, or a large negative
/// number for those behind.
Tensor causal_mask(Net& net, std::int64_t tokens, std::int64_t past);

/// Sines and cosines of rotary positions, each [tokens, width] (Su et al. 2021).
Tensor rotary_table(Net& net, std::int64_t first, std::int64_t tokens, std::int64_t width, bool sines);

}
