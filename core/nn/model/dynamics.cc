#include "core/nn/model/dynamics.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/rng.h"
#include "core/nn/model/nn_error.h"

namespace regraft::nn {
namespace {

constexpr float kForgetBias = 1.0f;
constexpr std::uint32_t kSingleCounts = 8;  // location counts with a bin of their own

void require(bool holds, const char* what) {
  if (!holds)
    throw NnError(std::string(what) + " is out of range", "dynamics config", "see core/nn/model/dynamics.h");
}

}  // namespace

void check(const DynamicsConfig& config) {
  const auto within = [](std::uint32_t value, std::uint32_t most) { return value >= 1 && value <= most; };
  require(within(config.latent, 1024), "latent");
  require(within(config.action, 1024), "action");
  require(within(config.hidden, 4096), "hidden");
  require(within(config.mixtures, 64), "mixtures");
  require(within(config.rules, 65535), "rules");
  require(within(config.count_bins, 16), "count_bins");
  require(config.sigma_floor > 0 && std::isfinite(config.sigma_floor), "sigma_floor");
}

std::size_t head_width(const DynamicsConfig& config) {
  return config.mixtures * (2 * std::size_t{config.latent} + 1) + 2 +
         std::size_t{config.rules} * (1 + config.count_bins);
}

std::vector<TensorSpec> weight_layout(const DynamicsConfig& config) {
  check(config);
  const std::int64_t gates = 4 * std::int64_t{config.hidden};
  const auto outputs = static_cast<std::int64_t>(head_width(config));
  std::vector<TensorSpec> layout;
  append_tensor(layout, "lstm.input", {std::int64_t{config.latent} + config.action, gates});
  append_tensor(layout, "lstm.hidden", {config.hidden, gates});
  append_tensor(layout, "lstm.bias", {gates});
  append_tensor(layout, "head.weight", {config.hidden, outputs});
  append_tensor(layout, "head.bias", {outputs});
  return layout;
}

Weights initial_weights(const DynamicsConfig& config, std::uint64_t seed) {
  Weights weights{weight_layout(config), {}};
  weights.values.assign(weights.tensors.back().offset + weights.tensors.back().count, 0.0f);
  const double bound = 1 / std::sqrt(static_cast<double>(config.hidden));
  for (const TensorSpec& spec : weights.tensors) {
    if (spec.shape.size() == 1) continue;
    Rng rng(seed, "dynamics/" + spec.name);
    for (float& value : weights.tensor(spec.name)) value = static_cast<float>(rng.uniform(-bound, bound));
  }
  const auto biases = weights.tensor("lstm.bias");
  std::fill_n(biases.begin() + config.hidden, config.hidden, kForgetBias);
  return weights;
}

std::uint32_t count_bin(std::uint32_t count, std::uint32_t bins) {
  std::uint32_t bin = 0;
  while (bin + 1 < bins && least_count(bin + 1) <= count) ++bin;
  return bin;
}

std::uint32_t least_count(std::uint32_t bin) {
  if (bin < kSingleCounts) return bin + 1;
  const std::uint32_t half = bin - kSingleCounts, octave = kSingleCounts << (half / 2);
  return octave + (half % 2) * (octave / 2) + 1;
}

}
