#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/hash.h"
#include "core/nn/model/config.h"

namespace regraft::nn {

/// Where one tensor lies in a flat weight buffer. Matrices are [inputs, outputs], row-major: y = x W + b.
struct TensorSpec {
  std::string name;
  std::vector<std::int64_t> shape;
  std::size_t offset = 0;  // in floats
  std::size_t count = 0;

  bool operator==(const TensorSpec&) const = default;
};

/// Adds a tensor behind the others.
void append_tensor(std::vector<TensorSpec>& layout, std::string name, std::vector<std::int64_t> shape);
/// Floats that a layout takes.
std::size_t float_count(const std::vector<TensorSpec>& layout);

/// All weights of one network: named float tensors, one after another in one buffer. A value: copy it, send
/// it, swap it.
struct Weights {
  std::vector<TensorSpec> tensors;
  std::vector<float> values;

  /// The values of one tensor. Throws NnError when there is none of that name.
  std::span<const float> tensor(std::string_view name) const;
  std::span<float> tensor(std::string_view name);
  /// A hash of layout and values: the same on every machine.
  Hash128 hash() const;

  bool operator==(const Weights&) const = default;
};

/// The tensors of a policy network in their order, without values. Those of the value functions come last.
std::vector<TensorSpec> weight_layout(const NetworkConfig& config);

/// Where the value functions' tensors begin, in floats.
std::size_t value_offset(const std::vector<TensorSpec>& layout);

/// Fresh weights: He-uniform by the whole fan-in of each update (He et al. 2015), norms at (1, 0), biases 0,
/// the last layers of the policy scaled by 0.01 (Andrychowicz et al. 2021: a near-uniform first policy).
Weights initial_weights(const NetworkConfig& config, std::uint64_t seed);

/// Throws NnError naming the first tensor that differs from the config's layout, and on a value that is not
/// finite.
void check(const Weights& weights, const NetworkConfig& config);

/// A flat, portable form: magic, format, total size, hash, then name, shape and little-endian values of each
/// tensor.
std::vector<std::byte> encode_weights(const Weights& weights);
/// Throws NnError on a truncated, damaged or foreign buffer; allocates nothing before lengths are checked.
Weights decode_weights(std::span<const std::byte> bytes);

}
