#pragma once

// Internal to core/exec: sizes of the symbols of a rewrite's site at which to look.

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/exec/site/site.h"

namespace regraft::exec {

/// Symbols of the leaves that no size was given for; without `formulas`, those alone that no other gives one.
std::vector<graph::SymbolId> open_symbols(const graph::Graph& graph, const Site& site,
                                          const graph::Bindings& bindings, bool formulas);

/// The symbols that dims of the leaves are, or are formulas over; no formulas.
std::vector<graph::SymbolId> free_symbols(const graph::Graph& graph, const Site& site);

/// The symbols that a size was given for and that dims of the leaves are, or are formulas over, with it.
std::map<graph::SymbolId, std::int64_t> given_sizes(const graph::Graph& graph, const Site& site,
                                                    const graph::Bindings& bindings);

/// A few sizes in [1, below): 1 to 3, and the neighbours of integers in the left side's attributes and
/// constants, such as where a Slice begins.
std::set<std::int64_t> smaller_sizes(const graph::Graph& graph, const Site& site, std::int64_t below);

/// Sizes at which the left side may run, ascending, none empty.
struct LikelySizes {
  std::vector<std::int64_t> all;    // small ones, those that the left side has elsewhere or divides by
  std::vector<std::int64_t> fixed;  // the known dims of the left side alone, where it has any
};
LikelySizes likely_sizes(const graph::Graph& graph, const Site& site);

}
