#include "launch/policy/policy_prior.h"

#include "core/base/text.h"
#include "core/env/rule_features.h"
#include "core/graph/op_kind_names.h"
#include "core/nn/inference/policy.h"

namespace regraft::launch {
namespace {

constexpr std::size_t kNamedRules = 5;

class PolicyPrior : public search::Prior {
 public:
  PolicyPrior(const nn::PolicyFile& fitted, const env::RuleFeatureTable& rules)
      : policy_(fitted.network, fitted.weights, rules, {.device = "cpu"}) {}
  std::vector<float> log_probabilities(const env::Observation& observation, search::History&) override {
    return policy_.evaluate(observation).log_probabilities;
  }
  std::string name() const override { return "policy"; }

 private:
  nn::Policy policy_;
};

}  // namespace

std::unique_ptr<search::Prior> make_policy_prior(const nn::PolicyFile& policy, const rules::RuleSet& rules) {
  nn::check_rule_set(policy, rules.hash().hex());
  return std::make_unique<PolicyPrior>(nn::with_op_kinds(policy, graph::op_kind_names()),
                                       env::make_rule_features(rules, policy.network.action_mode));
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

}
