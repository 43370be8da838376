#include "learner/ppo/target_tensors.h"

#include "core/nn/training/device_tensor.h"

namespace regraft::learner {

using nn::training::copied;

TargetTensors::Half::Half(const DecisionTargets& of, torch::Device device)
    : proximal(copied(of.proximal, device)),
      weights(copied(of.weights, device)),
      advantages(copied(of.advantages, device)),
      targets(copied(of.targets, device)) {}

TargetTensors::TargetTensors(const StepTargets& targets, torch::Device device)
    : device_(device),
      first_(targets.first, device),
      second_(targets.second, device),
      imitated_(targets.imitated),
      imitated_mask_(copied(imitated_, device).to(torch::kBool)) {}

MinibatchSize TargetTensors::size_of(std::span<const std::size_t> steps) const {
  MinibatchSize size;
  for (const std::size_t step : steps) ++(imitated_[step] != 0 ? size.imitated : size.steps);
  return size;
}

Decisions TargetTensors::first(Decisions said, std::span<const std::size_t> steps) const {
  return take(first_, std::move(said), steps);
}

Decisions TargetTensors::second(Decisions said, std::span<const std::size_t> steps) const {
  return take(second_, std::move(said), steps);
}

Decisions TargetTensors::take(const Half& half, Decisions said, std::span<const std::size_t> steps) const {
  const torch::Tensor rows = copied(std::vector<std::int64_t>(steps.begin(), steps.end()), device_);
  said.proximal = half.proximal.index_select(0, rows);
  said.weights = half.weights.index_select(0, rows);
  said.advantages = half.advantages.index_select(0, rows);
  said.targets = half.targets.index_select(0, rows);
  for (const std::size_t step : steps) said.imitated_count += imitated_[step];
  if (said.imitated_count > 0) said.imitated = imitated_mask_.index_select(0, rows);
  return said;
}

}
