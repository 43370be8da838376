#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/search/prior.h"
#include "core/search/rollouts.h"
#include "core/search/search.h"

namespace regraft::launch {

/// Names that make_search takes: greedy, all_sites_descent, restarts, taso, beam, policy, portfolio, random.
const std::vector<std::string>& search_names();

/// `policy` and `portfolio` want a prior, which outlives the search. `policy`: half of the limits go to
/// rollouts of it, the rest to a best-first search that it orders. `portfolio`: the best of greedy, of
/// rollouts followed by greedy, and of the ordered search, with a third of the limits each: never worse than
/// greedy within its third. Throws UsageError.
std::unique_ptr<search::Search> make_search(const std::string& name, search::Prior* prior,
                                            const search::ObservationOptions& observation);

/// Whether a search of that name wants a prior.
bool wants_policy(const std::string& search);

/// The policy file to use: the one given, else the one shipped in configs/policies. Throws UsageError when
/// there is none.
std::filesystem::path policy_path(const std::optional<std::filesystem::path>& given);

}  // namespace regraft::launch
