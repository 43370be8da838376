#include "learner/ppo.h"

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/rng.h"
#include "core/nn/device.h"
#include "core/nn/error.h"
#include "core/nn/internal/network.h"
#include "core/nn/internal/trainer.h"
#include "learner/flat_adam.h"
#include "learner/ppo_loss.h"
#include "replay/bytes.h"

namespace regraft::learner {
namespace {

using nn::NnError;
using nn::internal::Gradients;
using nn::internal::Network;
using replay::Segment;
using torch::Tensor;

constexpr std::uint32_t kStateFormat = 2;

template <typename T>
Tensor to_device(const std::vector<T>& values, torch::ScalarType type, torch::Device device) {
  return torch::from_blob(const_cast<T*>(values.data()), {static_cast<std::int64_t>(values.size())}, type)
      .clone()
      .to(device);
}

/// Figures of each step from a forward pass without gradients: log pi of what was decided, and values; 0
/// where there is no second decision.
struct Fresh {
  std::vector<float> first, second, values, xfer_values;
};

double variance(std::span<const float> values) {
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double sum = 0;
  for (const float value : values) sum += (value - mean) * (value - mean);
  return sum / count;
}

double explained_variance(std::span<const float> values, std::span<const float> targets) {
  std::vector<float> errors(targets.size());
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = targets[i] - values[i];
  const double spread = variance(targets);
  return spread > 0 ? 1 - variance(errors) / spread : 0;
}

/// The steps of one minibatch and what they train towards.
struct Minibatch {
  std::vector<const env::Observation*> observations;
  std::vector<std::int32_t> candidates;
  std::vector<std::size_t> rows;  // of the batch
};

/// `rows` of one kind of decision, with what the policy in training says of them.
Decisions decisions(const nn::internal::DecisionOutput& output, const DecisionTargets& targets,
                    std::span<const std::size_t> rows, torch::Device device) {
  const auto column = [&](const std::vector<float>& values) {
    std::vector<float> chosen;
    for (const std::size_t row : rows) chosen.push_back(values[row]);
    return to_device(chosen, torch::kFloat32, device);
  };
  return {.log_probability = output.log_probability,
          .entropy = output.entropy,
          .values = output.values,
          .proximal = column(targets.proximal),
          .weights = column(targets.weights),
          .advantages = column(targets.advantages),
          .targets = column(targets.targets)};
}

std::vector<float> to_host(const Tensor& values) {
  const auto host = values.to(torch::kCPU, torch::kFloat32).contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}

double value_lr(const PpoOptions& options) {
  return options.value_lr > 0 ? options.value_lr : options.lr;
}

void add_means(PpoMetrics& metrics, const PpoSums& sums) {
  const double count = static_cast<double>(sums.minibatches);
  metrics.minibatches = sums.minibatches;
  metrics.policy_loss = sums.policy_loss / count;
  metrics.value_loss = sums.value_loss / count;
  metrics.entropy = sums.entropy / count;
  metrics.approx_kl = sums.approx_kl / count;
  metrics.clip_fraction = sums.clip_fraction / count;
  metrics.gradient_norm = sums.gradient_norm / count;
}

}  // namespace

class Ppo::State {
 public:
  State(const nn::NetworkConfig& config, const env::RuleFeatureTable& rules, const PpoOptions& options,
        const std::string& device, std::uint64_t seed, nn::Engine engine)
      : options_(options),
        network_(config, torch::Device(nn::resolve_device(device))),
        trainer_(nn::internal::make_trainer(network_, rules, engine)),
        policy_count_(static_cast<std::int64_t>(nn::value_offset(nn::weight_layout(config)))),
        adam_(policy_part(network_.parameters()), options.lr),
        value_adam_(value_part(network_.parameters()), value_lr(options)),
        rng_(seed, "learner/minibatches") {}

  Fresh recompute(const PpoBatch& batch) const;
  Minibatch minibatch(const PpoBatch& batch, std::span<const std::size_t> rows) const;
  void step(const Minibatch& minibatch, const StepTargets& targets, PpoSums& sums);
  [[noreturn]] void fail(const char* what) const {
    throw NnError(what, "PPO update " + std::to_string(version_ + 1),
                  "lower ppo.lr, or resume from an older checkpoint");
  }
  Tensor policy_part(const Tensor& flat) const { return flat.narrow(0, 0, policy_count_); }
  Tensor value_part(const Tensor& flat) const {
    return flat.narrow(0, policy_count_, flat.numel() - policy_count_);
  }
  void shuffle(std::vector<std::size_t>& order) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng_.below(i)]);
  }

  PpoOptions options_;
  Network network_;
  std::unique_ptr<nn::internal::Trainer> trainer_;
  std::int64_t policy_count_;   // parameters before those of the value functions
  FlatAdam adam_, value_adam_;  // elementwise, so with one rate they are one
  Rng rng_;
  std::uint64_t version_ = 0;
  double entropy_coefficient_ = options_.entropy_coefficient;
};

