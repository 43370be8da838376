#pragma once

#include <span>

#include "learner/controller/controller_ppo.h"
#include "learner/job/update_sharing.h"

namespace regraft::learner {

/// A controller that several learners train: all have the same config, options and seed.
class ControllerTrainee : public Trainee {
 public:
  /// `ppo` outlives it.
  explicit ControllerTrainee(ControllerPpo& ppo) : ppo_(ppo) {}
  void share_with(std::shared_ptr<wire::Group> group) override;
  void restore(std::span<const std::byte> state) override;
  void update(std::span<const std::byte> data) override;
  std::vector<float> weights() const override;

 private:
  ControllerPpo& ppo_;
};

/// For update(): ControllerPpo::update() of these, after ControllerPpo::anneal() of this share.
std::vector<std::byte> encode_controller_update(double share, std::span<const replay::DreamSegment> segments);

}  // namespace regraft::learner
