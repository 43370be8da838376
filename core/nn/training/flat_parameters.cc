#include "core/nn/training/flat_parameters.h"

#include <algorithm>

namespace regraft::nn::training {

FlatParameters::FlatParameters(std::vector<TensorSpec> layout, torch::Device device, torch::ScalarType type)
    : layout_(std::move(layout)) {
  const auto total = static_cast<std::int64_t>(layout_.back().offset + layout_.back().count);
  const auto options = torch::TensorOptions().device(device).dtype(type);
  values_ = torch::zeros({total}, options);
  gradients_ = torch::zeros({total}, options);
  for (const TensorSpec& spec : layout_) {
    const auto offset = static_cast<std::int64_t>(spec.offset);
    const auto count = static_cast<std::int64_t>(spec.count);
    auto view = values_.narrow(0, offset, count).view(spec.shape).detach();
    view.set_requires_grad(true);
    // Autograd adds to a gradient that is defined, in place: so the flat buffer collects all of them.
    view.mutable_grad() = gradients_.narrow(0, offset, count).view(spec.shape);
    named_.emplace(spec.name, std::move(view));
  }
}

void FlatParameters::load(const Weights& weights) {
  const torch::NoGradGuard no_grad;
  values_.copy_(torch::from_blob(const_cast<float*>(weights.values.data()),
                                 {static_cast<std::int64_t>(weights.values.size())}, torch::kFloat32));
}

Weights FlatParameters::store() const {
  Weights weights{layout_, std::vector<float>(static_cast<std::size_t>(values_.numel()))};
  const auto host = values_.to(torch::kCPU, torch::kFloat32).contiguous();
  std::copy_n(host.data_ptr<float>(), weights.values.size(), weights.values.begin());
  return weights;
}

}
