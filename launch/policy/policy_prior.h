#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/nn/policy_file.h"
#include "core/rules/set/rule_set.h"
#include "core/search/prior.h"

namespace regraft::launch {

/// A trained policy as the prior of a search; one inference an answer.
class PolicyPrior : public search::Prior {
 public:
  /// Throws NnError for a policy of another schema, and for a hierarchical one of other rules.
  PolicyPrior(const nn::PolicyFile& policy, const rules::RuleSet& rules);
  ~PolicyPrior() override;
  std::vector<float> log_probabilities(const env::Observation& observation,
                                       search::History& history) override;
  std::string name() const override { return "policy"; }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What people should know of a policy on these rules: which of them matched nowhere in its training, the
/// first few by name. Empty where all matched.
std::string unseen_note(const nn::PolicyFile& policy, const rules::RuleSet& rules);

}  // namespace regraft::launch
