#include "learner/world/world_metrics.h"

#include <algorithm>
#include <cstdio>

#include "core/base/rng.h"
#include "learner/world/dynamics_fit.h"

namespace regraft::learner {
namespace {

using nn::training::DynamicsOutput;
using torch::Tensor;

struct Confusion {
  double hits = 0, false_alarms = 0, misses = 0;

  /// `said` and `truth` [lanes, rules] of 0 and 1, `counted` [lanes, 1].
  void add(const Tensor& said, const Tensor& truth, const Tensor& counted) {
    hits += (said * truth * counted).sum().item<double>();
    false_alarms += (said * (1 - truth) * counted).sum().item<double>();
    misses += ((1 - said) * truth * counted).sum().item<double>();
  }
  double f1() const {
    const double all = 2 * hits + false_alarms + misses;
    return all == 0 ? 1 : 2 * hits / all;
  }
};

Tensor legal_of(const DynamicsOutput& output) {
  return (output.rules > 0).to(torch::kFloat32);
}

/// Masks of the states before the first step, without NO-OP, and what is legal in most fitted states.
Tensor start_masks(const LatentData& data, std::span<const std::size_t> episodes) {
  const auto& rules = data.data().rules();
  Tensor masks =
      torch::zeros({static_cast<std::int64_t>(episodes.size()), static_cast<std::int64_t>(rules.size()) - 1});
  auto at = masks.accessor<float, 2>();
  for (std::size_t i = 0; i < episodes.size(); ++i)
    for (std::size_t x = 0; x + 1 < rules.size(); ++x) {
      const bool legal = data.data().episodes()[episodes[i]].states.front().counts[rules[x]] > 0;
      at[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(x)] = legal ? 1.0f : 0.0f;
    }
  return masks;
}

Tensor usual_mask(const WorldData& data) {
  std::vector<float> legal(data.rules().size() - 1, 0.0f);
  float states = 0;
  for (const std::size_t i : data.train())
    for (std::size_t t = 1; t < data.episodes()[i].states.size(); ++t, ++states)
      for (std::size_t x = 0; x < legal.size(); ++x)
        legal[x] += data.episodes()[i].states[t].counts[data.rules()[x]] > 0 ? 1.0f : 0.0f;
  for (float& count : legal) count = count > states / 2 ? 1.0f : 0.0f;
  return torch::tensor(legal).unsqueeze(0);
}

/// In units of the reward, of what heads say in deviations.
double squared_error(const nn::RewardStatistics& rewards, const Tensor& said, const Tensor& truth,
                     const Tensor& counted) {
  const Tensor a = said.cpu().contiguous(), b = truth.cpu().contiguous(), on = counted.cpu().contiguous();
  double sum = 0;
  for (std::int64_t i = 0; i < on.numel(); ++i) {
    if (on.data_ptr<float>()[i] == 0) continue;
    const float error = rewards.reward_of(a.data_ptr<float>()[i]) - rewards.reward_of(b.data_ptr<float>()[i]);
    sum += static_cast<double>(error) * static_cast<double>(error);
  }
  return sum;
}

/// What a head says that always tells the mean reward of the fitted steps.
float mean_reward(const LatentData& data) {
  double sum = 0, steps = 0;
  for (const std::size_t i : data.data().train()) {
    for (const replay::RolloutStep& step : data.data().episodes()[i].actions)
      sum += static_cast<double>(step.reward);
    steps += static_cast<double>(data.data().episodes()[i].length());
  }
  const nn::RewardStatistics& rewards = data.rewards();
  return (rewards.squashed(static_cast<float>(sum / std::max(steps, 1.0))) - rewards.mean) / rewards.sd;
}

}  // namespace

std::vector<DepthFigures> open_loop(const DynamicsFit& fit, std::uint32_t depths, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  const LatentData& data = fit.data();
  const std::vector<std::size_t>& episodes = data.data().held_out();
  const LatentBatch batch = data.lanes_of(episodes, depths);
  const Tensor actions = fit.actions(batch.rule, batch.location);
  const Tensor start = start_masks(data, episodes).to(data.device());
  const Tensor usual = usual_mask(data.data()).to(data.device()).expand_as(start);
  const DynamicsOutput known = fit.model().unroll(batch.z, actions, batch.starts);
  auto state = fit.model().initial_state(batch.z.size(1));
  Tensor z = batch.z[0];
  Rng rng(seed, "open loop");
  const nn::RewardStatistics& rewards = data.rewards();
  const Tensor usual_reward = torch::full({batch.z.size(1)}, mean_reward(data));
  const std::int64_t columns = start.size(1);
  std::vector<DepthFigures> figures;
  for (std::uint32_t t = 0; t < depths; ++t) {
    const Tensor valid = batch.targets.valid[t];
    const Tensor on = (valid * (1 - batch.targets.terminal[t])).unsqueeze(1);
    const DynamicsOutput dreamt = fit.model().step(z, actions[t], state);
    z = nn::training::sample(dreamt, {}, rng);
    const Tensor truth = batch.targets.rules[t].narrow(1, 0, columns);
    Confusion open, given, repeated, common;
    open.add(legal_of(dreamt).narrow(1, 0, columns), truth, on);
    given.add((known.rules[t] > 0).to(torch::kFloat32).narrow(1, 0, columns), truth, on);
    repeated.add(start, truth, on);
    common.add(usual, truth, on);
    DepthFigures depth{.depth = t + 1};
    depth.masks = static_cast<std::uint64_t>(on.sum().item<double>());
    depth.rewards = static_cast<std::uint64_t>(valid.sum().item<double>());
    if (depth.rewards == 0) break;
    const double share = 1 / static_cast<double>(depth.rewards);
    depth.f1 = open.f1();
    depth.f1_known = given.f1();
    depth.f1_start = repeated.f1();
    depth.f1_usual = common.f1();
    depth.reward_error = share * squared_error(rewards, dreamt.reward, batch.targets.reward[t], valid);
    depth.reward_error_known =
        share * squared_error(rewards, known.reward[t], batch.targets.reward[t], valid);
    depth.reward_variance = share * squared_error(rewards, usual_reward, batch.targets.reward[t], valid);
    figures.push_back(depth);
  }
  return figures;
}

std::string to_csv(const std::vector<DepthFigures>& figures) {
  std::string text =
      "depth,masks,rewards,f1,f1_known,f1_start,f1_usual,reward_error,reward_error_known,reward_variance\n";
  for (const DepthFigures& f : figures) {
    char line[256];
    std::snprintf(line, sizeof line, "%u,%llu,%llu,%.5f,%.5f,%.5f,%.5f,%.6g,%.6g,%.6g\n", f.depth,
                  static_cast<unsigned long long>(f.masks), static_cast<unsigned long long>(f.rewards), f.f1,
                  f.f1_known, f.f1_start, f.f1_usual, f.reward_error, f.reward_error_known,
                  f.reward_variance);
    text += line;
  }
  return text;
}

}
