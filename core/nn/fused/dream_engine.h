#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/nn/fused/packed_matrix.h"
#include "core/nn/model/dynamics.h"
#include "core/nn/model/weights.h"

namespace regraft::nn::internal {

/// The model of mdn_rnn.h on the CPU for many replicas at once, by own kernels: equal within rounding, and
/// the same draws from the same random stream. What nobody asks for is not computed: of the mixture only the
/// components that were drawn, of the location counts only those of one rule.
///
/// Each replica is a row: [a | z | h] and its cell. One thread; weights may be swapped between steps.
class DreamEngine {
 public:
  explicit DreamEngine(const DynamicsConfig& config, const DreamKernels& kernels = best_dream_kernels());

  /// The tensors of weight_layout(config), and action.xfer [rules, action] and action.location [.., action]
  /// where actions are embedded. Throws NnError when one is missing or of another size.
  void load(const Weights& weights);
  /// All of them zero.
  void set_replicas(std::size_t count);
  std::size_t replicas() const { return replicas_; }

  std::span<float> action(std::size_t row) { return {x(row), config_.action}; }
  std::span<float> latent(std::size_t row) { return {x(row) + config_.action, config_.latent}; }
  std::span<float> hidden(std::size_t row) {
    return {x(row) + config_.action + config_.latent, config_.hidden};
  }
  std::span<float> cell(std::size_t row) { return {cell_.data() + row * hidden_stride_, config_.hidden}; }
  /// [z, h], as a controller reads it.
  std::span<const float> state(std::size_t row) const {
    return {x_.data() + row * x_stride_ + config_.action, std::size_t{config_.latent} + config_.hidden};
  }
  std::size_t state_stride() const { return x_stride_; }

  /// action(row) = action.xfer[rule] + action.location[min(location, last)].
  void embed(std::size_t row, std::uint32_t rule, std::uint32_t location);
  /// h and cell of these rows become the next ones; z stays until sample().
  void advance(std::span<const std::uint32_t> rows);
  /// What the heads say of the steps that led to the rows' h, apart from mixture and counts.
  void read_heads(std::span<const std::uint32_t> rows);
  float reward(std::size_t row) const { return heads(row)[config_.mixtures]; }
  float terminal(std::size_t row) const { return heads(row)[config_.mixtures + 1]; }  // logit
  /// Logits of the next state's mask.
  std::span<const float> rule_logits(std::size_t row) const {
    return {heads(row) + config_.mixtures + 2, config_.rules};
  }
  /// z of these rows become draws of the mixture that read_heads() saw; each row has a stream of its own.
  void sample(std::span<const std::uint32_t> rows, const SampleOptions& options, std::span<Rng> streams);
  /// The most likely bin of a rule's location count, given h.
  std::uint32_t count_bin_of(std::size_t row, std::uint32_t rule) const;
  /// Logits of its bins.
  std::vector<float> count_logits(std::size_t row, std::uint32_t rule) const;

  const DynamicsConfig& config() const { return config_; }
  const DreamKernels& kernels() const { return kernels_; }

 private:
  float* x(std::size_t row) { return x_.data() + row * x_stride_; }
  const float* heads(std::size_t row) const { return heads_.data() + row * heads_stride_; }
  void pack_lstm(const Weights& weights);
  void pack_heads(const Weights& weights);
  void draw_components(std::span<const std::uint32_t> rows, double tau, std::span<Rng> streams);
  void count_row(std::size_t row, std::uint32_t rule, float* logits) const;

  DynamicsConfig config_;
  DreamKernels kernels_;
  std::size_t replicas_ = 0;
  std::size_t hidden_stride_, latent_stride_, x_stride_, heads_stride_ = 0, bins_stride_;
  AlignedFloats lstm_, lstm_bias_;
  PackedMatrix small_;                    // mixture logits, reward, terminal, mask
  std::vector<PackedMatrix> components_;  // of each: mean [latent_stride_], raw sigma [latent_stride_]
  AlignedFloats counts_, counts_bias_;    // [rules][hidden][bins_stride_], [rules][bins_stride_]
  std::vector<float> rule_rows_, location_rows_;
  AlignedFloats x_, cell_, fresh_, heads_, drawn_;
  std::vector<std::uint32_t> component_, order_, begin_;
  std::vector<double> radius_, angle_;
};

}
