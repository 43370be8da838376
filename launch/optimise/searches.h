#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/search/prior.h"
#include "core/search/rollouts.h"
#include "core/search/search.h"

namespace regraft::launch {

/// The names that make_search takes.
const std::vector<std::string>& search_names();
/// What searches were called in earlier versions, and what they are called now.
const std::map<std::string, std::string>& former_search_names();

/// `policy` wants a prior, and `portfolio` takes one; it outlives the search. `policy`: half of the limits go
/// to rollouts of it, the rest to a limited discrepancy search that it orders. `portfolio`, the default, is
/// all_sites_descent with three quarters of the limits, then taso from the best graph (which search finds
/// what: launch/docs/evidence-learning.md). With a prior, rollouts, greedy and the ordered search follow,
/// and each part has an equal share of what is left. Throws UsageError.
std::unique_ptr<search::Search> make_search(const std::string& name, search::Prior* prior,
                                            const search::ObservationOptions& observation);

/// Whether a search of that name goes by a policy, where one is given or not.
bool wants_policy(const std::string& search, bool given);

/// The policy file to use: the one given, else the one shipped in configs/policies. Throws UsageError when
/// there is none.
std::filesystem::path policy_path(const std::optional<std::filesystem::path>& given);

}
