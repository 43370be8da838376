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

/// `policy` and `portfolio` want a prior, which outlives the search. `policy`: half of the limits go to
/// rollouts of it, the rest to a limited discrepancy search that it orders. `portfolio`: the best of
/// all_sites_descent, of rollouts each followed by greedy, and of the ordered search. Each has a third of the
/// limits, so it is never worse than all_sites_descent within a third. Throws UsageError.
std::unique_ptr<search::Search> make_search(const std::string& name, search::Prior* prior,
                                            const search::ObservationOptions& observation);

/// Whether a search of that name wants a prior.
bool wants_policy(const std::string& search);

/// The policy file to use: the one given, else the one shipped in configs/policies. Throws UsageError when
/// there is none.
std::filesystem::path policy_path(const std::optional<std::filesystem::path>& given);

}  // namespace regraft::launch
