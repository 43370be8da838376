#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/env/rewrite_state.h"

namespace regraft::search {

/// What is carried out as one move: a rule at all of its sites. Or the rules of a family marked `together`,
/// each at all of its sites, again and again until none changes anything: what changes a whole class of
/// tensors pays only once all of them are changed (rows as images from one end of a network to the other).
using Move = std::vector<std::uint32_t>;

/// A move and what it leads to.
struct AllSitesMove {
  Move rules;
  std::vector<rules::Match> steps;
  double latency_us = 0;  // after it
};

/// Moves with a site.
std::vector<Move> matching_moves(env::RewriteState& state);

/// Carries a move out; `take` carries one rule out at all of its sites and says whether it changed anything.
/// Whether the move did.
bool take_move(env::RewriteState& state, const Move& move, const std::function<bool(std::uint32_t)>& take);
/// The same; rewrites that are refused are left out.
void take_move(env::RewriteState& state, const Move& move);

/// The moves from a state whose graphs cost at most `most_us`, cheapest first. Of moves to one graph the
/// first one is given, and none to the present one. Leaves the state as it was.
std::vector<AllSitesMove> all_sites_moves(env::RewriteState& state, double most_us);

}  // namespace regraft::search
