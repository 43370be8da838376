#include "learner/world/latent_data.h"

#include <algorithm>
#include <cmath>

#include "core/base/rng.h"
#include "core/base/stats.h"
#include "core/nn/inference/device.h"
#include "core/nn/training/device_tensor.h"

namespace regraft::learner {
namespace {

constexpr double kRewardTail = 0.001;     // dreamt rewards stay within these quantiles of what was observed
constexpr float kLeastDeviation = 1e-3f;  // of a latent dim that hardly moves

}  // namespace

LatentData::LatentData(const WorldData& data, const nn::WorldModelConfig& config, const WorldOptions& options,
                       const WorkShare& work, const nn::PolicyOptions& compute)
    : data_(data),
      config_(config),
      options_(options),
      work_(work),
      compute_(compute),
      device_(nn::resolve_device(compute.device)) {
  rewards_.unit = static_cast<float>(options.reward_unit);
  standardise_rewards();
  if (options.shuffle_targets) deal_targets();
}

/// The control: steps of the fitted episodes exchange their targets at random.
void LatentData::deal_targets() {
  std::vector<Source> all;
  for (const std::size_t i : data_.train())
    for (std::uint32_t t = 0; t < data_.episodes()[i].length(); ++t) all.push_back({i, t});
  Rng rng(options_.seed, "dealt targets");
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[rng.below(i)]);
  dealt_.resize(data_.episodes().size());
  std::size_t next = 0;
  for (const std::size_t i : data_.train())
    for (std::uint32_t t = 0; t < data_.episodes()[i].length(); ++t) dealt_[i].push_back(all[next++]);
}

void LatentData::standardise_rewards() {
  std::vector<double> all, squashed;
  for (const std::size_t i : data_.train()) {
    for (const replay::RolloutStep& step : data_.episodes()[i].actions) {
      all.push_back(static_cast<double>(step.reward));
      squashed.push_back(static_cast<double>(rewards_.squashed(step.reward)));
    }
  }
  double squares = 0;
  const double middle = mean(squashed);
  for (const double reward : squashed) squares += (reward - middle) * (reward - middle);
  rewards_.mean = static_cast<float>(middle);
  rewards_.sd = static_cast<float>(std::max(std::sqrt(squares / static_cast<double>(all.size())), 1e-6));
  rewards_.low = static_cast<float>(quantile(all, kRewardTail));
  rewards_.high = static_cast<float>(quantile(all, 1 - kRewardTail));
}

void LatentData::encode(const nn::Weights& encoder) {
  const std::size_t latent = config_.dynamics.latent;
  const nn::LatentStatistics raw{std::vector<float>(latent, 0.0f), std::vector<float>(latent, 1.0f)};
  encode(encoder, raw);
  std::vector<double> sum(latent, 0), squares(latent, 0);
  double count = 0;
  for (const std::size_t i : data_.train()) {
    const std::vector<float>& held = latents_[i];
    for (std::size_t k = 0; k < held.size(); ++k) {
      sum[k % latent] += static_cast<double>(held[k]);
      squares[k % latent] += static_cast<double>(held[k]) * static_cast<double>(held[k]);
    }
    const std::size_t places = held.size() / latent;
    count += static_cast<double>(places);
  }
  nn::LatentStatistics frozen;
  for (std::size_t d = 0; d < latent; ++d) {
    const double middle = sum[d] / count;
    frozen.mean.push_back(static_cast<float>(middle));
    frozen.sd.push_back(std::max(
        static_cast<float>(std::sqrt(std::max(squares[d] / count - middle * middle, 0.0))), kLeastDeviation));
  }
  encode(encoder, frozen);
}

void LatentData::encode(const nn::Weights& encoder, const nn::LatentStatistics& statistics) {
  statistics_ = statistics;
  nn::Encoder encode_with(config_, encoder, statistics, compute_);
  latents_.clear();
  noise_.clear();
  for (std::size_t i = 0; i < data_.episodes().size(); ++i) {
    const WorldEpisode& episode = data_.episodes()[i];
    std::vector<float>& latents = latents_.emplace_back();
    if (work_.has(i)) {
      const auto observations = data_.observations(i);
      std::vector<const env::Observation*> all;
      for (const env::Observation& observation : observations) all.push_back(&observation);
      latents = encode_with.encode(all);
    } else {
      latents.assign(episode.states.size() * config_.dynamics.latent, 0.0f);
    }
    Rng rng(options_.seed, "target noise " + std::to_string(episode.sequence));
    std::vector<float>& noise = noise_.emplace_back(episode.length() * std::size_t{config_.dynamics.latent});
    for (float& value : noise) value = static_cast<float>(options_.target_noise * rng.normal());
  }
  for (std::vector<float>& latents : latents_) work_.add_up(latents);
}

