#include "learner/controller_ppo.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/rng.h"
#include "core/nn/error.h"
#include "core/nn/internal/controller_network.h"
#include "learner/flat_adam.h"
#include "learner/ppo_loss.h"
#include "learner/ppo_targets.h"

namespace regraft::learner {
namespace {

using nn::NnError;
using nn::internal::ControllerNetwork;
using nn::internal::ControllerOutput;
using nn::internal::ControllerSteps;
using replay::DreamedStep;
using replay::DreamSegment;
using torch::Tensor;

constexpr std::uint32_t kStateFormat = 1;

/// The steps of all segments, one row each.
ControllerSteps steps_of(std::span<const DreamSegment> segments, const nn::ControllerConfig& config) {
  std::int64_t rows = 0;
  for (const DreamSegment& segment : segments) rows += static_cast<std::int64_t>(segment.steps.size());
  ControllerSteps steps{torch::empty({rows, config.state}), torch::zeros({rows, config.xfers}, torch::kBool),
                        torch::empty({rows}, torch::kInt64), torch::empty({rows}, torch::kInt64),
                        torch::empty({rows}, torch::kInt64)};
  std::int64_t row = 0;
  for (const DreamSegment& segment : segments) {
    for (const DreamedStep& step : segment.steps) {
      if (step.state.size() != config.state || step.legal.back() + 1u != config.xfers)
        throw NnError("a step is of another world model", "dream segment", "reject it");
      std::ranges::copy(step.state, steps.states.data_ptr<float>() + row * config.state);
      for (const std::uint16_t xfer : step.legal)
        steps.legal.data_ptr<bool>()[row * config.xfers + xfer] = true;
      steps.xfers.data_ptr<std::int64_t>()[row] = step.xfer;
      steps.locations.data_ptr<std::int64_t>()[row] = step.location;
      steps.counts.data_ptr<std::int64_t>()[row] = std::min<std::uint32_t>(step.count, config.locations);
      if (step.location >= config.locations)
        throw NnError("a location is beyond those it tells apart", "dream segment", "reject it");
      ++row;
    }
  }
  return steps;
}

ControllerSteps rows_of(const ControllerSteps& steps, const Tensor& rows) {
  return {steps.states.index_select(0, rows), steps.legal.index_select(0, rows),
          steps.xfers.index_select(0, rows), steps.counts.index_select(0, rows),
          steps.locations.index_select(0, rows)};
}

std::vector<float> to_vector(const Tensor& tensor) {
  const Tensor host = tensor.contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}

/// Figures of all steps under the present weights.
struct Fresh {
  std::vector<float> first, second, values, xfer_values;
  std::vector<float> bootstraps;  // of each segment; 0 where it terminated
};

struct Acted {
  explicit Acted(const DreamSegment& segment, std::uint32_t noop) {
    for (const DreamedStep& step : segment.steps) {
      rewards.push_back(step.reward);
      terminated.push_back(step.terminated ? 1 : 0);
      second_halves.push_back(step.xfer != noop ? 1 : 0);
      first.push_back(step.log_xfer);
      second.push_back(step.log_location);
    }
  }
  std::vector<float> rewards, first, second;
  std::vector<std::uint8_t> terminated, second_halves;
};

Tensor column(const std::vector<float>& values, const Tensor& rows) {
  return torch::tensor(values).index_select(0, rows);
}

double explained(const std::vector<float>& values, const std::vector<float>& targets) {
  const Tensor of_targets = torch::tensor(targets), errors = of_targets - torch::tensor(values);
  const double spread = of_targets.var(false).item<double>();
  return spread > 0 ? 1 - errors.var(false).item<double>() / spread : 0;
}

}  // namespace

class ControllerPpo::State {
 public:
  State(const nn::ControllerConfig& config, const PpoOptions& given, std::uint64_t seed)
      : options(given),
        network(config, torch::kCPU),
        adam(network.parameters().values(), given.lr),
        rng(seed, "controller/minibatches"),
        entropy_coefficient(given.entropy_coefficient) {}