Fresh Ppo::State::recompute(const PpoBatch& batch) const {
  torch::NoGradGuard no_grad;
  Fresh fresh;
  fresh.second.assign(batch.size(), 0.0F);
  fresh.xfer_values.assign(batch.size(), 0.0F);
  const std::size_t chunk = static_cast<std::size_t>(options_.minibatch_steps);
  for (std::size_t first = 0; first < batch.size(); first += chunk) {
    const std::size_t count = std::min(chunk, batch.size() - first);
    const auto output = trainer_->forward(std::span(batch.observations).subspan(first, count),
                                          std::span(batch.candidates).subspan(first, count), Gradients::none);
    const auto append = [](std::vector<float>& to, const std::vector<float>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(fresh.first, to_host(output.first.log_probability));
    append(fresh.values, to_host(output.first.values));
    if (output.second_graphs.empty()) continue;
    const auto second = to_host(output.second.log_probability), values = to_host(output.second.values);
    for (std::size_t i = 0; i < second.size(); ++i) {
      fresh.second[first + output.second_graphs[i]] = second[i];
      fresh.xfer_values[first + output.second_graphs[i]] = values[i];
    }
  }
  return fresh;
}

Minibatch Ppo::State::minibatch(const PpoBatch& batch, std::span<const std::size_t> rows) const {
  Minibatch minibatch;
  minibatch.rows.assign(rows.begin(), rows.end());
  for (const std::size_t row : rows) {
    minibatch.observations.push_back(batch.observations[row]);
    minibatch.candidates.push_back(batch.candidates[row]);
  }
  return minibatch;
}

void Ppo::State::step(const Minibatch& minibatch, const StepTargets& targets, PpoSums& sums) {
  const auto output = trainer_->forward(minibatch.observations, minibatch.candidates, Gradients::wanted);
  std::array<Decisions, 2> kinds;
  kinds[0] = decisions(output.first, targets.first, minibatch.rows, network_.device());
  std::size_t count = 1;
  if (!output.second_graphs.empty()) {
    std::vector<std::size_t> rows;
    for (const std::size_t graph : output.second_graphs) rows.push_back(minibatch.rows[graph]);
    kinds[count++] = decisions(output.second, targets.second, rows, network_.device());
  }
  const auto total = ppo_loss(std::span(kinds).first(count), options_, entropy_coefficient_, sums);
  if (!std::isfinite(total.item<double>())) fail("the loss is not finite");
  network_.gradients().zero_();
  trainer_->backward(total);
  const double norm = network_.gradients().norm().item<double>();
  if (!std::isfinite(norm)) fail("the gradient is not finite");
  if (norm > options_.gradient_norm) network_.gradients().mul_(options_.gradient_norm / norm);
  adam_.step(policy_part(network_.gradients()));
  value_adam_.step(value_part(network_.gradients()));
  sums.gradient_norm += norm;
  ++sums.minibatches;
}

namespace {

/// |pi / mu - 1| over the steps that were acted with the current weights.
void add_lag0_check(PpoMetrics& metrics, std::vector<double> errors) {
  if (errors.empty()) return;
  std::sort(errors.begin(), errors.end());
  metrics.lag0_ratio_max = errors.back();
  metrics.lag0_ratio_p999 = errors[static_cast<std::size_t>(0.999 * static_cast<double>(errors.size() - 1))];
}

PpoBatch collect(std::span<const Segment> segments, nn::Head head) {
  PpoBatch batch;
  for (const Segment& segment : segments) {
    if (segment.hierarchical != (head == nn::Head::hierarchical))
      throw NnError("a segment was acted by a policy with another head", "segment", "reject it");
    for (const auto& step : segment.steps) {
      batch.observations.push_back(&step.observation);
      batch.candidates.push_back(static_cast<std::int32_t>(step.candidate));
      batch.models.push_back(segment.model);
    }
  }
  if (batch.size() == 0) throw NnError("no steps to train on", "PPO update", "give at least one segment");
  return batch;
}

/// Advantages, targets and weights of one segment, whose figures begin at row `first` of `fresh`.
StepTargets targets_of(const Segment& segment, const Fresh& fresh, std::size_t first,
                       const PpoOptions& options) {
  const std::size_t count = segment.steps.size();
  std::vector<float> rewards, acted, located;
  std::vector<std::uint8_t> terminated, second_halves;
  for (const replay::Step& step : segment.steps) {
    rewards.push_back(step.reward);
    terminated.push_back(step.terminated);
    second_halves.push_back(segment.hierarchical && chose_location(step));
    acted.push_back(step.log_probability);
    located.push_back(step.location_log_probability);
  }
  const auto part = [&](const std::vector<float>& figures) {
    return std::span(figures).subspan(first, count);
  };
  return make_targets({.rewards = rewards,
                       .terminated = terminated,
                       .second_halves = second_halves,
                       .first = acted,
                       .second = located,
                       .bootstrap_value = segment.bootstrap_value},
                      {.first = part(fresh.first),
                       .second = part(fresh.second),
                       .values = part(fresh.values),
                       .xfer_values = part(fresh.xfer_values)},
                      options);
}

}  // namespace

Ppo::Ppo(const nn::NetworkConfig& network, const nn::Weights& weights, const env::RuleFeatureTable& rules,
         const PpoOptions& options, const std::string& device, std::uint64_t seed, nn::Engine engine) {
  check(options);
  state_ = std::make_unique<State>(network, rules, options, device, seed, engine);
  state_->network_.load(weights);
}

Ppo::~Ppo() = default;
Ppo::Ppo(Ppo&&) noexcept = default;
Ppo& Ppo::operator=(Ppo&&) noexcept = default;

PpoMetrics Ppo::update(std::span<const Segment> segments) {
  return train(prepare(segments));
}

PpoBatch Ppo::prepare(std::span<const Segment> segments) const {
  PpoBatch batch = collect(segments, state_->network_.config().head);
  const Fresh fresh = state_->recompute(batch);
  std::vector<double> lag0_errors;
  std::size_t first = 0, truncated = 0, decisions = 0;
  for (const Segment& segment : segments) {
    batch.targets.append(targets_of(segment, fresh, first, state_->options_));
    for (std::size_t t = 0; t < segment.steps.size(); ++t) {
      const auto look = [&](double proximal, double acted) {
        const double ratio = std::exp(proximal - acted);
        ++decisions;
        truncated += ratio > state_->options_.ratio_limit;
        if (segment.weight_version == state_->version_) lag0_errors.push_back(std::abs(ratio - 1));
      };
      look(fresh.first[first + t], segment.steps[t].log_probability);
      if (batch.targets.second_halves[first + t] != 0)
        look(fresh.second[first + t], segment.steps[t].location_log_probability);
    }
    if (segment.weight_version == state_->version_) batch.arrival.lag0_steps += segment.steps.size();
    first += segment.steps.size();
  }
  batch.arrival.steps = batch.size();
  batch.arrival.truncated_fraction = static_cast<double>(truncated) / static_cast<double>(decisions);
  batch.arrival.explained_variance = explained_variance(fresh.values, batch.targets.first.targets);
  add_lag0_check(batch.arrival, std::move(lag0_errors));
  return batch;
}

PpoMetrics Ppo::train(const PpoBatch& batch) {
  const auto& options = state_->options_;
  StepTargets targets = batch.targets;
  if (options.normalise_advantages)
    normalise_advantages(
        targets, options.normalise_by_model ? std::span(batch.models) : std::span<const std::uint32_t>());
  std::vector<std::size_t> order(batch.size());
  std::iota(order.begin(), order.end(), 0);
  PpoSums sums;
  const std::size_t chunk = static_cast<std::size_t>(options.minibatch_steps);
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    state_->shuffle(order);
    for (std::size_t first = 0; first < order.size(); first += chunk) {
      const auto rows = std::span(order).subspan(first, std::min(chunk, order.size() - first));
      state_->step(state_->minibatch(batch, rows), targets, sums);
    }
  }
  ++state_->version_;
  PpoMetrics metrics = batch.arrival;
  add_means(metrics, sums);
  return metrics;
}

