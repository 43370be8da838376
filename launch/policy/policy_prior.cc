#include "launch/policy/policy_prior.h"

#include "core/base/text.h"
#include "core/env/rule_features.h"
#include "core/graph/op_kind_names.h"
#include "core/nn/policy.h"

namespace regraft::launch {

namespace {

constexpr std::size_t kNamedRules = 5;

}  // namespace

struct PolicyPrior::State {
  nn::Policy policy;
};

PolicyPrior::PolicyPrior(const nn::PolicyFile& file, const rules::RuleSet& rules) {
  nn::check_rule_set(file, rules.hash().hex());
  const nn::PolicyFile fitted = nn::with_op_kinds(file, graph::op_kind_names());
  state_ = std::make_unique<State>(
      State{nn::Policy(fitted.network, fitted.weights,
                       env::make_rule_features(rules, file.network.action_mode), {.device = "cpu"})});
}

PolicyPrior::~PolicyPrior() = default;

std::vector<float> PolicyPrior::log_probabilities(const env::Observation& observation, search::History&) {
  return state_->policy.evaluate(observation).log_probabilities;
}

std::string unseen_note(const nn::PolicyFile& policy, const rules::RuleSet& rules) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rules.size(); ++i) names.push_back(rules.info(i).name);
  std::vector<std::string> unseen = nn::unseen_rules(policy, names);
  if (unseen.empty()) return "";
  const std::size_t count = unseen.size();
  if (count > kNamedRules) unseen.resize(kNamedRules);
  return std::to_string(count) + " of these " + std::to_string(names.size()) +
         " rules matched nowhere when the policy was trained: " + join(unseen, ", ") +
         (count > kNamedRules ? ", ..." : "");
}

}  // namespace regraft::launch
