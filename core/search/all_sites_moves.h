#pragma once

#include <cstdint>
#include <vector>

#include "core/env/rewrite_state.h"

namespace regraft::search {

/// A rule at all of its sites, and its family too where that is taken together (core/env/all_sites.h), and
/// what it leads to.
struct AllSitesMove {
  std::uint32_t rule = 0;
  std::vector<rules::Match> steps;
  double latency_us = 0;  // after it
};

/// These rules, but of each family that is taken together only the first.
std::vector<std::uint32_t> without_families(const rules::RuleSet& rules, std::vector<std::uint32_t> numbers);

/// The rules with a site; of a family that is taken together the first.
std::vector<std::uint32_t> matching_rules(env::RewriteState& state);

/// Carries a rule out at all of its sites; rewrites that are refused are left out.
void take_move(env::RewriteState& state, std::uint32_t rule);

/// The moves from a state whose graphs cost at most `most_us`, cheapest first. Of moves to one graph the
/// first one is given, and none to the present one. Leaves the state as it was.
std::vector<AllSitesMove> all_sites_moves(env::RewriteState& state, double most_us);

}
