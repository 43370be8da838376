#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/env/observation.h"
#include "core/nn/model/config.h"
#include "core/nn/model/engine.h"
#include "core/nn/model/weights.h"
#include "learner/job/replica.h"
#include "learner/ppo/ppo_metrics.h"
#include "learner/ppo/ppo_options.h"
#include "learner/ppo/ppo_targets.h"
#include "replay/rollout/trajectory.h"

namespace regraft::nn::training {
class TrainerGraphs;
}

namespace regraft::learner {

/// Steps of segments as PPO trains on them. Rows point into the segments, which must outlive it.
struct PpoRows {
  std::vector<const env::Observation*> observations;
  std::vector<std::size_t> graphs;       // their numbers in PpoBatch::loaded
  std::vector<std::int32_t> candidates;  // chosen rows
  std::vector<std::uint32_t> models;
  StepTargets targets;  // from the weights at arrival

  std::size_t size() const { return observations.size(); }
};

/// One update.
struct PpoBatch : PpoRows {
  std::shared_ptr<const nn::training::TrainerGraphs> loaded;  // all graphs, once for all epochs
  PpoRows imitated;    // steps of the best episodes that did better than the values expect
  PpoMetrics arrival;  // the figures known before the update
};

/// The learner's network, optimiser and update. One thread; on the CPU with one torch thread two runs over
/// the same segments give the same bits. Errors are nn::NnError: an observation that does not fit, a loss
/// that is not finite (all is then as it was before that update).
class Ppo : public Replica {
 public:
  /// `device`: auto, cpu or cuda. `seed` keys the order of minibatches. `engine` as for nn::Policy.
  Ppo(const nn::NetworkConfig& network, const nn::Weights& weights, const env::RuleFeatureTable& rules,
      const PpoOptions& options, const std::string& device, std::uint64_t seed,
      nn::Engine engine = nn::Engine::automatic);
  ~Ppo() override;
  Ppo(Ppo&&) noexcept;
  Ppo& operator=(Ppo&&) noexcept;
  void share_with(std::shared_ptr<wire::Group> group) override;
  /// `data` is what encode_ppo_update() made (ppo_update.h).
  void follow(std::span<const std::byte> data) override;

  /// prepare(), then train(). `segments` must not be empty.
  PpoMetrics update(std::span<const replay::Segment> segments, std::span<const replay::Segment> best = {});

  /// Recomputes pi_prox and the values with the current weights; corrections, advantages and targets of whole
  /// episodes, whose segments follow each other (replay::goes_on()). Only what does not terminate at the end
  /// of its last segment is bootstrapped. `best`: whole, terminated episodes to imitate, whatever weights
  /// acted them. Where each model has its own scale, those of models without a step in `segments` wait for an
  /// update that has some.
  PpoBatch prepare(std::span<const replay::Segment> segments,
                   std::span<const replay::Segment> best = {}) const;
  /// All epochs over the batch; afterwards version() is one higher.
  PpoMetrics train(const PpoBatch& batch);

  /// From now on learning rate and entropy bonus are this share (0 to 1) of the options'.
  void anneal(double share);

  /// The version of the weights: 1 + updates, as on the wire, where 0 means none.
  std::uint64_t version() const;
  nn::Weights weights() const;
  std::vector<float> values() const override { return weights().values; }

  /// Weights, optimiser state, random stream and version. A learner that is restored goes on bit by bit as
  /// the saved one would have (CPU, one torch thread).
  std::vector<std::byte> save() const;
  /// Throws replay::ReplayError or nn::NnError on damaged bytes or another network; this object is then
  /// unchanged.
  void restore(std::span<const std::byte> bytes) override;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}