  Fresh recompute(std::span<const DreamSegment> segments, const ControllerSteps& steps) const;
  StepTargets targets(std::span<const DreamSegment> segments, const Fresh& fresh, PpoMetrics& arrival) const;
  void step(const ControllerSteps& steps, const StepTargets& targets, const std::vector<std::int64_t>& rows,
            PpoSums& sums);
  [[noreturn]] void fail(const char* what) const {
    throw NnError(what, "controller update " + std::to_string(version + 1),
                  "lower ppo.lr, or resume from an older checkpoint");
  }

  PpoOptions options;
  ControllerNetwork network;
  FlatAdam adam;
  Rng rng;
  double entropy_coefficient;
  std::uint64_t version = 0;
};

Fresh ControllerPpo::State::recompute(std::span<const DreamSegment> segments,
                                      const ControllerSteps& steps) const {
  const torch::NoGradGuard no_grad;
  const ControllerOutput output = network.forward(steps);
  Fresh fresh{to_vector(output.log_xfer),
              to_vector(output.log_location),
              to_vector(output.value),
              to_vector(output.xfer_value),
              {}};
  for (const DreamSegment& segment : segments) {
    if (segment.next_state.empty()) {
      fresh.bootstraps.push_back(0);
      continue;
    }
    const Tensor next = torch::tensor(segment.next_state).unsqueeze(0);
    fresh.bootstraps.push_back(network.values(next).item<float>());
  }
  return fresh;
}

/// Also what is known before the update: the ratios of arrival.
StepTargets ControllerPpo::State::targets(std::span<const DreamSegment> segments, const Fresh& fresh,
                                          PpoMetrics& arrival) const {
  StepTargets all;
  std::vector<double> lag0;
  std::size_t at = 0, truncated = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::size_t count = segments[i].steps.size();
    const Acted acted(segments[i], network.config().xfers - 1);
    const auto part = [&](const std::vector<float>& figures) {
      return std::span(figures).subspan(at, count);
    };
    all.append(make_targets({.rewards = acted.rewards,
                             .terminated = acted.terminated,
                             .second_halves = acted.second_halves,
                             .first = acted.first,
                             .second = acted.second,
                             .bootstrap_value = fresh.bootstraps[i]},
                            {.first = part(fresh.first),
                             .second = part(fresh.second),
                             .values = part(fresh.values),
                             .xfer_values = part(fresh.xfer_values)},
                            options));
    for (std::size_t t = 0; t < count; ++t) {
      for (const double log_ratio : {static_cast<double>(fresh.first[at + t]) - acted.first[t],
                                     static_cast<double>(fresh.second[at + t]) - acted.second[t]}) {
        truncated += std::exp(log_ratio) > options.ratio_limit;
        if (segments[i].weight_version == version) lag0.push_back(std::abs(std::exp(log_ratio) - 1));
      }
    }
    at += count;
  }
  arrival.steps = at;
  arrival.truncated_fraction = static_cast<double>(truncated) / static_cast<double>(2 * at);
  arrival.explained_variance = explained(fresh.values, all.first.targets);
  std::ranges::sort(lag0);
  arrival.lag0_steps = lag0.size() / 2;
  if (!lag0.empty()) {
    arrival.lag0_ratio_max = lag0.back();
    arrival.lag0_ratio_p999 = lag0[static_cast<std::size_t>(0.999 * static_cast<double>(lag0.size() - 1))];
  }
  return all;
}

void ControllerPpo::State::step(const ControllerSteps& steps, const StepTargets& targets,
                                const std::vector<std::int64_t>& rows, PpoSums& sums) {
  const Tensor chosen = torch::tensor(rows);
  const ControllerOutput output = network.forward(rows_of(steps, chosen));
  // Entries of the minibatch that have a second half, and their rows in the update.
  std::vector<std::int64_t> within, second_rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (targets.second_halves[static_cast<std::size_t>(rows[i])] == 0) continue;
    within.push_back(static_cast<std::int64_t>(i));
    second_rows.push_back(rows[i]);
  }
  const Tensor located = torch::tensor(within, torch::kInt64),
               second = torch::tensor(second_rows, torch::kInt64);
  const Decisions kinds[] = {{.log_probability = output.log_xfer,
                              .entropy = output.xfer_entropy,
                              .values = output.value,
                              .proximal = column(targets.first.proximal, chosen),
                              .weights = column(targets.first.weights, chosen),
                              .advantages = column(targets.first.advantages, chosen),
                              .targets = column(targets.first.targets, chosen)},
                             {.log_probability = output.log_location.index_select(0, located),
                              .entropy = output.location_entropy.index_select(0, located),
                              .values = output.xfer_value.index_select(0, located),
                              .proximal = column(targets.second.proximal, second),
                              .weights = column(targets.second.weights, second),
                              .advantages = column(targets.second.advantages, second),
                              .targets = column(targets.second.targets, second)}};
  const Tensor loss = ppo_loss(kinds, options, entropy_coefficient, sums);
  if (!std::isfinite(loss.item<double>())) fail("the loss is not finite");
  Tensor& gradients = network.parameters().gradients();
  gradients.zero_();
  loss.backward();
  const double norm = gradients.norm().item<double>();
  if (!std::isfinite(norm)) fail("the gradient is not finite");
  if (norm > options.gradient_norm) gradients.mul_(options.gradient_norm / norm);
  adam.step(gradients);
  sums.gradient_norm += norm;
  ++sums.minibatches;
}

