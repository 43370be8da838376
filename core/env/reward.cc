#include "core/env/reward.h"

#include <array>
#include <optional>
#include <string>

#include "core/base/text.h"
#include "core/env/env_error.h"

namespace regraft::env {
namespace {

double relative_gain(const cost::Cost& from, const cost::Cost& to, const cost::Cost& initial) {
  // A graph that costs nothing cannot improve.
  return initial.latency_us > 0 ? (from.latency_us - to.latency_us) / initial.latency_us : 0.0;
}

class IncrementalReward : public Reward {
 public:
  void reset() override {}
  double pay(const RewardInput& input) override {
    return relative_gain(input.before, input.after, input.initial);
  }
  std::unique_ptr<Reward> clone() const override { return std::make_unique<IncrementalReward>(*this); }
};

class TerminalReward : public Reward {
 public:
  void reset() override {}
  double pay(const RewardInput& input) override {
    return input.terminated ? relative_gain(input.initial, input.after, input.initial) : 0.0;
  }
  std::unique_ptr<Reward> clone() const override { return std::make_unique<TerminalReward>(*this); }
};

class BestReward : public Reward {
 public:
  void reset() override { least_.reset(); }
  double pay(const RewardInput& input) override {
    const cost::Cost least = least_.value_or(input.initial);
    least_ = input.after.latency_us < least.latency_us ? input.after : least;
    return relative_gain(least, *least_, input.initial);
  }
  std::unique_ptr<Reward> clone() const override { return std::make_unique<BestReward>(*this); }

 private:
  std::optional<cost::Cost> least_;  // since the reset
};

template <typename Kind>
std::unique_ptr<Reward> make() {
  return std::make_unique<Kind>();
}

struct Scheme {
  const char* name;
  std::unique_ptr<Reward> (*make)();
};

// In the order of RewardKind.
constexpr std::array<Scheme, 3> kSchemes{{{"incremental", make<IncrementalReward>},
                                          {"terminal", make<TerminalReward>},
                                          {"best", make<BestReward>}}};

const Scheme& scheme(RewardKind kind) {
  return kSchemes.at(static_cast<std::size_t>(kind));
}

}  // namespace

const std::vector<std::string>& reward_kind_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Scheme& known : kSchemes) all.emplace_back(known.name);
    return all;
  }();
  return names;
}

RewardKind reward_kind_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kSchemes.size(); ++i)
    if (kSchemes[i].name == name) return static_cast<RewardKind>(i);
  throw EnvError("no reward is called '" + std::string(name) + "'", "reward",
                 "use one of " + join(reward_kind_names(), ", "));
}

std::string_view reward_kind_name(RewardKind kind) {
  return scheme(kind).name;
}

std::unique_ptr<Reward> make_reward(RewardKind kind) {
  return scheme(kind).make();
}

}  // namespace regraft::env
