#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/env/rewrite_state.h"

namespace regraft::env {

/// Rewrites of one move, those that are taken back among them.
inline constexpr std::size_t kMostRewritesAtAllSites = 512;

/// What became of a match: applied; refused, or given up with the whole move, the graph being as it was.
enum class Applied : std::uint8_t { yes, refused, stopped };
using ApplyMatch = std::function<Applied(const rules::Match&)>;

/// Applies a rule at all of its sites, as one move: for environments, searches and whoever replays either.
/// What pays only once all sites are rewritten (five additions split so that a concatenation vanishes) need
/// not be found site by site, nor a change to every layer be made in as many moves as there are layers.
///
/// One match after the other is applied, of the present ones that of the most nodes, the first of equals,
/// until none is left. Not matched are:
///   - nodes that this move has made, by themselves: what a rule makes of a site is no other site. So a rule
///     that undoes itself, or that matches its own outcome for ever, is carried out once at each site. A
///     match of new and old nodes counts: siblings are merged one after the other;
///   - a match that `apply` refused, or whose rewrite led to a graph of this very move and was taken back.
/// The move ends at the cheapest graph on its way where that is cheaper than the graph it began at (the
/// earliest of equals), else at the last one, which is where a rule stands that only prepares what others
/// gain. So it always ends at another graph than it began at, unless nothing was applied or all was taken
/// back; and it depends on the graph alone. A move that is stopped is undone.
///
/// Returns the rewrites that were applied, each of whose graphs was costed; those that are kept are the last
/// of state.path().
std::size_t apply_at_all_sites(RewriteState& state, std::uint32_t rule, const ApplyMatch& apply);

}  // namespace regraft::env
