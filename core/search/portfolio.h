#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/search/search.h"

namespace regraft::search {

/// Runs searches one after another, each with an equal share of what is left of the limits, and keeps the
/// best graph; counters add up. So it is never worse than any of them within that share. Throws SearchError
/// without a search.
std::unique_ptr<Search> make_portfolio(std::vector<std::unique_ptr<Search>> searches, std::string name);

/// The same, but each search goes on from the best graph of those before. The first has that share of the
/// limits, 0 for an equal one. Never worse than the first within its share; `found_by` names all that found
/// something cheaper.
std::unique_ptr<Search> make_chain(std::vector<std::unique_ptr<Search>> searches, std::string name,
                                   double first_share = 0);

}
