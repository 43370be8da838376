#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/nn/fused/packed_matrix.h"
#include "core/nn/model/controller_config.h"

namespace regraft::nn::internal {

/// Logits and values of a nn::Controller by the kernels of dream steps. Rows are read first; the questions
/// that follow are about rows that were read. One thread.
class ControllerEngine {
 public:
  explicit ControllerEngine(const ControllerConfig& config, const DreamKernels& kernels);

  /// The layout has been checked.
  void load(const Weights& weights);
  void read(std::span<const std::uint32_t> rows, const float* states, std::size_t stride);

  struct Drawn {
    std::size_t index = 0;  // into what could be drawn
    float log_probability = 0;
  };
  /// Without a stream the most likely one.
  Drawn draw_rule(std::uint32_t row, std::span<const std::uint32_t> legal, Rng* rng);
  Drawn draw_location(std::uint32_t row, std::uint32_t rule, std::uint32_t count, Rng* rng);
  std::vector<float> rule_log_probabilities(std::uint32_t row, std::span<const std::uint32_t> legal);
  std::vector<float> location_log_probabilities(std::uint32_t row, std::uint32_t rule, std::uint32_t count);
  float value(std::uint32_t row) const;
  float rule_value(std::uint32_t row, std::uint32_t rule);

  const ControllerConfig& config() const { return config_; }

 private:
  /// Columns of a hidden layer: where each head's part begins.
  enum Part : std::size_t { kRule, kValue, kLocation, kRuleValue, kParts };

  void load_hierarchical(const Weights& weights);
  void load_linear(const Weights& weights);
  void reserve(std::uint32_t row);
  float* hidden(std::uint32_t row, Part part) {
    return hidden_.data() + row * hidden_stride_ + part * width_;
  }
  const float* hidden(std::uint32_t row, Part part) const {
    return hidden_.data() + row * hidden_stride_ + part * width_;
  }
  void legal_logits(std::uint32_t row, std::span<const std::uint32_t> legal);
  void location_logits(std::uint32_t row, std::uint32_t rule, std::uint32_t count);
  Drawn draw(std::size_t count, Rng* rng);
  std::vector<float> normalised(std::size_t count);
  float dot(const float* hidden, const std::vector<float>& weight, float bias) const;

  ControllerConfig config_;
  DreamKernels kernels_;
  std::size_t width_, location_stride_, hidden_stride_ = 0, logits_stride_ = 0;
  std::uint32_t reserved_ = 0;
  PackedMatrix first_;       // of all four hidden layers, or of the query
  PackedMatrix rules_;       // hidden or query to rule logits
  AlignedFloats locations_;  // [width_][location_stride_]
  std::vector<float> location_bias_;
  std::vector<float> location_rows_, value_rows_;  // E of location and value2: [rules][width_]
  std::vector<float> value_output_, rule_value_output_;
  float value_bias_ = 0, rule_value_bias_ = 0;
  AlignedFloats hidden_, logits_;
  std::vector<float> scratch_, row_;  // logits of what can be drawn, one hidden layer
};

std::unique_ptr<ControllerEngine> make_controller_engine(const ControllerConfig& config);

}
