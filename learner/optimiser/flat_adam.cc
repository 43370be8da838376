#include "learner/optimiser/flat_adam.h"

#include <torch/optim/adam.h>

#include <algorithm>
#include <memory>

#include "core/nn/training/device_tensor.h"

namespace regraft::learner {
namespace {

// Larger than Adam's usual 1e-8: small second moments would blow up late steps (Andrychowicz et al. 2021).
constexpr double kEpsilon = 1e-5;

std::vector<float> to_vector(const torch::Tensor& tensor) {
  const auto host = tensor.to(torch::kCPU).contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}

}  // namespace

FlatAdam::FlatAdam(const torch::Tensor& parameters, double learning_rate)
    : parameters_(parameters),
      adam_(std::make_unique<torch::optim::Adam>(std::vector<torch::Tensor>{parameters_},
                                                 torch::optim::AdamOptions(learning_rate).eps(kEpsilon))) {}

FlatAdam::~FlatAdam() = default;

void FlatAdam::step(const torch::Tensor& gradients) {
  parameters_.mutable_grad() = gradients;
  adam_->step();
}

FlatAdam::Moments FlatAdam::moments() const {
  const auto& states = adam_->state();
  const auto found = states.find(parameters_.unsafeGetTensorImpl());
  if (found == states.end()) return {};
  const auto& state = static_cast<const torch::optim::AdamParamState&>(*found->second);
  return {state.step(), to_vector(state.exp_avg()), to_vector(state.exp_avg_sq())};
}

void FlatAdam::set_learning_rate(double learning_rate) {
  for (auto& group : adam_->param_groups()) group.options().set_lr(learning_rate);
}

void FlatAdam::write(replay::ByteWriter& out) const {
  const Moments held = moments();
  out.value(held.steps);
  out.value(static_cast<std::uint64_t>(held.mean.size()));
  out.raw(std::as_bytes(std::span(held.mean)));
  out.raw(std::as_bytes(std::span(held.square)));
}

FlatAdam::Moments FlatAdam::read(replay::ByteReader& in) const {
  Moments held;
  held.steps = in.value<std::int64_t>();
  const auto count = in.value<std::uint64_t>();
  if (held.steps < 0 || (held.steps == 0) != (count == 0) ||
      (count != 0 && count != static_cast<std::uint64_t>(parameters_.numel()))) {
    throw replay::ReplayError("the optimiser's state does not fit the network", "learner state", "");
  }
  for (auto* part : {&held.mean, &held.square}) {
    const auto raw = in.raw(count * sizeof(float));
    part->resize(count);
    if (count > 0) std::memcpy(part->data(), raw.data(), raw.size());
  }
  return held;
}

void FlatAdam::restore(const Moments& moments) {
  auto& states = adam_->state();
  states.clear();
  if (moments.steps == 0) return;
  const auto to_tensor = [&](const std::vector<float>& values) {
    return nn::training::copied(values, parameters_.device());
  };
  auto state = std::make_unique<torch::optim::AdamParamState>();
  state->step(moments.steps);
  state->exp_avg(to_tensor(moments.mean));
  state->exp_avg_sq(to_tensor(moments.square));
  states[parameters_.unsafeGetTensorImpl()] = std::move(state);
}

}
