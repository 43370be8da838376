#include "core/env/reward.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/hash.h"
#include "core/env/env_error.h"
#include "core/graph/order.h"

namespace regraft::env {
namespace {

double relative_gain(const cost::Cost& from, const cost::Cost& to, const cost::Cost& initial) {
  // A graph that costs nothing cannot improve.
  return initial.latency_us > 0 ? (from.latency_us - to.latency_us) / initial.latency_us : 0.0;
}

class IncrementalReward : public Reward {
 public:
  void reset(const graph::Graph&) override {}
  double pay(const RewardInput& input) override {
    return relative_gain(input.before, input.after, input.initial);
  }
  std::unique_ptr<Reward> clone() const override { return std::make_unique<IncrementalReward>(*this); }
};

class TerminalReward : public Reward {
 public:
  void reset(const graph::Graph&) override {}
  double pay(const RewardInput& input) override {
    return input.terminated ? relative_gain(input.initial, input.after, input.initial) : 0.0;
  }
  std::unique_ptr<Reward> clone() const override { return std::make_unique<TerminalReward>(*this); }
};

class BestReward : public Reward {
 public:
  void reset(const graph::Graph&) override { least_.reset(); }
  double pay(const RewardInput& input) override {
    const cost::Cost least = least_.value_or(input.initial);
    least_ = input.after.latency_us < least.latency_us ? input.after : least;
    return relative_gain(least, *least_, input.initial);
  }
  std::unique_ptr<Reward> clone() const override { return std::make_unique<BestReward>(*this); }

 private:
  std::optional<cost::Cost> least_;  // since the reset
};

class DetailedReward : public Reward {
 public:
  explicit DetailedReward(const RewardWeights& weights) : weights_(weights) {
    const std::array all{weights.latency, weights.flops, weights.memory, weights.launches};
    sum_ = std::accumulate(all.begin(), all.end(), 0.0);
    if (*std::min_element(all.begin(), all.end()) < 0 || !(sum_ > 0))
      throw EnvError("the weights of the detailed reward are out of range", "reward",
                     "give none below 0 and one above");
  }
  void reset(const graph::Graph&) override {}
  double pay(const RewardInput& input) override {
    double paid = 0;
    const auto add = [&](double weight, double cost::Cost::*part) {
      const double initial = input.initial.*part;
      if (initial > 0) paid += weight * (input.before.*part - input.after.*part) / initial;
    };
    add(weights_.latency, &cost::Cost::latency_us);
    add(weights_.flops, &cost::Cost::flops);
    add(weights_.memory, &cost::Cost::peak_memory_bytes);
    add(weights_.launches, &cost::Cost::launches);
    return paid / sum_;
  }
  std::unique_ptr<Reward> clone() const override { return std::make_unique<DetailedReward>(*this); }

 private:
  RewardWeights weights_;
  double sum_ = 0;
};

class MeasuredReward : public Reward {
 public:
  MeasuredReward(LatencyMeter* meter, std::uint32_t every) : meter_(meter), every_(every) {
    if (meter == nullptr)
      throw EnvError("the measured reward has nothing to measure with", "reward",
                     "give a latency meter, or use another reward");
  }
  void reset(const graph::Graph& start) override {
    last_ = graph::structural_hash(start);
    last_us_ = initial_us_ = latency_us(start, last_);
  }
  double pay(const RewardInput& input) override {
    const bool due = every_ > 0 && input.step % every_ == 0;
    if (!due && !input.terminated) return 0;
    const Hash128 hash = graph::structural_hash(input.graph);
    if (hash == last_) return 0;
    const double now_us = latency_us(input.graph, hash);
    const double gained = initial_us_ > 0 ? (last_us_ - now_us) / initial_us_ : 0;
    last_ = hash;
    last_us_ = now_us;
    return gained;
  }
  std::unique_ptr<Reward> clone() const override { return std::make_unique<MeasuredReward>(*this); }

 private:
  /// The median of all measurements so far. Real latency is dear, so there are few; but one alone would stay
  /// wrong for all of the training, and the initial graph's is in every reward.
  double latency_us(const graph::Graph& graph, const Hash128& hash) {
    if (measured_us_.size() >= kMostGraphs && !measured_us_.contains(hash)) measured_us_.clear();
    std::vector<double>& sorted_us = measured_us_[hash];
    if (sorted_us.size() < kMostMeasurements) {
      const double now_us = meter_->latency_us(graph);
      sorted_us.insert(std::ranges::upper_bound(sorted_us, now_us), now_us);
    }
    const std::size_t count = sorted_us.size();
    return (sorted_us[(count - 1) / 2] + sorted_us[count / 2]) / 2;
  }

  static constexpr std::size_t kMostGraphs = 1 << 16;

  LatencyMeter* meter_;
  std::uint32_t every_;
  Hash128 last_;  // the graph that was last measured in this episode
  double initial_us_ = 0, last_us_ = 0;
  std::unordered_map<Hash128, std::vector<double>> measured_us_;  // ascending
};

template <typename Kind>
std::unique_ptr<Reward> make(const RewardSettings&) {
  return std::make_unique<Kind>();
}

std::unique_ptr<Reward> make_detailed(const RewardSettings& settings) {
  return std::make_unique<DetailedReward>(settings.weights);
}

std::unique_ptr<Reward> make_measured(const RewardSettings& settings) {
  return std::make_unique<MeasuredReward>(settings.meter, settings.measure_every);
}

using Make = std::unique_ptr<Reward>(const RewardSettings&);

// In the order of RewardKind.
constexpr std::array<Make*, 5> kMakers{make<IncrementalReward>, make<TerminalReward>, make<BestReward>,
                                       make_detailed, make_measured};

}  // namespace

std::unique_ptr<Reward> make_reward(RewardKind kind, const RewardSettings& settings) {
  return kMakers.at(static_cast<std::size_t>(kind))(settings);
}

}
