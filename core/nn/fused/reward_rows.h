#pragma once

#include <span>
#include <vector>

#include "core/nn/fused/packed_matrix.h"
#include "core/nn/model/world_model.h"

namespace regraft::nn::internal {

/// The separate reward network of a world model (reward_layout) on rows of [z, h']. One thread.
class RewardRows {
 public:
  /// `reward` is empty where the world has no such network. Its layout has been checked.
  RewardRows(const WorldModelConfig& config, const Weights& reward);

  bool exist() const { return depth_ > 0; }
  /// Standardised rewards of these rows, by row; states lie `stride` floats apart.
  void read(std::span<const std::uint32_t> rows, const float* states, std::size_t stride,
            std::span<float> rewards);

 private:
  DreamKernels kernels_;
  std::size_t depth_ = 0, width_ = 0;
  PackedMatrix first_;
  std::vector<float> output_;
  float bias_ = 0;
  AlignedFloats hidden_;
};

}
