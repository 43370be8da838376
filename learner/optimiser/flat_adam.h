#pragma once

// Internal to learner: shows LibTorch types.

#include <torch/types.h>

#include <memory>
#include <vector>

#include "replay/rollout/byte_reader.h"

namespace torch::optim {
class Adam;
}

namespace regraft::learner {

/// LibTorch's Adam (Kingma and Ba 2015) over one flat parameter tensor, with its state as plain bytes.
class FlatAdam {
 public:
  /// `parameters` [count] is written in place by step().
  FlatAdam(const torch::Tensor& parameters, double learning_rate);
  ~FlatAdam();

  void step(const torch::Tensor& gradients);
  void set_learning_rate(double learning_rate);

  struct Moments {
    std::int64_t steps = 0;
    std::vector<float> mean, square;  // empty before the first step
  };
  void write(replay::ByteWriter& out) const;
  /// Throws replay::ReplayError when the bytes do not fit the parameters.
  Moments read(replay::ByteReader& in) const;
  Moments moments() const;
  void restore(const Moments& moments);

 private:
  torch::Tensor parameters_;
  std::unique_ptr<torch::optim::Adam> adam_;  // its header takes seconds to compile
};

}
