#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/enum_names.h"
#include "core/nn/model/weights.h"

namespace regraft::nn {

enum class ControllerKind : std::uint8_t {
  hierarchical,  // a rule from [z, h], a location from [z, h, rule], values V1 and V2; trained by PPO
  linear,        // a query, linear in [z, h], matched against embedded actions; trained by evolution
};
constexpr std::array<std::string_view, 2> enum_names(ControllerKind) {
  return {"hierarchical", "linear"};
}

/// The size of a controller: what acts on a world model's state, in a dream or along a real episode.
struct ControllerConfig {
  ControllerKind kind = ControllerKind::hierarchical;
  std::uint32_t state = 288;      // dims of [z, h], [1, 8192]
  std::uint32_t rules = 1;        // of the world model, NO-OP last, [1, 65535]
  std::uint32_t locations = 200;  // that it tells apart; further ones share the last, [1, 65535]
  std::uint32_t width = 64;       // hierarchical: of each hidden layer, [1, 4096]
  std::uint32_t query = 8;        // linear: dims of the query, [1, 64]

  bool operator==(const ControllerConfig&) const = default;
};

/// Throws NnError when a value is out of its range.
void check(const ControllerConfig& config);

/// hierarchical, with u = [z, h] and each hidden layer of tanh:
///   rule logits   tanh(u W1 + b1) W2 + b2              xfer.*
///   V1            tanh(u W1 + b1) . output + b2        value1.*
///   locations     tanh(u W1 + b1 + E[rule]) W2 + b2    location.*, E in location.xfer
///   V2            tanh(u W1 + b1 + E[rule]) . output + b2    value2.*, E in value2.xfer
/// linear: the logit of a rule is q . action.xfer[rule] / sqrt(query) with q = u W + b, that of one of its
/// locations q . action.location[location] / sqrt(query); only query.* is learnt.
std::vector<TensorSpec> weight_layout(const ControllerConfig& config);

/// Matrices uniform in +-1/sqrt(fan-in), embeddings and biases 0, last policy layers scaled by 0.01; linear:
/// a query of 0 and embeddings drawn from N(0, 1).
Weights initial_weights(const ControllerConfig& config, std::uint64_t seed);

/// Tensors of a linear controller that evolution moves: all of query.*, which come first.
std::size_t query_parameters(const ControllerConfig& config);

}
