#include "core/nn/fused/controller_engine.h"

#include <algorithm>
#include <cmath>

namespace regraft::nn::internal {
namespace {

constexpr float kNever = -1e30f;  // a logit of what cannot be drawn: exp gives 0

}  // namespace

std::unique_ptr<ControllerEngine> make_controller_engine(const ControllerConfig& config) {
  return std::make_unique<ControllerEngine>(config, best_dream_kernels());
}

ControllerEngine::ControllerEngine(const ControllerConfig& config, const DreamKernels& kernels)
    : config_(config), kernels_(kernels) {
  check(config);
  const bool linear = config.kind == ControllerKind::linear;
  width_ = padded(linear ? config.query : config.width, kernels.lanes);
  location_stride_ = padded(config.locations, kernels.lanes);
  first_.reset(config.state, (linear ? std::size_t{1} : std::size_t{kParts}) * width_, kernels);
  rules_.reset(width_, config.rules, kernels);
  hidden_stride_ = first_.columns(kernels);
  logits_stride_ = rules_.columns(kernels);
  locations_.assign(width_ * location_stride_, 0.0f);
  scratch_.resize(std::max(logits_stride_, location_stride_) + kernels.lanes);
  row_.resize(width_);
}

void ControllerEngine::load(const Weights& weights) {
  if (config_.kind == ControllerKind::linear)
    load_linear(weights);
  else
    load_hierarchical(weights);
}

void ControllerEngine::load_hierarchical(const Weights& weights) {
  const std::size_t width = config_.width, state = config_.state, rules = config_.rules;
  const char* names[kParts] = {"xfer", "value1", "location", "value2"};
  for (std::size_t part = 0; part < kParts; ++part) {
    const std::string prefix = names[part];
    const auto weight = weights.tensor(prefix + ".weight1"), bias = weights.tensor(prefix + ".bias1");
    for (std::size_t i = 0; i < width; ++i) {
      first_.start.data()[part * width_ + i] = bias[i];
      for (std::size_t k = 0; k < state; ++k)
        first_.set(k, part * width_ + i, weight[k * width + i], kernels_);
    }
  }
  const auto padded_rows = [&](const char* name) {
    const auto from = weights.tensor(name);
    std::vector<float> rows(rules * width_, 0.0f);
    for (std::size_t x = 0; x < rules; ++x)
      std::copy_n(from.data() + x * width, width, rows.data() + x * width_);
    return rows;
  };
  location_rows_ = padded_rows("location.xfer");
  value_rows_ = padded_rows("value2.xfer");
  const auto rule_weight = weights.tensor("xfer.weight2"), rule_bias = weights.tensor("xfer.bias2");
  for (std::size_t x = 0; x < rules; ++x) {
    rules_.start.data()[x] = rule_bias[x];
    for (std::size_t k = 0; k < width; ++k) rules_.set(k, x, rule_weight[k * rules + x], kernels_);
  }
  const auto location_weight = weights.tensor("location.weight2"), bias = weights.tensor("location.bias2");
  for (std::size_t k = 0; k < width; ++k)
    std::copy_n(location_weight.data() + k * config_.locations, config_.locations,
                locations_.data() + k * location_stride_);
  location_bias_.assign(location_stride_, 0.0f);
  std::copy(bias.begin(), bias.end(), location_bias_.begin());
  const auto output = [&](const char* name) {
    const auto from = weights.tensor(name);
    std::vector<float> to(width_, 0.0f);
    std::copy(from.begin(), from.end(), to.begin());
    return to;
  };
  value_output_ = output("value1.weight2");
  rule_value_output_ = output("value2.weight2");
  value_bias_ = weights.tensor("value1.bias2")[0];
  rule_value_bias_ = weights.tensor("value2.bias2")[0];
}

void ControllerEngine::load_linear(const Weights& weights) {
  const std::size_t query = config_.query;
  const auto weight = weights.tensor("query.weight"), bias = weights.tensor("query.bias");
  const auto rules = weights.tensor("action.xfer"), locations = weights.tensor("action.location");
  const float scale = 1 / std::sqrt(static_cast<float>(query));
  for (std::size_t i = 0; i < query; ++i) {
    first_.start.data()[i] = bias[i];
    for (std::size_t k = 0; k < config_.state; ++k) first_.set(k, i, weight[k * query + i], kernels_);
    for (std::size_t x = 0; x < config_.rules; ++x) rules_.set(i, x, scale * rules[x * query + i], kernels_);
    for (std::size_t l = 0; l < config_.locations; ++l)
      locations_.data()[i * location_stride_ + l] = scale * locations[l * query + i];
  }
  location_bias_.assign(location_stride_, 0.0f);
}

void ControllerEngine::reserve(std::uint32_t row) {
  if (row < reserved_) return;
  reserved_ = row + 1;
  hidden_.assign(reserved_ * hidden_stride_, 0.0f);
  logits_.assign(reserved_ * logits_stride_, 0.0f);
}

void ControllerEngine::read(std::span<const std::uint32_t> rows, const float* states, std::size_t stride) {
  reserve(*std::ranges::max_element(rows));
  kernels_.product({rows.size(), config_.state, first_.panels, rows.data(), states, stride,
                    first_.weight.data(), first_.start.data(), hidden_.data(), hidden_stride_});
  // The other two layers wait for the rule.
  if (config_.kind == ControllerKind::hierarchical)
    for (const std::uint32_t row : rows) kernels_.tanh(hidden(row, kRule), kLocation * width_);
  kernels_.product({rows.size(), width_, rules_.panels, rows.data(), hidden_.data(), hidden_stride_,
                    rules_.weight.data(), rules_.start.data(), logits_.data(), logits_stride_});
}

void ControllerEngine::legal_logits(std::uint32_t row, std::span<const std::uint32_t> legal) {
  const float* all = logits_.data() + row * logits_stride_;
  for (std::size_t i = 0; i < legal.size(); ++i) scratch_[i] = all[legal[i]];
}

void ControllerEngine::location_logits(std::uint32_t row, std::uint32_t rule, std::uint32_t count) {
  const float* from = hidden(row, kRule);
  if (config_.kind == ControllerKind::hierarchical) {
    const float* before = hidden(row, kLocation);
    for (std::size_t i = 0; i < width_; ++i) row_[i] = before[i] + location_rows_[rule * width_ + i];
    kernels_.tanh(row_.data(), width_);
    from = row_.data();
  }
  kernels_.narrow(from, width_, locations_.data(), location_stride_, location_bias_.data(), scratch_.data(),
                  padded(count, kernels_.lanes));
}

/// From the first `count` logits of the scratch, which become exponentials.
ControllerEngine::Drawn ControllerEngine::draw(std::size_t count, Rng* rng) {
  const float* begin = scratch_.data();
  const auto most = static_cast<std::size_t>(std::max_element(begin, begin + count) - begin);
  const float highest = scratch_[most];
  std::fill(scratch_.begin() + static_cast<std::ptrdiff_t>(count),
            scratch_.begin() + static_cast<std::ptrdiff_t>(padded(count, kernels_.lanes)), kNever);
  const float sum =
      kernels_.exponentials(begin, highest, 1.0f, scratch_.data(), padded(count, kernels_.lanes));
  std::size_t index = most;
  if (rng != nullptr) {
    double left = rng->uniform() * static_cast<double>(sum);
    for (index = 0; index + 1 < count; ++index) {
      left -= scratch_[index];
      if (left < 0) break;
    }
  }
  return {index, std::log(scratch_[index] / sum)};
}

std::vector<float> ControllerEngine::normalised(std::size_t count) {
  const float highest =
      *std::max_element(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(count));
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::exp(static_cast<double>(scratch_[i] - highest));
  const auto shift = static_cast<float>(highest + std::log(sum));
  std::vector<float> logs(count);
  for (std::size_t i = 0; i < count; ++i) logs[i] = scratch_[i] - shift;
  return logs;
}

ControllerEngine::Drawn ControllerEngine::draw_rule(std::uint32_t row, std::span<const std::uint32_t> legal,
                                                    Rng* rng) {
  legal_logits(row, legal);
  return draw(legal.size(), rng);
}

ControllerEngine::Drawn ControllerEngine::draw_location(std::uint32_t row, std::uint32_t rule,
                                                        std::uint32_t count, Rng* rng) {
  location_logits(row, rule, count);
  return draw(count, rng);
}

std::vector<float> ControllerEngine::rule_log_probabilities(std::uint32_t row,
                                                            std::span<const std::uint32_t> legal) {
  legal_logits(row, legal);
  return normalised(legal.size());
}

std::vector<float> ControllerEngine::location_log_probabilities(std::uint32_t row, std::uint32_t rule,
                                                                std::uint32_t count) {
  location_logits(row, rule, count);
  return normalised(count);
}

float ControllerEngine::dot(const float* values, const std::vector<float>& weight, float bias) const {
  float sum = bias;
  for (std::size_t i = 0; i < width_; ++i) sum += values[i] * weight[i];
  return sum;
}

float ControllerEngine::value(std::uint32_t row) const {
  return config_.kind == ControllerKind::linear ? 0 : dot(hidden(row, kValue), value_output_, value_bias_);
}

float ControllerEngine::rule_value(std::uint32_t row, std::uint32_t rule) {
  if (config_.kind == ControllerKind::linear) return 0;
  const float* before = hidden(row, kRuleValue);
  for (std::size_t i = 0; i < width_; ++i) row_[i] = before[i] + value_rows_[rule * width_ + i];
  kernels_.tanh(row_.data(), width_);
  return dot(row_.data(), rule_value_output_, rule_value_bias_);
}

}
