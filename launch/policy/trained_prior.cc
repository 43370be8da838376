#include "launch/policy/trained_prior.h"

#include <utility>

#include "launch/policy/controller_bundle.h"
#include "launch/policy/controller_prior.h"
#include "launch/policy/costed_in_training.h"
#include "launch/policy/policy_prior.h"

namespace regraft::launch {

TrainedPrior load_trained_prior(const std::filesystem::path& path, const rules::RuleSet& rules) {
  if (!is_bundle(path)) {
    const nn::PolicyFile policy = nn::load_policy(path);
    return {make_policy_prior(policy, rules), policy.limits, policy.network.action_mode,
            costed_in_training(policy), unseen_note(policy, rules)};
  }
  nn::WorldBundle bundle = load_controller_bundle(path, rules);
  TrainedPrior trained{nullptr, limits_of(bundle.world), bundle.world.action_mode,
                       costed_in_training(bundle)};
  trained.prior = make_controller_prior(std::move(bundle));
  return trained;
}

}