ControllerPpo::ControllerPpo(const nn::ControllerConfig& config, const nn::Weights& weights,
                             const PpoOptions& options, std::uint64_t seed) {
  check(options);
  state_ = std::make_unique<State>(config, options, seed);
  state_->network.load(weights);
}
ControllerPpo::~ControllerPpo() = default;

PpoMetrics ControllerPpo::update(std::span<const DreamSegment> segments) {
  if (segments.empty()) throw NnError("no steps to train on", "controller update", "give a segment");
  const ControllerSteps steps = steps_of(segments, config());
  PpoMetrics metrics;
  StepTargets targets = state_->targets(segments, state_->recompute(segments, steps), metrics);
  if (state_->options.normalise_advantages) normalise_advantages(targets);
  std::vector<std::int64_t> order(targets.size());
  std::iota(order.begin(), order.end(), 0);
  PpoSums sums;
  const std::size_t chunk = static_cast<std::size_t>(state_->options.minibatch_steps);
  for (int epoch = 0; epoch < state_->options.epochs; ++epoch) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[state_->rng.below(i)]);
    for (std::size_t first = 0; first < order.size(); first += chunk) {
      const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(std::min(chunk, order.size() - first));
      state_->step(steps, targets, {begin, end}, sums);
    }
  }
  ++state_->version;
  const auto count = static_cast<double>(sums.minibatches);
  metrics.minibatches = sums.minibatches;
  metrics.policy_loss = sums.policy_loss / count;
  metrics.value_loss = sums.value_loss / count;
  metrics.entropy = sums.entropy / count;
  metrics.approx_kl = sums.approx_kl / count;
  metrics.clip_fraction = sums.clip_fraction / count;
  metrics.gradient_norm = sums.gradient_norm / count;
  return metrics;
}

void ControllerPpo::anneal(double share) {
  state_->adam.set_learning_rate(state_->options.lr * share);
  state_->entropy_coefficient = state_->options.entropy_coefficient * share;
}

std::uint64_t ControllerPpo::version() const {
  return state_->version;
}
nn::Weights ControllerPpo::weights() const {
  return state_->network.store();
}
const nn::ControllerConfig& ControllerPpo::config() const {
  return state_->network.config();
}

std::vector<std::byte> ControllerPpo::save() const {
  std::vector<std::byte> bytes;
  replay::ByteWriter out(bytes);
  out.value(kStateFormat);
  out.value(state_->version);
  out.value(state_->rng.state());
  const auto weights = nn::encode_weights(state_->network.store());
  out.value(static_cast<std::uint64_t>(weights.size()));
  out.raw(weights);
  state_->adam.write(out);
  return bytes;
}

void ControllerPpo::restore(std::span<const std::byte> bytes) {
  replay::ByteReader in(bytes);
  if (const auto format = in.value<std::uint32_t>(); format != kStateFormat)
    throw NnError("controller state format " + std::to_string(format) + " is unknown", "checkpoint", "");
  const auto version = in.value<std::uint64_t>();
  const auto stream = in.value<Rng::State>();
  const auto size = in.value<std::uint64_t>();
  const nn::Weights weights = nn::decode_weights(in.raw(size));
  const auto moments = state_->adam.read(in);
  in.finish();
  state_->network.load(weights);
  state_->adam.restore(moments);
  state_->rng.restore(stream);
  state_->version = version;
}

}  // namespace regraft::learner
