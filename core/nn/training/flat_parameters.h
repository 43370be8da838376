#pragma once

#include <torch/types.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "core/nn/model/weights.h"

namespace regraft::nn::training {

/// Named tensors as views of one flat parameter tensor, and their gradients as views of another: optimiser,
/// clipping and serialisation each touch one array. Leaves of autograd.
class FlatParameters {
 public:
  FlatParameters(std::vector<TensorSpec> layout, torch::Device device, torch::ScalarType type);

  const torch::Tensor& operator[](const std::string& name) const { return named_.at(name); }
  /// The layout of `weights` must be this one: checked by the caller.
  void load(const Weights& weights);
  Weights store() const;

  /// Flat [parameters], outside autograd.
  torch::Tensor& values() { return values_; }
  torch::Tensor& gradients() { return gradients_; }
  const std::vector<TensorSpec>& layout() const { return layout_; }

 private:
  std::vector<TensorSpec> layout_;
  torch::Tensor values_, gradients_;
  std::unordered_map<std::string, torch::Tensor> named_;
};

}
