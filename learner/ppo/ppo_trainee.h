#pragma once

#include <optional>
#include <span>

#include "learner/job/update_sharing.h"
#include "learner/ppo/ppo.h"

namespace regraft::learner {

/// A policy that several learners train: all have the same config, options and seed.
class PpoTrainee : public Trainee {
 public:
  /// `ppo` outlives it.
  explicit PpoTrainee(Ppo& ppo) : ppo_(ppo) {}
  void share_with(std::shared_ptr<wire::Group> group) override;
  void restore(std::span<const std::byte> state) override;
  void update(std::span<const std::byte> data) override;
  std::vector<float> weights() const override;

 private:
  Ppo& ppo_;
};

/// For update(): Ppo::update() of these, after Ppo::anneal() of this share, if there is one.
std::vector<std::byte> encode_ppo_update(std::optional<double> annealed,
                                         std::span<const replay::Segment> segments,
                                         std::span<const replay::Segment> best);

}  // namespace regraft::learner
