#include "core/nn/fused/dream_engine.h"

#include <algorithm>
#include <cmath>

#include "core/nn/model/nn_error.h"

namespace regraft::nn::internal {
namespace {

std::span<const float> tensor(const Weights& weights, const char* name, std::size_t size) {
  const auto values = weights.tensor(name);
  if (values.size() != size)
    throw NnError("these are weights of another network", name, "use the config they were made with");
  return values;
}

bool has(const Weights& weights, const char* name) {
  return std::ranges::any_of(weights.tensors, [&](const TensorSpec& spec) { return spec.name == name; });
}

}  // namespace

DreamEngine::DreamEngine(const DynamicsConfig& config, const DreamKernels& kernels)
    : config_(config),
      kernels_(kernels),
      hidden_stride_(padded(config.hidden, kernels.lanes)),
      latent_stride_(padded(config.latent, kernels.lanes)),
      bins_stride_(padded(config.count_bins, kernels.lanes)) {
  check(config);
  x_stride_ = padded(config_.action + config_.latent + hidden_stride_, kernels_.lanes);
}

void DreamEngine::load(const Weights& weights) {
  pack_lstm(weights);
  pack_heads(weights);
  if (!has(weights, "action.xfer")) return;
  const auto rules = tensor(weights, "action.xfer", std::size_t{config_.rules} * config_.action);
  const auto locations = weights.tensor("action.location");
  if (locations.empty() || locations.size() % config_.action != 0)
    throw NnError("these are weights of another network", "action.location",
                  "use the config they were made with");
  rule_rows_.assign(rules.begin(), rules.end());
  location_rows_.assign(locations.begin(), locations.end());
}

/// Columns by block of units, then gate; rows in the order [a | z | h] of x.
void DreamEngine::pack_lstm(const Weights& weights) {
  const std::size_t hidden = config_.hidden, gates = 4 * hidden, lanes = kernels_.lanes;
  const std::size_t inputs = std::size_t{config_.latent} + config_.action, depth = inputs + hidden;
  const auto input = tensor(weights, "lstm.input", inputs * gates);
  const auto recurrent = tensor(weights, "lstm.hidden", hidden * gates);
  const auto bias = tensor(weights, "lstm.bias", gates);
  lstm_.assign(hidden_stride_ * 4 * depth, 0.0f);
  lstm_bias_.assign(hidden_stride_ * 4, 0.0f);
  for (std::size_t unit = 0; unit < hidden; ++unit) {
    for (std::size_t gate = 0; gate < 4; ++gate) {
      const std::size_t block = unit / lanes, column = gate * lanes + unit % lanes,
                        from = gate * hidden + unit;
      const auto put = [&](std::size_t row, float value) {
        lstm_.data()[(block * depth + row) * 4 * lanes + column] = value;
      };
      lstm_bias_.data()[block * 4 * lanes + column] = bias[from];
      for (std::size_t k = 0; k < config_.action; ++k) put(k, input[(config_.latent + k) * gates + from]);
      for (std::size_t k = 0; k < config_.latent; ++k) put(config_.action + k, input[k * gates + from]);
      for (std::size_t k = 0; k < hidden; ++k) put(inputs + k, recurrent[k * gates + from]);
    }
  }
}

void DreamEngine::pack_heads(const Weights& weights) {
  const std::size_t width = head_width(config_), hidden = config_.hidden, mixtures = config_.mixtures,
                    latent = config_.latent;
  const auto weight = tensor(weights, "head.weight", hidden * width);
  const auto bias = tensor(weights, "head.bias", width);
  const auto copy = [&](PackedMatrix& to, std::size_t column, std::size_t from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      to.start.data()[column + i] = bias[from + i];
      for (std::size_t k = 0; k < hidden; ++k) to.set(k, column + i, weight[k * width + from + i], kernels_);
    }
  };
  const std::size_t means = mixtures, sigmas = means + mixtures * latent, rest = sigmas + mixtures * latent;
  const std::size_t rules = config_.rules, counts = rest + 2 + rules;
  small_.reset(hidden, mixtures + 2 + rules, kernels_);
  copy(small_, 0, 0, mixtures);
  copy(small_, mixtures, rest, 2 + rules);
  components_.resize(mixtures);
  for (std::size_t k = 0; k < mixtures; ++k) {
    components_[k].reset(hidden, 2 * latent_stride_, kernels_);
    copy(components_[k], 0, means + k * latent, latent);
    copy(components_[k], latent_stride_, sigmas + k * latent, latent);
  }
  const std::size_t bins = config_.count_bins;
  counts_.assign(rules * hidden * bins_stride_, 0.0f);
  counts_bias_.assign(rules * bins_stride_, 0.0f);
  for (std::size_t rule = 0; rule < rules; ++rule) {
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const std::size_t from = counts + rule * bins + bin;
      counts_bias_.data()[rule * bins_stride_ + bin] = bias[from];
      for (std::size_t k = 0; k < hidden; ++k)
        counts_.data()[(rule * hidden + k) * bins_stride_ + bin] = weight[k * width + from];
    }
  }
}

