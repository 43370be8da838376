#include "core/nn/training/mdn_rnn.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/nn/model/nn_error.h"
#include "core/nn/training/device_tensor.h"

namespace regraft::nn::training {
namespace {

using torch::Tensor;

/// What counts of each step.
struct Masks {
  explicit Masks(const DynamicsTargets& targets)
      : valid(targets.valid),
        goes_on(valid * (1 - targets.terminal)),
        each_rule(goes_on.unsqueeze(-1).expand_as(targets.rules)),
        legal(each_rule * targets.rules) {}
  Tensor valid, goes_on, each_rule, legal;
};

Tensor masked_mean(const Tensor& values, const Tensor& mask, const Tensor& whole_mask) {
  return (values * mask).sum() / whole_mask.sum().clamp_min(1);
}

/// Draws a component from softmax(log_weights / tau).
std::int64_t draw_component(const float* log_weights, std::int64_t count, double tau, Rng& rng) {
  const float* most = std::max_element(log_weights, log_weights + count);
  if (tau == 0) return most - log_weights;
  double total = 0;
  for (std::int64_t k = 0; k < count; ++k) total += std::exp((log_weights[k] - *most) / tau);
  double left = rng.uniform() * total;
  for (std::int64_t k = 0; k + 1 < count; ++k) {
    left -= std::exp((log_weights[k] - *most) / tau);
    if (left < 0) return k;
  }
  return count - 1;
}

Tensor on_host(const Tensor& tensor) {
  return tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
}

/// What sample() draws with tau 1 of these random numbers [batch], [batch, latent], on their device.
Tensor drawn(const DynamicsOutput& output, const Tensor& share, const Tensor& deviations) {
  const Tensor log_weights = output.log_weights.to(torch::kFloat32);
  const std::int64_t last = log_weights.size(-1) - 1;
  const Tensor sums =
      (log_weights - log_weights.amax(-1, true)).to(torch::kFloat64).exp().cumsum(-1);  // [batch, mixtures]
  const Tensor below = sums.narrow(-1, 0, last) <= (share * sums.select(-1, last)).unsqueeze(-1);
  const Tensor component = below.sum(-1).view({-1, 1, 1}).expand({share.size(0), 1, output.mean.size(-1)});
  const auto of = [&](const Tensor& all) { return all.to(torch::kFloat32).gather(1, component).squeeze(1); };
  return (of(output.mean) + of(output.sigma) * deviations).to(output.mean.scalar_type());
}

}  // namespace

MdnRnn::MdnRnn(const DynamicsConfig& config, torch::Device device, torch::ScalarType type)
    : config_(config), device_(device), type_(type), parameters_(weight_layout(config), device, type) {}

void MdnRnn::load(const Weights& weights) {
  if (weights.tensors != parameters_.layout())
    throw NnError("these are weights of another network", "dynamics weights",
                  "use the config they were made with");
  parameters_.load(weights);
}

RecurrentState MdnRnn::initial_state(std::int64_t batch) const {
  const auto zeros = torch::zeros({batch, std::int64_t{config_.hidden}},
                                  torch::TensorOptions().device(device_).dtype(type_));
  return {zeros, zeros};
}

void MdnRnn::advance(const Tensor& gates_from_input, RecurrentState& state) const {
  const auto gates = torch::addmm(gates_from_input, state.hidden, parameters_["lstm.hidden"]).chunk(4, 1);
  state.cell = torch::sigmoid(gates[1]) * state.cell + torch::sigmoid(gates[0]) * torch::tanh(gates[2]);
  state.hidden = torch::sigmoid(gates[3]) * torch::tanh(state.cell);
}

DynamicsOutput MdnRnn::head(const Tensor& hidden) const {
  const std::int64_t mixtures = config_.mixtures, latent = config_.latent, rules = config_.rules;
  const Tensor all = torch::matmul(hidden, parameters_["head.weight"]) + parameters_["head.bias"];
  const auto parts = all.split_with_sizes(
      {mixtures, mixtures * latent, mixtures * latent, 1, 1, rules, rules * config_.count_bins}, -1);
  return {torch::log_softmax(parts[0], -1),
          parts[1].unflatten(-1, {mixtures, latent}),
          config_.sigma_floor + torch::softplus(parts[2].unflatten(-1, {mixtures, latent})),
          parts[3].squeeze(-1),
          parts[4].squeeze(-1),
          parts[5],
          parts[6].unflatten(-1, {rules, std::int64_t{config_.count_bins}})};
}

/// The part of the head that a latent is drawn from.
DynamicsOutput MdnRnn::mixture(const Tensor& hidden) const {
  const std::int64_t mixtures = config_.mixtures, latent = config_.latent;
  const std::int64_t columns = mixtures * (1 + 2 * latent);
  const Tensor all = torch::addmm(parameters_["head.bias"].narrow(0, 0, columns), hidden,
                                  parameters_["head.weight"].narrow(1, 0, columns));
  const auto parts = all.split_with_sizes({mixtures, mixtures * latent, mixtures * latent}, -1);
  DynamicsOutput output;
  output.log_weights = torch::log_softmax(parts[0], -1);
  output.mean = parts[1].unflatten(-1, {mixtures, latent});
  output.sigma = config_.sigma_floor + torch::softplus(parts[2].unflatten(-1, {mixtures, latent}));
  return output;
}

/// Drawn on the host, and sent at once.
LatentDraws MdnRnn::draws(std::int64_t time, std::int64_t batch, Rng& rng) const {
  const std::int64_t latent = config_.latent;
  std::vector<double> shares;
  std::vector<float> deviations;
  for (std::int64_t row = 0; row < time * batch; ++row) {
    shares.push_back(rng.uniform());
    for (std::int64_t d = 0; d < latent; ++d) deviations.push_back(static_cast<float>(rng.normal()));
  }
  return {copied(shares, {time, batch}, device_), copied(deviations, {time, batch, latent}, device_)};
}

Tensor MdnRnn::sampled_latents(const Tensor& z, const Tensor& a, const Tensor& starts,
                               const LatentDraws& draws) const {
  const torch::NoGradGuard no_grad;
  RecurrentState state = initial_state(z.size(1));
  Tensor now = z[0];
  std::vector<Tensor> own;
  for (std::int64_t t = 0; t < z.size(0); ++t) {
    const Tensor begins = starts[t].to(type_).unsqueeze(1);
    now = torch::where(begins > 0, z[t], now);
    own.push_back(now);
    state = {state.hidden * (1 - begins), state.cell * (1 - begins)};
    advance(torch::addmm(parameters_["lstm.bias"], torch::cat({now, a[t]}, 1), parameters_["lstm.input"]),
            state);
    now = drawn(mixture(state.hidden), draws.shares[t], draws.deviations[t]);
  }
  return torch::stack(own);
}

DynamicsOutput MdnRnn::step(const Tensor& z, const Tensor& a, RecurrentState& state) const {
  advance(torch::addmm(parameters_["lstm.bias"], torch::cat({z, a}, 1), parameters_["lstm.input"]), state);
  return head(state.hidden);
}

DynamicsOutput MdnRnn::unroll(const Tensor& z, const Tensor& a, const Tensor& starts) const {
  return head(unroll_hidden(z, a, starts));
}

Tensor MdnRnn::unroll_hidden(const Tensor& z, const Tensor& a, const Tensor& starts) const {
  const Tensor from_input =
      torch::matmul(torch::cat({z, a}, 2), parameters_["lstm.input"]) + parameters_["lstm.bias"];
  RecurrentState state = initial_state(z.size(1));
  std::vector<Tensor> hidden;
  for (std::int64_t t = 0; t < z.size(0); ++t) {
    const Tensor goes_on = (1 - starts[t].to(type_)).unsqueeze(1);
    state = {state.hidden * goes_on, state.cell * goes_on};
    advance(from_input[t], state);
    hidden.push_back(state.hidden);
  }
  return torch::stack(hidden);
}

Tensor negative_log_likelihood(const DynamicsOutput& output, const Tensor& target) {
  const Tensor distance = (target.detach().unsqueeze(-2) - output.mean) / output.sigma;
  const Tensor log_density =
      (-0.5 * distance.square() - output.sigma.log() - 0.5 * std::log(2 * std::numbers::pi)).sum(-1);
  return -torch::logsumexp(output.log_weights + log_density, -1);
}

Tensor sample(const DynamicsOutput& output, const SampleOptions& options, Rng& rng,
              std::vector<std::int64_t>* chosen) {
  const Tensor log_weights = on_host(output.log_weights), mean = on_host(output.mean),
               sigma = on_host(output.sigma);
  const std::int64_t batch = mean.size(0), mixtures = mean.size(1), latent = mean.size(2);
  const float scale = options.tau == 0      ? 0.0f
                      : options.scale_sigma ? static_cast<float>(std::sqrt(options.tau))
                                            : 1.0f;
  const Tensor drawn = torch::empty({batch, latent}, torch::kFloat32);
  if (chosen != nullptr) chosen->resize(static_cast<std::size_t>(batch));
  for (std::int64_t row = 0; row < batch; ++row) {
    const std::int64_t k =
        draw_component(log_weights.data_ptr<float>() + row * mixtures, mixtures, options.tau, rng);
    if (chosen != nullptr) (*chosen)[static_cast<std::size_t>(row)] = k;
    const float* center = mean.data_ptr<float>() + (row * mixtures + k) * latent;
    const float* spread = sigma.data_ptr<float>() + (row * mixtures + k) * latent;
    float* z = drawn.data_ptr<float>() + row * latent;
    for (std::int64_t d = 0; d < latent; ++d)
      z[d] = scale == 0 ? center[d] : center[d] + scale * spread[d] * static_cast<float>(rng.normal());
  }
  return drawn.to(output.mean.device(), output.mean.scalar_type());
}

DynamicsLosses losses(const DynamicsOutput& output, const DynamicsTargets& targets,
                      const DynamicsTargets* whole) {
  const Masks own(targets), all(whole == nullptr ? targets : *whole);
  const Tensor mask_error =
      torch::binary_cross_entropy_with_logits(output.rules, targets.rules, {}, {}, at::Reduction::None);
  const Tensor terminal_error =
      torch::binary_cross_entropy_with_logits(output.terminal, targets.terminal, {}, {}, at::Reduction::None);
  const Tensor bins = torch::where(own.legal > 0, targets.counts, torch::zeros_like(targets.counts));
  const Tensor count_error =
      -torch::log_softmax(output.counts, -1).gather(-1, bins.unsqueeze(-1)).squeeze(-1);
  return {masked_mean(negative_log_likelihood(output, targets.latent), own.goes_on, all.goes_on) /
              static_cast<double>(targets.latent.size(-1)),
          masked_mean((output.reward - targets.reward).square(), own.valid, all.valid),
          masked_mean(terminal_error, own.valid, all.valid),
          masked_mean(mask_error, own.each_rule, all.each_rule),
          masked_mean(count_error, own.legal, all.legal)};
}

}
