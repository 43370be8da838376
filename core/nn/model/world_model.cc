#include "core/nn/model/world_model.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace regraft::nn {
namespace {

void require(bool holds, const std::string& problem, const std::string& where) {
  if (!holds) throw NnError(problem, where, "the data is damaged, or of another version");
}

bool finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

void check_part(const Weights& weights, const std::vector<TensorSpec>& layout, const char* part,
                const std::string& where) {
  require(weights.tensors == layout && weights.values.size() == float_count(layout),
          std::string("the weights of its ") + part + " do not fit its config", where);
  require(finite(weights.values), std::string("a weight of its ") + part + " is not finite", where);
}

void check_statistics(const WorldModel& world, const std::string& where) {
  const std::size_t latent = world.config.dynamics.latent;
  require(world.latents.mean.size() == latent && world.latents.sd.size() == latent,
          "its latent statistics do not fit its config", where);
  require(finite(world.latents.mean) && finite(world.latents.sd) &&
              std::all_of(world.latents.sd.begin(), world.latents.sd.end(), [](float sd) { return sd > 0; }),
          "a latent statistic is none", where);
  const RewardStatistics& rewards = world.rewards;
  const float figures[] = {rewards.mean, rewards.sd, rewards.low, rewards.high, rewards.unit};
  require(finite(figures) && rewards.sd > 0 && rewards.low <= rewards.high && rewards.unit >= 0,
          "a reward statistic is none", where);
}

void check_numbering(const WorldModel& world, const std::string& where) {
  const std::size_t rules = world.config.dynamics.rules;
  require(world.rules.size() == rules && std::is_sorted(world.rules.begin(), world.rules.end()) &&
              std::adjacent_find(world.rules.begin(), world.rules.end()) == world.rules.end() &&
              world.rules.back() == world.rule_count,
          "its rules are not numbered as they must be", where);
  require(world.op_kinds.size() <= world.config.encoder.node_kinds, "more op kinds than embedding rows",
          where);
  require(world.starts.size() == world.model_names.size(), "a model has no start", where);
  for (const WorldStart& start : world.starts)
    require(start.latent.size() == world.config.dynamics.latent && finite(start.latent) &&
                start.counts.size() == rules && start.counts.back() == 1,
            "the start of " + start.model + " does not fit its config", where);
}

}  // namespace

void check(const WorldModelConfig& config) {
  check(config.encoder);
  check(config.dynamics);
  require(config.locations >= 1 && config.locations <= 65535, "the number of locations is out of range",
          "world model config");
  require(config.reward_hidden <= 4096, "the width of the reward network is out of range",
          "world model config");
}

std::vector<TensorSpec> encoder_layout(const WorldModelConfig& config) {
  std::vector<TensorSpec> layout = weight_layout(config.encoder);
  append_tensor(layout, "latent.weight", {config.encoder.width, config.dynamics.latent});
  append_tensor(layout, "latent.bias", {config.dynamics.latent});
  return layout;
}

std::vector<TensorSpec> dynamics_layout(const WorldModelConfig& config) {
  std::vector<TensorSpec> layout = weight_layout(config.dynamics);
  append_tensor(layout, "action.xfer", {config.dynamics.rules, config.dynamics.action});
  append_tensor(layout, "action.location", {config.locations, config.dynamics.action});
  return layout;
}

std::vector<TensorSpec> reward_layout(const WorldModelConfig& config) {
  std::vector<TensorSpec> layout;
  if (config.reward_hidden == 0) return layout;
  const std::int64_t inputs = std::int64_t{config.dynamics.latent} + config.dynamics.hidden;
  append_tensor(layout, "reward.weight1", {inputs, config.reward_hidden});
  append_tensor(layout, "reward.bias1", {config.reward_hidden});
  append_tensor(layout, "reward.weight2", {config.reward_hidden, 1});
  append_tensor(layout, "reward.bias2", {1});
  return layout;
}

