#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/nn/policy_file.h"
#include "core/nn/world_bundle.h"
#include "core/search/prior.h"
#include "core/search/rollouts.h"
#include "core/search/search.h"

namespace regraft::launch {

/// A trained policy as the prior of a search; one inference an answer.
class PolicyPrior : public search::Prior {
 public:
  /// Throws NnError for a policy of another schema, and for a hierarchical one of other rules.
  PolicyPrior(const nn::PolicyFile& policy, const rules::RuleSet& rules);
  ~PolicyPrior() override;
  std::vector<float> log_probabilities(const env::Observation& observation, search::Way& way) override;
  std::string name() const override { return "policy"; }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What people should know of a policy on these rules: which of them it never saw, the first few by name;
/// empty where it saw all.
std::string unseen_note(const nn::PolicyFile& policy, const rules::RuleSet& rules);

/// Candidates costed in a policy's training. Of older policies, whose record counts steps alone: one a step,
/// and nothing where a step may be a rule at all of its sites.
std::optional<std::uint64_t> costed_in_training(const nn::PolicyFile& policy);
/// Of a world model's rollouts and fit, one a real step of its controller, and those that checked it
/// (controller_choice.h); dreams cost none.
std::optional<std::uint64_t> costed_in_training(const nn::WorldBundle& bundle);

/// Names that make_search takes: greedy, all_sites_descent, restarts, taso, beam, policy, portfolio, random.
const std::vector<std::string>& search_names();
inline const std::map<std::string, std::string> kFormerSearches{{"sweep", "all_sites_descent"}};

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
