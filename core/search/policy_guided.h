#pragma once

#include <cstdint>
#include <memory>

#include "core/search/prior.h"
#include "core/search/rollouts.h"
#include "core/search/search.h"

namespace regraft::search {

/// Limited discrepancy search (Harvey and Ginsberg 1995) with a policy as its heuristic. From a new graph the
/// search follows the policy's most probable candidate. Where that leads to a known graph, or is NO-OP, it
/// goes back to the open candidate with the least
///
///   sum along its path of (ln(p_best / p) + rank_weight * rank)  +  cost_weight * ln(cost of its parent /
///   initial cost)
///
/// where p = (1 - exploration) * prior + exploration / candidates. p_best is that of the most probable
/// candidate of the same graph, NO-OP included. rank counts from the most probable one that is not NO-OP.
/// Among equals, the deeper one comes first, then the earlier. So the first descent is the policy's own, and
/// what comes next is where it was least sure. (A product of plain probabilities would fall with every step;
/// as rewrites commute, it sends a search back to try all orders.) The `breadth` most probable candidates of
/// each graph are opened. When memory is full (SearchTree::kMostNodes), the half with the highest sums is
/// forgotten. Each prior asked for is one expansion, each rewrite one costed candidate. The horizon is what
/// the policy is shown, not an end: behind it graphs are shown as those of its last step.
struct PolicyGuidedOptions {
  ObservationOptions observation = {};
  double cost_weight = 10;     // 0: by the policy alone
  double rank_weight = 0.1;    // tells equally probable candidates apart
  double exploration = 0.02;   // 0 to 1
  std::uint32_t breadth = 32;  // at least 1
};

/// "guided:<prior's name>". The prior outlives the search. Throws SearchError on options out of range.
std::unique_ptr<Search> make_policy_guided(Prior& prior, PolicyGuidedOptions options = {});

}