float RewardStatistics::squashed(float reward) const {
  return unit == 0 ? reward : std::copysign(std::log1p(std::abs(reward) / unit), reward);
}

float RewardStatistics::reward_of(float said) const {
  const float held = mean + sd * said;
  return unit == 0 ? held : std::copysign(unit * std::expm1(std::abs(held)), held);
}

Hash128 WorldModel::encoder_version() const {
  Hasher hasher;
  hasher.add(encoder.hash());
  hasher.add(hash_bytes(std::as_bytes(std::span(latents.mean))));
  hasher.add(hash_bytes(std::as_bytes(std::span(latents.sd))));
  return hasher.finish();
}

Hash128 WorldModel::dynamics_version() const {
  Hasher hasher;
  hasher.add(encoder_version());
  hasher.add(dynamics.hash());
  return hasher.finish();
}

Hash128 WorldModel::version() const {
  Hasher hasher;
  hasher.add(dynamics_version());
  hasher.add(reward.hash());
  const float figures[] = {rewards.mean, rewards.sd, rewards.low, rewards.high};
  hasher.add(hash_bytes(std::as_bytes(std::span(figures))));
  if (rewards.unit != 0) hasher.add(std::bit_cast<std::uint32_t>(rewards.unit));  // older worlds have none
  hasher.add(hash_text(rule_set_hash));
  hasher.add(hash_bytes(std::as_bytes(std::span(rules))));
  hasher.add(horizon);
  if (action_mode == env::ActionMode::all_sites) hasher.add(std::uint32_t{1});
  for (const WorldStart& start : starts) {
    hasher.add(hash_text(start.model));
    hasher.add(hash_bytes(std::as_bytes(std::span(start.latent))));
    hasher.add(hash_bytes(std::as_bytes(std::span(start.counts))));
  }
  return hasher.finish();
}

void check(const WorldModel& world, const std::string& where) {
  if (world.observation_schema != env::kObservationSchema)
    throw NnError("it was fitted on observation schema " + std::to_string(world.observation_schema) +
                      ", this program makes schema " + std::to_string(env::kObservationSchema),
                  where, "fit it again with this version");
  check(world.config);
  check_part(world.encoder, encoder_layout(world.config), "encoder", where);
  check_part(world.dynamics, dynamics_layout(world.config), "dynamics", where);
  check_part(world.reward, reward_layout(world.config), "reward network", where);
  check_statistics(world, where);
  check_numbering(world, where);
  if (world.dynamics_of != world.encoder_version())
    throw MixedVersions("its dynamics were fitted on latents of another encoder", where,
                        "publish the parts of one fit together");
  if (world.config.reward_hidden > 0 && world.reward_of != world.dynamics_version())
    throw MixedVersions("its reward network was fitted on another dynamics model", where,
                        "publish the parts of one fit together");
}

void require_fit(const WorldModel& world, const std::string& rule_set_hash,
                 std::span<const std::string> op_kinds) {
  if (world.rule_set_hash != rule_set_hash)
    throw NnError("the world model was fitted on another rule set (" + world.rule_set_hash + ", here " +
                      rule_set_hash + ")",
                  "world model", "use the rules it was fitted on, or fit another one");
  if (!std::ranges::equal(world.op_kinds, op_kinds))
    throw NnError("the world model was fitted with another op table", "world model",
                  "fit it again with this version");
}

std::vector<std::uint16_t> world_counts(const WorldModel& world, const env::Observation& observation) {
  if (observation.location_counts.size() != std::size_t{world.rule_count} + 1)
    throw NnError("the observation is of another rule set", "world model", "");
  if (observation.action_mode != world.action_mode) {
    const std::string mode(enum_name(world.action_mode));
    throw NnError("was fitted with actions of the mode " + mode + ", unlike this observation", "world model",
                  "use workload.action_mode=" + mode);
  }
  std::vector<std::uint16_t> counts;
  counts.reserve(world.rules.size());
  for (const std::uint16_t rule : world.rules) counts.push_back(observation.location_counts[rule]);
  return counts;
}

}