std::span<const float> LatentData::latent(std::size_t episode, std::uint32_t t) const {
  const std::size_t size = config_.dynamics.latent;
  return {latents_[episode].data() + t * size, size};
}

LatentBatch LatentData::draw(std::span<const std::size_t> from, Rng& rng) const {
  std::vector<std::uint32_t> lengths;
  for (const std::size_t i : from) lengths.push_back(data_.episodes()[i].length());
  return fill(replay::draw_sequences(lengths, options_.time, options_.lanes, options_.packed, rng), from,
              Use::fitting);
}

LatentBatch LatentData::lanes_of(std::span<const std::size_t> episodes, std::uint32_t time) const {
  replay::SequenceBatch places;
  places.time = time;
  places.lanes = static_cast<std::uint32_t>(episodes.size());
  places.valid.assign(std::size_t{time} * places.lanes, 0.0f);
  places.starts.assign(places.valid.size(), 0.0f);
  for (std::uint32_t lane = 0; lane < places.lanes; ++lane) {
    const std::uint32_t length = std::min(data_.episodes()[episodes[lane]].length(), time);
    places.places.push_back({lane, 0, lane, length});
    places.starts[places.at(0, lane)] = 1;
    for (std::uint32_t t = 0; t < length; ++t) places.valid[places.at(t, lane)] = 1;
  }
  return fill(places, episodes, Use::evaluation);
}

LatentBatch LatentData::fill(const replay::SequenceBatch& places, std::span<const std::size_t> from,
                             Use use) const {
  const std::size_t latent = config_.dynamics.latent, rules = config_.dynamics.rules;
  const std::size_t rows = places.valid.size();
  std::vector<float> z(rows * latent, 0.0f), next(rows * latent, 0.0f), reward(rows, 0.0f), ends(rows, 0.0f);
  std::vector<float> legal(rows * rules, 0.0f);
  std::vector<std::int64_t> rule(rows, 0), location(rows, 0), bins(rows * rules, 0);
  for (const replay::SequencePlace& place : places.places) {
    const std::size_t index = from[place.episode];
    const WorldEpisode& episode = data_.episodes()[index];
    for (std::uint32_t t = 0; t < place.length; ++t) {
      const std::size_t row = places.at(place.time + t, place.lane);
      const replay::RolloutStep& action = episode.actions[t];
      const bool fitting = use == Use::fitting;
      const Source source = fitting && !dealt_.empty() ? dealt_[index][t] : Source{index, t};
      const WorldEpisode& told = data_.episodes()[source.episode];
      std::ranges::copy(this->latent(index, t), z.begin() + static_cast<std::ptrdiff_t>(row * latent));
      const auto after = this->latent(source.episode, source.step + 1);
      for (std::size_t d = 0; d < latent; ++d)
        next[row * latent + d] = after[d] + (fitting ? noise_[index][t * latent + d] : 0.0f);
      rule[row] = data_.row_of(action.rule);
      location[row] = std::min<std::int64_t>(action.location, config_.locations - 1);
      reward[row] = (rewards_.squashed(told.actions[source.step].reward) - rewards_.mean) / rewards_.sd;
      ends[row] = told.ends(source.step) ? 1.0f : 0.0f;
      for (std::size_t x = 0; x < rules; ++x) {
        const std::uint16_t count = told.states[source.step + 1].counts[data_.rules()[x]];
        if (count == 0) continue;
        legal[row * rules + x] = 1;
        bins[row * rules + x] = nn::count_bin(count, config_.dynamics.count_bins);
      }
    }
  }
  const std::int64_t time = places.time, lanes = places.lanes;
  const auto width = static_cast<std::int64_t>(latent), columns = static_cast<std::int64_t>(rules);
  const auto filled = [&](const auto& values, at::IntArrayRef shape) {
    return nn::training::copied(values, shape, device_);
  };
  return {filled(z, {time, lanes, width}),
          filled(rule, {time, lanes}),
          filled(location, {time, lanes}),
          filled(places.starts, {time, lanes}),
          {filled(places.valid, {time, lanes}), filled(next, {time, lanes, width}),
           filled(reward, {time, lanes}), filled(ends, {time, lanes}), filled(legal, {time, lanes, columns}),
           filled(bins, {time, lanes, columns})}};
}

}
