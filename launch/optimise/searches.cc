#include "launch/optimise/searches.h"

#include "core/base/find_config.h"
#include "core/base/text.h"
#include "core/search/all_sites_descent.h"
#include "core/search/beam.h"
#include "core/search/greedy.h"
#include "core/search/policy_guided.h"
#include "core/search/portfolio.h"
#include "core/search/restarts.h"
#include "core/search/rollouts.h"
#include "core/search/taso.h"

namespace regraft::launch {
namespace {

constexpr char kShippedPolicy[] = "configs/policies/default.policy";
constexpr std::uint64_t kPolicyRollouts = 32;
constexpr double kDescentShare = 0.75;
constexpr std::uint64_t kTasoCandidates = 100'000;  // some seconds

}  // namespace

const std::vector<std::string>& search_names() {
  static const std::vector<std::string> names{"greedy", "all_sites_descent", "restarts", "taso", "beam",
                                              "policy", "portfolio",         "random"};
  return names;
}

const std::map<std::string, std::string>& former_search_names() {
  static const std::map<std::string, std::string> names{{"sweep", "all_sites_descent"}};
  return names;
}

std::unique_ptr<search::Search> make_search(const std::string& name, search::Prior* prior,
                                            const search::ObservationOptions& observation) {
  if (name == "greedy") return search::make_greedy();
  if (name == "all_sites_descent") return search::make_all_sites_descent();
  if (name == "restarts") return search::make_restarts();
  if (name == "taso") return search::make_taso();
  if (name == "beam") return search::make_beam();
  if (name == "random")
    return search::make_random_rollouts({.observation = observation, .greedy_first = false});
  if (name != "policy" && name != "portfolio")
    throw UsageError("unknown search '" + name + "'", "--search", suggestion(name, search_names()));
  if (name == "policy" && !prior)
    throw UsageError("search 'policy' goes by a policy", "--search", "give one with --policy");
  std::vector<std::unique_ptr<search::Search>> parts;
  if (name == "portfolio") {
    parts.push_back(search::make_all_sites_descent());
    parts.push_back(search::make_taso({.most_candidates = kTasoCandidates}));
    if (!prior) return search::make_chain(std::move(parts), name, kDescentShare);
  }
  auto rollouts = search::make_rollouts(*prior, {.observation = observation, .rollouts = kPolicyRollouts});
  auto guided = search::make_policy_guided(*prior, {.observation = observation});
  parts.push_back(std::move(rollouts));
  if (name == "portfolio") parts.push_back(search::make_greedy());
  parts.push_back(std::move(guided));
  return name == "policy" ? search::make_portfolio(std::move(parts), name)
                          : search::make_chain(std::move(parts), name);
}

bool wants_policy(const std::string& search, bool given) {
  return search == "policy" || (search == "portfolio" && given);
}

std::filesystem::path policy_path(const std::optional<std::filesystem::path>& given) {
  if (given) return *given;
  const std::filesystem::path shipped = find_config(kShippedPolicy);
  if (!std::filesystem::exists(shipped))
    throw UsageError("no policy is given and none is shipped", kShippedPolicy,
                     "train one and give it with --policy, or use --search greedy or taso");
  return shipped;
}

}
