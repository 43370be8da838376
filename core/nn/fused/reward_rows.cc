#include "core/nn/fused/reward_rows.h"

#include <algorithm>

namespace regraft::nn::internal {

RewardRows::RewardRows(const WorldModelConfig& config, const Weights& reward)
    : kernels_(best_dream_kernels()), width_(config.reward_hidden) {
  if (width_ == 0) return;
  depth_ = std::size_t{config.dynamics.latent} + config.dynamics.hidden;
  first_.reset(depth_, width_, kernels_);
  const auto weight = reward.tensor("reward.weight1"), bias = reward.tensor("reward.bias1");
  for (std::size_t i = 0; i < width_; ++i) {
    first_.start.data()[i] = bias[i];
    for (std::size_t k = 0; k < depth_; ++k) first_.set(k, i, weight[k * width_ + i], kernels_);
  }
  const auto output = reward.tensor("reward.weight2");
  output_.assign(output.begin(), output.end());
  bias_ = reward.tensor("reward.bias2")[0];
}

void RewardRows::read(std::span<const std::uint32_t> rows, const float* states, std::size_t stride,
                      std::span<float> rewards) {
  const std::size_t columns = first_.columns(kernels_);
  if (hidden_.size() < rewards.size() * columns) hidden_.assign(rewards.size() * columns, 0.0f);
  kernels_.product({rows.size(), depth_, first_.panels, rows.data(), states, stride, first_.weight.data(),
                    first_.start.data(), hidden_.data(), columns});
  for (const std::uint32_t row : rows) {
    const float* hidden = hidden_.data() + row * columns;
    float sum = bias_;
    for (std::size_t i = 0; i < width_; ++i) sum += std::max(hidden[i], 0.0f) * output_[i];
    rewards[row] = sum;
  }
}

}
