#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/env/observation.h"
#include "core/rules/set/rule_set.h"

namespace regraft::env {

/// The words of a rule's text: identifiers, numbers, "=>" and single punctuation marks; white space is
/// dropped.
std::vector<std::string> rule_tokens(std::string_view text);

/// One row a rule: its tokens and pairs of neighbours, each marked with its side of "=>". They are hashed
/// with a sign into kRuleFeatures - 1 buckets (feature hashing, Weinberger et al. 2009) and scaled to a root
/// mean square of 1. The row depends on the text alone, so equal rules have equal rows in every rule set.
/// Last row: NO-OP.
///
/// In the mode `all_sites`, another row a rule follows NO-OP's, for the rule at all of its sites. It is the
/// rule's own row plus one direction, the same for all rules and half as long. By it a policy tells the two
/// apart.
RuleFeatureTable make_rule_features(const rules::RuleSet& rules, ActionMode mode = ActionMode::one_site);

/// The row of one rule text. [kRuleFeatures]
std::vector<float> rule_feature_row(std::string_view text);

}
