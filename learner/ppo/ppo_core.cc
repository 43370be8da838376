#include "learner/ppo/ppo_core.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/nn/model/nn_error.h"
#include "core/nn/training/device_tensor.h"
#include "learner/optimiser/clip_gradients.h"
#include "replay/rollout/byte_reader.h"

namespace regraft::learner {
namespace {

using nn::NnError;
using torch::Tensor;

double variance(std::span<const float> values) {
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double sum = 0;
  for (const float value : values) sum += (value - mean) * (value - mean);
  return sum / count;
}

const PpoOptions& checked(const PpoOptions& options) {
  ppo_options().check(options);
  return options;
}

}  // namespace

PpoCore::PpoCore(const PpoOptions& options, const Tensor& parameters, Tensor& gradients,
                 std::span<const ValueRange> values, std::uint64_t seed, Names names)
    : options_(checked(options)),
      names_(std::move(names)),
      parameters_(parameters),
      gradients_(gradients),
      rng_(seed, names_.stream),
      entropy_coefficient_(options.entropy_coefficient) {
  std::int64_t at = 0;
  for (const ValueRange& range : values) {
    add(at, range.offset, false);
    at = range.offset + range.count;
    add(range.offset, at, true);
  }
  add(at, parameters.numel(), false);
}

void PpoCore::add(std::int64_t begin, std::int64_t end, bool of_values) {
  if (begin == end) return;
  const double learning_rate =
      of_values && options_.value_learning_rate > 0 ? options_.value_learning_rate : options_.learning_rate;
  const std::int64_t count = end - begin;
  groups_.emplace_back(parameters_.narrow(0, begin, count), gradients_.narrow(0, begin, count),
                       learning_rate);
}

void PpoCore::fail(const char* what) const {
  throw NnError(what, names_.what + " update " + std::to_string(version()),
                "lower ppo.learning_rate, or resume from an older checkpoint");
}

void PpoCore::train(std::size_t rows, const Loss& loss, const Backward& backward, PpoMetrics& metrics) {
  const Tensor before = parameters_.clone();
  std::vector<FlatAdam::Moments> moments;
  for (const ParameterGroup& part : groups_) moments.push_back(part.adam.moments());
  const Rng::State stream = rng_.state();
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  PpoSums sums;
  const auto chunk = static_cast<std::size_t>(options_.minibatch_steps);
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    for (std::size_t i = rows; i > 1; --i) std::swap(order[i - 1], order[rng_.below(i)]);
    for (std::size_t first = 0; first < rows; first += chunk)
      minibatch(std::span(order).subspan(first, std::min(chunk, rows - first)), loss, backward, sums);
  }
  try {
    add_means(metrics, sums);
  } catch (const NnError&) {
    parameters_.copy_(before);
    for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i].adam.restore(moments[i]);
    rng_.restore(stream);
    throw;
  }
  ++updates_;
}

/// Alone it asks the device for nothing, not even whether all is finite: every answer would have to be waited
/// for.
void PpoCore::minibatch(std::span<const std::size_t> rows, const Loss& loss, const Backward& backward,
                        PpoSums& sums) {
  const auto [first, count] = work_.part_of(rows.size());
  Tensor total;  // undefined where this learner has no rows of it
  if (count > 0) total = loss(rows.subspan(first, count), rows, sums);
  gradients_.zero_();
  if (total.defined()) backward(total);
  work_.add_up({gradients_});
  const Tensor norm = clip_gradients({gradients_}, options_.gradient_norm);
  for (ParameterGroup& part : groups_) part.adam.step(part.gradients);
  add_to(sums.gradient_norm, norm);
  ++sums.minibatches;
}

void PpoCore::add_means(PpoMetrics& metrics, const PpoSums& sums) const {
  const auto held = [&](const Tensor& sum) {
    return sum.defined() ? sum : torch::zeros({}, gradients_.options());
  };
  std::vector<double> means =
      nn::training::to_host({held(sums.policy_loss), held(sums.value_loss), held(sums.entropy),
                             held(sums.approx_kl), held(sums.clip_fraction), held(sums.gradient_norm)});
  for (double& mean : means) mean /= static_cast<double>(sums.minibatches);
  if (work_.learners() > 1) {  // the first three are of parts of minibatches
    std::vector<float> all(means.begin(), means.end());
    work_.add_up(all);
    for (std::size_t i = 3; i < all.size(); ++i) all[i] /= static_cast<float>(work_.learners());
    means.assign(all.begin(), all.end());
  }
  if (!std::isfinite(means[0]) || !std::isfinite(means[1]) || !std::isfinite(means[2]))
    fail("the loss is not finite");
  if (!std::isfinite(means[5])) fail("the gradient is not finite");
  metrics.minibatches = sums.minibatches;
  metrics.policy_loss = means[0];
  metrics.value_loss = means[1];
  metrics.entropy = means[2];
  metrics.approx_kl = means[3];
  metrics.clip_fraction = means[4];
  metrics.gradient_norm = means[5];
}

void PpoCore::anneal(double share) {
  for (ParameterGroup& part : groups_) part.adam.set_learning_rate(part.learning_rate * share);
  entropy_coefficient_ = options_.entropy_coefficient * share;
}

std::vector<std::byte> PpoCore::save(const nn::Weights& weights) const {
  std::vector<std::byte> bytes;
  replay::ByteWriter out(bytes);
  out.value(names_.state_format);
  out.value(updates_);
  out.value(rng_.state());
  const auto encoded = nn::encode_weights(weights);
  out.value(static_cast<std::uint64_t>(encoded.size()));
  out.raw(encoded);
  for (const ParameterGroup& part : groups_) part.adam.write(out);
  return bytes;
}

void PpoCore::restore(std::span<const std::byte> bytes, const WithWeights& check, const WithWeights& load) {
  replay::ByteReader in(bytes);
  if (const auto format = in.value<std::uint32_t>(); format != names_.state_format)
    throw NnError(names_.what + " state format " + std::to_string(format) + " is unknown", "checkpoint", "");
  const auto updates = in.value<std::uint64_t>();
  const auto stream = in.value<Rng::State>();
  const auto size = in.value<std::uint64_t>();
  const nn::Weights weights = nn::decode_weights(in.raw(size));
  check(weights);
  std::vector<FlatAdam::Moments> moments;
  for (const ParameterGroup& part : groups_) moments.push_back(part.adam.read(in));
  in.finish();
  load(weights);
  for (std::size_t i = 0; i < groups_.size(); ++i) groups_[i].adam.restore(moments[i]);
  rng_.restore(stream);
  updates_ = updates;
}

void ArrivalCheck::look(double proximal, double acted, bool current_weights) {
  const double ratio = std::exp(proximal - acted);
  ++decisions_;
  truncated_ += ratio > ratio_limit_ ? 1 : 0;
  if (current_weights) lag0_.push_back(std::abs(ratio - 1));
}

void ArrivalCheck::finish(PpoMetrics& metrics) {
  metrics.truncated_fraction = static_cast<double>(truncated_) / static_cast<double>(decisions_);
  if (lag0_.empty()) return;
  std::ranges::sort(lag0_);
  metrics.lag0_ratio_max = lag0_.back();
  metrics.lag0_ratio_p999 = lag0_[static_cast<std::size_t>(0.999 * static_cast<double>(lag0_.size() - 1))];
}

double explained_variance(std::span<const float> values, std::span<const float> targets) {
  std::vector<float> errors(targets.size());
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = targets[i] - values[i];
  const double spread = variance(targets);
  return spread > 0 ? 1 - variance(errors) / spread : 0;
}

}
