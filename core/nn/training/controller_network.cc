#include "core/nn/training/controller_network.h"

#include "core/nn/model/nn_error.h"

namespace regraft::nn::training {
namespace {

using torch::Tensor;

constexpr double kNever = -1e30;  // a logit of what cannot be chosen

/// Log-softmax over what is allowed; its entropy beside it.
struct Masked {
  Masked(const Tensor& logits, const Tensor& allowed)
      : logs(torch::log_softmax(logits.masked_fill(allowed.logical_not(), kNever), -1)),
        entropy(-(logs.exp() * logs.masked_fill(allowed.logical_not(), 0.0)).sum(-1)) {}
  Tensor of(const Tensor& chosen) const { return logs.gather(1, chosen.unsqueeze(1)).squeeze(1); }

  Tensor logs, entropy;
};

}  // namespace

ControllerNetwork::ControllerNetwork(const ControllerConfig& config, torch::Device device,
                                     torch::ScalarType type)
    : config_(config), device_(device), parameters_(weight_layout(config), device, type) {
  if (config.kind != ControllerKind::hierarchical)
    throw NnError("a linear controller has no gradients", "controller network", "train it by evolution");
}

void ControllerNetwork::load(const Weights& weights) {
  if (weights.tensors != parameters_.layout())
    throw NnError("these are weights of another network", "controller weights",
                  "use the config they were made with");
  parameters_.load(weights);
}

/// Before its tanh.
Tensor ControllerNetwork::hidden(const Tensor& states, const char* part) const {
  const std::string prefix = part;
  return torch::addmm(parameters_[prefix + ".bias1"], states, parameters_[prefix + ".weight1"]);
}

Tensor ControllerNetwork::last(const Tensor& hidden, const char* part) const {
  const std::string prefix = part;
  return torch::addmm(parameters_[prefix + ".bias2"], torch::tanh(hidden), parameters_[prefix + ".weight2"]);
}

Tensor ControllerNetwork::values(const Tensor& states) const {
  return last(hidden(states, "value1"), "value1").squeeze(1);
}

ControllerOutput ControllerNetwork::forward(const ControllerSteps& steps) const {
  const Masked rules(last(hidden(steps.states, "xfer"), "xfer"), steps.legal);
  const auto of_rule = [&](const char* part) {
    return hidden(steps.states, part) + parameters_[std::string(part) + ".xfer"].index_select(0, steps.rules);
  };
  const Tensor numbers =
      torch::arange(config_.locations, torch::TensorOptions(torch::kInt64).device(device_));
  const Tensor allowed = numbers.unsqueeze(0) < steps.counts.unsqueeze(1);
  const Masked locations(last(of_rule("location"), "location"), allowed);
  const Tensor located =
      (steps.rules != std::int64_t{config_.rules} - 1).to(parameters_["xfer.bias1"].scalar_type());
  return {rules.of(steps.rules), locations.of(steps.locations) * located,
          rules.entropy,         locations.entropy * located,
          values(steps.states),  last(of_rule("value2"), "value2").squeeze(1)};
}

}
