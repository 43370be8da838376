#pragma once

#include <memory>

#include "core/search/search.h"

namespace regraft::search {

/// Steepest descent that leaves its valleys by rules at all of their sites (core/env/all_sites.h): what pays
/// only when all sites are rewritten (five additions split so that a concatenation vanishes) is one move. At
/// the bottom every rule is tried at all of its sites, and the cheapest graph that one of them leads to is
/// gone on from. Where none is cheaper than the bottom, every such move is followed by a descent by what is
/// known, then every two moves of which the first makes sites for the second. The first that ends lower is
/// gone on from. Its first descent is greedy's, so it is never worse than greedy within the same limits. Its
/// next ones begin with a family that is taken together, where that gains by itself; the lowest is gone on
/// from.
std::unique_ptr<Search> make_all_sites_descent();

}