void Ppo::anneal(double share) {
  state_->adam_.set_learning_rate(state_->options_.lr * share);
  state_->value_adam_.set_learning_rate(value_lr(state_->options_) * share);
  state_->entropy_coefficient_ = state_->options_.entropy_coefficient * share;
}

std::uint64_t Ppo::version() const {
  return state_->version_;
}
nn::Weights Ppo::weights() const {
  return state_->network_.store();
}
const nn::NetworkConfig& Ppo::network() const {
  return state_->network_.config();
}
const PpoOptions& Ppo::options() const {
  return state_->options_;
}

std::vector<std::byte> Ppo::save() const {
  std::vector<std::byte> bytes;
  replay::ByteWriter out(bytes);
  out.value(kStateFormat);
  out.value(state_->version_);
  out.value(state_->rng_.state());
  const auto weights = nn::encode_weights(state_->network_.store());
  out.value(static_cast<std::uint64_t>(weights.size()));
  out.raw(weights);
  state_->adam_.write(out);
  state_->value_adam_.write(out);
  return bytes;
}

void Ppo::restore(std::span<const std::byte> bytes) {
  replay::ByteReader in(bytes);
  if (const auto format = in.value<std::uint32_t>(); format != kStateFormat) {
    throw NnError("learner state format " + std::to_string(format) + " is unknown", "checkpoint", "");
  }
  const auto version = in.value<std::uint64_t>();
  const auto stream = in.value<Rng::State>();
  const auto size = in.value<std::uint64_t>();
  const auto weights = nn::decode_weights(in.raw(size));
  nn::check(weights, state_->network_.config());
  const auto moments = state_->adam_.read(in);
  const auto value_moments = state_->value_adam_.read(in);
  in.finish();
  state_->network_.load(weights);
  state_->adam_.restore(moments);
  state_->value_adam_.restore(value_moments);
  state_->rng_.restore(stream);
  state_->version_ = version;
}

}  // namespace regraft::learner
