#include "core/env/reward.h"

#include <string>

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

}  // namespace

RewardKind reward_kind_from_name(std::string_view name) {
  if (name == "incremental") return RewardKind::incremental;
  if (name == "terminal") return RewardKind::terminal;
  throw EnvError("no reward is called '" + std::string(name) + "'", "reward", "use incremental or terminal");
}

std::string_view reward_kind_name(RewardKind kind) {
  return kind == RewardKind::incremental ? "incremental" : "terminal";
}

std::unique_ptr<Reward> make_reward(RewardKind kind) {
  if (kind == RewardKind::incremental) return std::make_unique<IncrementalReward>();
  return std::make_unique<TerminalReward>();
}

}  // namespace regraft::env
