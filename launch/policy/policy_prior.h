#pragma once

#include <memory>
#include <string>

#include "core/nn/model/policy_file.h"
#include "core/rules/set/rule_set.h"
#include "core/search/prior.h"

namespace regraft::launch {

/// "policy": a trained one as the prior of a search; one inference an answer. Throws NnError for a policy of
/// another schema, and for a hierarchical one of other rules.
std::unique_ptr<search::Prior> make_policy_prior(const nn::PolicyFile& policy, const rules::RuleSet& rules);

/// What people should know of a policy on these rules: which of them matched nowhere in its training, the
/// first few by name. Empty where all matched.
std::string unseen_note(const nn::PolicyFile& policy, const rules::RuleSet& rules);

}
