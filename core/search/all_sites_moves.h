#pragma once

#include <cstdint>
#include <vector>

#include "core/env/rewrite_state.h"

namespace regraft::search {

/// A rule at all of its sites, as one move.
struct AllSitesMove {
  std::uint32_t rule = 0;
  std::vector<rules::Match> steps;
  double latency_us = 0;  // after it
};

/// Rules with a site.
std::vector<std::uint32_t> matching_rules(env::RewriteState& state);

/// Carries a rule out at all of its sites; rewrites that are refused are left out.
void take_at_all_sites(env::RewriteState& state, std::uint32_t rule);

/// The moves from a state whose graphs cost at most `most_us`, cheapest first. Of moves to one graph the
/// first rule's is given, and none to the present one. Leaves the state as it was.
std::vector<AllSitesMove> all_sites_moves(env::RewriteState& state, double most_us);

}  // namespace regraft::search
