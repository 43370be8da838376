#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/env/rewrite_state.h"

namespace regraft::env {

/// Rewrites of one rule in one move, those that are taken back among them; of a family 8 times as many.
inline constexpr std::size_t kMostRewritesAtAllSites = 512;

/// What became of a match: applied; refused; or stopped with the whole move. In the last two cases the graph
/// is as before.
enum class Applied : std::uint8_t { yes, refused, stopped };
using ApplyMatch = std::function<Applied(const rules::Match&)>;

/// Carries a rule out at all of its sites, as one move. Some changes pay only once all sites are rewritten
/// (five additions split so that a concatenation vanishes). This move makes them at once. A change to every
/// layer takes one move, too.
///
/// One match after the other is applied until none is left: of the present ones that of the most nodes, the
/// first of equals. Not matched are:
///   - nodes that this move has made, by themselves: what a rule makes of a site is no other site. So a rule
///     that undoes itself, or that matches its own outcome for ever, is carried out once at each site. A
///     match of new and old nodes counts: siblings are merged one after the other;
///   - a match that `apply` refused, or whose rewrite led to a graph of this very move and was taken back.
/// The move ends at the cheapest graph on its way (the earliest of equals) where that is cheaper than the
/// start. Else it ends at the last one: the rule may only prepare what others gain. So it ends at another
/// graph than it began at, unless nothing was applied or all was taken back. It depends on the graph alone. A
/// move that is stopped is undone.
///
/// A rule of a family that is marked `together` stands for all of them: each in turn is carried out so, again
/// and again, until a round of them changes nothing or leads back. What changes a whole class of tensors pays
/// only once all of them are changed (rows as images from one end of a network to the other).
///
/// Returns the rewrites that were applied; each of their graphs was costed. Those that are kept are the last
/// of state.path().
std::size_t apply_at_all_sites(RewriteState& state, std::uint32_t rule, const ApplyMatch& apply);

}
