#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "learner/ppo/ppo_options.h"

namespace regraft::learner {

// What PPO trains towards, from plain numbers: real episodes, dreamed ones, and policies of either head
// alike. A policy that decides in two halves (rule, then location) has two decisions a step, one that decides
// at once only the first. Maths: replay/rollout/advantage.h.

/// An episode, or what there is of it, as it was acted. One entry a step, all of one length.
struct ActedSteps {
  std::span<const float> rewards;
  std::span<const std::uint8_t> terminated;
  std::span<const std::uint8_t> second_halves;  // 1: the step has a second decision
  std::span<const float> first, second;         // log mu of what was decided
  float bootstrap_value = 0;  // V1 of the state that follows, unless the last step terminated
};

/// The same steps under the present weights, which are the proximal policy (PPO with one of its own: Hilton
/// et al. 2022): log pi_prox and values.
struct ProximalSteps {
  std::span<const float> first, second;        // log pi_prox of what was decided
  std::span<const float> values, rule_values;  // V1(s), V2(s, x)
};

/// One decision of each step; entries where a step has none are 0 and not trained on.
struct DecisionTargets {
  std::vector<float> proximal;    // log pi_prox
  std::vector<float> weights;     // min(ratio_limit, pi_prox / mu), or 1
  std::vector<float> advantages;  // not yet normalised
  std::vector<float> targets;     // of the value function

  std::size_t size() const { return proximal.size(); }
  void append(const DecisionTargets& more);
  void append(const DecisionTargets& from, std::size_t step);
};

struct StepTargets {
  std::vector<std::uint8_t> second_halves;
  std::vector<std::uint8_t> imitated;  // 1: of make_imitation_targets()
  DecisionTargets first, second;

  std::size_t size() const { return first.size(); }
  void append(const StepTargets& more);
  void append(const StepTargets& from, std::size_t step);
};

/// Advantages and targets by GAE or V-trace with their weights, by `options.correction`: one corrects, the
/// other does not, never both. Throws replay::ReplayError when lengths differ.
StepTargets make_targets(const ActedSteps& acted, const ProximalSteps& proximal, const PpoOptions& options);

/// What self-imitation (Oh et al. 2018) trains towards: the return R that followed a step can be had again,
/// the environment being deterministic. Advantages are max(0, R - V), for a second half against V2; weights
/// are 1. The values have no targets (0): they are to say what the policy gets, not what was found once. The
/// episode must have terminated.
StepTargets make_imitation_targets(const ActedSteps& acted, const ProximalSteps& proximal,
                                   const PpoOptions& options);

/// Advantages with mean 0 and deviation 1, both decisions of a step together: where no location matters, the
/// noise of the second decisions must not be blown up to the size of the first. `groups` [steps] keeps apart
/// what has scales of its own, such as models with much and with little to gain; empty: all are one. A
/// group's deviation counts as at least a tenth of that within all groups, so that one without anything left
/// to learn stays quiet. Returns what each group's advantages were divided by (group 0, where all are one).
using AdvantageScales = std::map<std::uint32_t, double>;
AdvantageScales normalise_advantages(StepTargets& targets, std::span<const std::uint32_t> groups = {});

/// Divides the advantages of imitated steps by the same, to at most kMostDeviations: a rare find must not
/// drown the rest of its minibatch. Those of a group without a scale become 0.
inline constexpr double kMostDeviations = 3;
void scale_imitated(StepTargets& targets, std::span<const std::uint32_t> groups,
                    const AdvantageScales& scales);

}