void DreamEngine::set_replicas(std::size_t count) {
  replicas_ = count;
  heads_stride_ = padded(config_.mixtures + 2 + config_.rules, kernels_.panel);
  x_.assign(count * x_stride_, 0.0f);
  cell_.assign(count * hidden_stride_, 0.0f);
  fresh_.assign(count * hidden_stride_, 0.0f);
  heads_.assign(count * heads_stride_, 0.0f);
  drawn_.assign(count * padded(2 * latent_stride_, kernels_.panel), 0.0f);
  component_.assign(count, 0);
  order_.assign(count, 0);
  radius_.assign(latent_stride_, 0.0);
  angle_.assign(latent_stride_, 0.0);
}

void DreamEngine::embed(std::size_t row, std::uint32_t rule, std::uint32_t location) {
  const std::size_t width = config_.action, last = location_rows_.size() / width - 1;
  const float* of_rule = rule_rows_.data() + rule * width;
  const float* of_location = location_rows_.data() + std::min<std::size_t>(location, last) * width;
  for (std::size_t i = 0; i < width; ++i) x(row)[i] = of_rule[i] + of_location[i];
}

void DreamEngine::advance(std::span<const std::uint32_t> rows) {
  const std::size_t depth = std::size_t{config_.action} + config_.latent + config_.hidden;
  kernels_.lstm({rows.size(), depth, hidden_stride_ / kernels_.lanes, rows.data(), x_.data(), x_stride_,
                 lstm_.data(), lstm_bias_.data(), cell_.data(), hidden_stride_, fresh_.data(),
                 hidden_stride_});
  for (const std::uint32_t row : rows)
    std::copy_n(fresh_.data() + row * hidden_stride_, config_.hidden, hidden(row).data());
}

void DreamEngine::read_heads(std::span<const std::uint32_t> rows) {
  kernels_.product({rows.size(), config_.hidden, small_.panels, rows.data(), hidden(0).data(), x_stride_,
                    small_.weight.data(), small_.start.data(), heads_.data(), heads_stride_});
}

void DreamEngine::draw_components(std::span<const std::uint32_t> rows, double tau, std::span<Rng> streams) {
  for (const std::uint32_t row : rows) {
    const float* logits = heads(row);
    const auto count = static_cast<std::uint32_t>(config_.mixtures);
    const float most = *std::max_element(logits, logits + count);
    component_[row] = static_cast<std::uint32_t>(std::max_element(logits, logits + count) - logits);
    if (tau == 0) continue;
    double shares[64], total = 0;
    for (std::uint32_t k = 0; k < count; ++k) total += shares[k] = std::exp((logits[k] - most) / tau);
    double left = streams[row].uniform() * total;
    component_[row] = count - 1;
    for (std::uint32_t k = 0; k + 1 < count; ++k) {
      left -= shares[k];
      if (left >= 0) continue;
      component_[row] = k;
      break;
    }
  }
}

void DreamEngine::sample(std::span<const std::uint32_t> rows, const SampleOptions& options,
                         std::span<Rng> streams) {
  draw_components(rows, options.tau, streams);
  // Rows of one component become neighbours, so that its columns are read once for all of them.
  begin_.assign(config_.mixtures + 1, 0);
  for (const std::uint32_t row : rows) ++begin_[component_[row] + 1];
  for (std::size_t k = 0; k < config_.mixtures; ++k) begin_[k + 1] += begin_[k];
  for (const std::uint32_t row : rows) order_[begin_[component_[row]]++] = row;
  const std::size_t stride = components_.front().columns(kernels_);
  std::size_t first = 0;
  for (std::size_t k = 0; k < config_.mixtures; first = begin_[k], ++k)
    kernels_.product({begin_[k] - first, config_.hidden, components_[k].panels, order_.data() + first,
                      hidden(0).data(), x_stride_, components_[k].weight.data(), components_[k].start.data(),
                      drawn_.data(), stride});
  const bool mode = options.tau == 0;
  const float scale = options.scale_sigma ? static_cast<float>(std::sqrt(options.tau)) : 1.0f;
  for (const std::uint32_t row : rows) {
    for (std::size_t d = 0; !mode && d < config_.latent; ++d) {
      radius_[d] = streams[row].uniform();
      angle_[d] = streams[row].uniform();
    }
    float* parameters = drawn_.data() + row * stride;
    kernels_.draw({latent_stride_, parameters, parameters + latent_stride_, mode ? nullptr : radius_.data(),
                   angle_.data(), static_cast<float>(config_.sigma_floor), scale, parameters});
    std::copy_n(parameters, config_.latent, latent(row).data());
  }
}

void DreamEngine::count_row(std::size_t row, std::uint32_t rule, float* logits) const {
  kernels_.narrow(x_.data() + row * x_stride_ + config_.action + config_.latent, config_.hidden,
                  counts_.data() + std::size_t{rule} * config_.hidden * bins_stride_, bins_stride_,
                  counts_bias_.data() + rule * bins_stride_, logits, bins_stride_);
}

std::uint32_t DreamEngine::count_bin_of(std::size_t row, std::uint32_t rule) const {
  float logits[64];
  count_row(row, rule, logits);
  return static_cast<std::uint32_t>(std::max_element(logits, logits + config_.count_bins) - logits);
}

std::vector<float> DreamEngine::count_logits(std::size_t row, std::uint32_t rule) const {
  std::vector<float> logits(bins_stride_);
  count_row(row, rule, logits.data());
  logits.resize(config_.count_bins);
  return logits;
}

}
