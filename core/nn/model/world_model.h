#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/env/observation.h"
#include "core/nn/model/config.h"
#include "core/nn/model/dynamics.h"
#include "core/nn/model/nn_error.h"
#include "core/nn/model/weights.h"

namespace regraft::nn {

/// The sizes of a world model: the graph network that encodes an observation as a latent z, the recurrent
/// model of z, the embedding of an action, and a separate reward network.
struct WorldModelConfig {
  NetworkConfig encoder;
  DynamicsConfig dynamics;
  std::uint32_t locations = 200;    // rows of the location embedding, [1, 65535]; further ones share the last
  std::uint32_t reward_hidden = 0;  // of the separate reward network, [0, 4096]; 0: there is none

  bool operator==(const WorldModelConfig&) const = default;
};

/// Throws NnError when a value is out of its range.
void check(const WorldModelConfig& config);

/// Layouts of the three parts.
///   encoder: weight_layout(NetworkConfig), of which the pointer and value heads stand idle, then
///   latent.weight
///            [width, latent], latent.bias: raw z = u W + b, u the graph embedding after the last step.
///   dynamics: weight_layout(DynamicsConfig), then action.xfer [rules, action], action.location [locations,
///            action]: a = action.xfer[x] + location[min(l, locations - 1)].
///   reward:  reward.weight1 [latent + hidden, n], reward.bias1, reward.weight2 [n, 1], reward.bias2, on
///            [z, h'] with a relu between, h' the hidden state after the step; no tensors without it.
std::vector<TensorSpec> encoder_layout(const WorldModelConfig& config);
std::vector<TensorSpec> dynamics_layout(const WorldModelConfig& config);
std::vector<TensorSpec> reward_layout(const WorldModelConfig& config);

/// z = (raw z - mean) / sd: frozen with the encoder. [latent] each.
struct LatentStatistics {
  std::vector<float> mean, sd;

  bool operator==(const LatentStatistics&) const = default;
};

/// A reward head says (squashed(reward) - mean) / sd; dreamt rewards are clipped to [low, high], quantiles of
/// those that were observed. Squashing keeps the sign and takes ln(1 + |reward| / unit), as symlog does
/// (Hafner et al. 2023): steps that ruin a graph cost a hundred times what good ones gain, and a squared
/// error would see them alone. unit 0: rewards as they are.
struct RewardStatistics {
  float mean = 0, sd = 1;
  float low = 0, high = 0;
  float unit = 0;

  float squashed(float reward) const;
  /// The reward of what a head says, not clipped.
  float reward_of(float said) const;

  bool operator==(const RewardStatistics&) const = default;
};

/// Where an episode on one model begins, for dreams that touch no real environment.
struct WorldStart {
  std::string model;
  std::vector<float> latent;          // [latent], standardised
  std::vector<std::uint16_t> counts;  // [rules] location counts; NO-OP's is 1

  bool operator==(const WorldStart&) const = default;
};

/// A fitted world model with all that belongs to it. Bound to its rule set, op table and observation schema.
/// Its rules are numbered densely: those that were legal anywhere in its data, ascending, then NO-OP.
struct WorldModel {
  WorldModelConfig config;
  std::uint32_t observation_schema = env::kObservationSchema;
  std::uint32_t horizon = 0;         // steps of an episode at most, in its data
  std::uint32_t location_limit = 0;  // of its environments
  env::ActionMode action_mode = env::ActionMode::one_site;
  std::string reward_kind = "incremental";  // what its rewards are (core/env/reward.h)
  std::vector<std::string> op_kinds;        // names of the embedding rows, in order
  std::string rule_set_hash;
  std::uint32_t rule_count = 0;          // of that rule set; NO-OP's number there
  std::vector<std::uint16_t> rules;      // [dynamics.rules] rule number of each row; the last is NO-OP's
  std::vector<std::string> model_names;  // it was fitted on
  std::string training_record = "{}";    // a JSON object, free in form
  Weights encoder;
  LatentStatistics latents;
  Weights dynamics;
  Hash128 dynamics_of;  // encoder_version() of the latents it was fitted on
  Weights reward;       // empty where reward_hidden is 0
  Hash128 reward_of;    // dynamics_version() of the hidden states it was fitted on
  RewardStatistics rewards;
  std::vector<WorldStart> starts;  // one a model, in the order of model_names

  /// What stored latents depend on: encoder and its statistics.
  Hash128 encoder_version() const;
  /// A hash of the recurrent model's weights and encoder_version().
  Hash128 dynamics_version() const;
  /// A hash of all that a dream depends on.
  Hash128 version() const;

  bool operator==(const WorldModel&) const = default;
};

/// Parts that were not made for each other: to be refused, and counted by whoever receives it.
class MixedVersions : public NnError {
 public:
  using NnError::NnError;
};

/// Throws NnError: sizes that do not fit the config, a value that is not finite, another observation schema;
/// MixedVersions where dynamics or reward network were fitted on another encoder or dynamics. `where` names
/// the source in messages.
void check(const WorldModel& world, const std::string& where);

/// Throws NnError where the model belongs to another rule set or op table.
void require_fit(const WorldModel& world, const std::string& rule_set_hash,
                 std::span<const std::string> op_kinds);

/// Location counts of an observation in the world's numbering of rules. Legal rules that the world never saw
/// are left out. Throws NnError where they are not those that the world was fitted to.
std::vector<std::uint16_t> world_counts(const WorldModel& world, const env::Observation& observation);

}
