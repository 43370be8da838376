#pragma once

// Internal to core/rules: matches of rules without siblings.

#include <vector>

#include "core/rules/match/legal_memo.h"
#include "core/rules/match/match.h"
#include "core/rules/match/matcher.h"

namespace regraft::rules {

/// A match that is legal, cycles apart: a far edit can make or break those.
struct LocalMatch {
  Match match;
  InlineVector<graph::Value, 2> replaced, reads;  // empty where no cycle can arise
};

/// Appends the matches of a rule at an anchor: of several ways with the same nodes the first counts. The
/// matcher is that of the rule.
void append_local_matches(const CompiledRule& rule, std::uint32_t number, const graph::Graph& graph,
                          Matcher& matcher, LegalMemo& memo, graph::NodeId anchor,
                          std::vector<LocalMatch>& out);

}
