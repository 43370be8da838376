#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/env/observation.h"
#include "core/nn/fused/aligned_floats.h"
#include "core/nn/fused/fused.h"
#include "core/nn/model/weights.h"

namespace regraft::nn::internal {

/// The kernels for this network with the widest vectors of this machine; null pointers where there are none:
/// for other widths, and for hidden layers of a width of their own.
FusedKernels best_kernels(const NetworkConfig& config);

/// The graph's embedding [w] after a forward pass.
inline const float* final_globals(const FusedWeights& weights, const FusedRows& rows) {
  return rows.step[weights.steps - 1].globals_to;
}

/// A network's weights in the layout the kernels read: the flat weights, the node products split by column,
/// the rule rows. Not copyable: `weights()` points inside.
class FusedModel {
 public:
  explicit FusedModel(const NetworkConfig& config);
  FusedModel(const FusedModel&) = delete;
  FusedModel& operator=(const FusedModel&) = delete;

  /// `flat`: all values in the order of weight_layout().
  void set_weights(std::span<const float> flat);
  /// For a pointer head: [rows of the rules, w].
  void set_rule_rows(std::span<const float> rows);
  /// The buffer with every square matrix transposed, for backward passes: to be made again when weights
  /// change.
  AlignedFloats transposed() const;

  const FusedWeights& weights() const { return bound_; }
  const NetworkConfig& config() const { return config_; }
  const float* buffer() const { return packed_.data(); }
  std::size_t size() const { return packed_.size(); }

  /// Adds gradients in the kernels' layout to those of the flat weights.
  void add_flat_gradients(std::span<const float> packed, std::span<float> flat) const;
  std::span<const float> rule_part(std::span<const float> packed) const {
    return packed.subspan(rule_offset_);
  }

 private:
  const float* at(const std::string& name) const;
  const float* square(const std::string& name);
  FusedNorm norm(const std::string& prefix) const { return {at(prefix + ".gain"), at(prefix + ".shift")}; }
  void bind();
  FusedStep bind_step(std::size_t number);

  NetworkConfig config_;
  std::vector<TensorSpec> layout_;
  std::size_t parts_offset_, rule_offset_;
  AlignedFloats packed_;
  std::vector<std::size_t> squares_;  // offsets of the square matrices
  std::vector<FusedStep> steps_;
  FusedWeights bound_{};
};

/// Each candidate with the row of its rule.
FusedGraph fused_graph(const env::Observation& observation);
/// Each with the row that says what it does. `rules` holds them where they are not those of the candidates,
/// and is kept as long as the graph.
FusedGraph fused_graph(const env::Observation& observation, std::vector<std::uint16_t>& rules);

enum class Tape { none, kept };

/// The rows of one forward pass, kept for a backward pass or not. Grows to the largest graph seen.
class FusedArena {
 public:
  const FusedRows& prepare(const FusedGraph& graph, const NetworkConfig& config, Tape tape);
  const FusedRows& rows() const { return rows_; }

 private:
  AlignedFloats buffer_;
  std::vector<FusedStepRows> steps_;
  FusedRows rows_{};
};

/// Scratch of one backward pass.
class FusedGradientArena {
 public:
  /// Sets the scratch pointers of `gradients`.
  void prepare(const FusedGraph& graph, std::size_t width, FusedGradients& gradients);

 private:
  AlignedFloats buffer_;
};

}
