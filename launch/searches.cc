#include "launch/searches.h"

#include <nlohmann/json.hpp>

#include "actors/config_files.h"
#include "core/base/text.h"
#include "core/env/rule_features.h"
#include "core/nn/controller.h"
#include "core/nn/policy.h"
#include "core/search/all_sites_descent.h"
#include "core/search/backtracking.h"
#include "core/search/beam.h"
#include "core/search/best_of.h"
#include "core/search/greedy.h"
#include "core/search/policy_guided.h"
#include "core/search/polish.h"
#include "core/search/restarts.h"
#include "core/search/rollouts.h"
#include "launch/job.h"

namespace regraft::launch {
namespace {

constexpr char kShippedPolicy[] = "configs/policies/default.policy";
constexpr std::uint64_t kPolicyRollouts = 32;
constexpr std::size_t kNamedRules = 5;

}  // namespace

struct PolicyPrior::State {
  nn::Policy policy;
};

PolicyPrior::PolicyPrior(const nn::PolicyFile& file, const rules::RuleSet& rules) {
  nn::check_rule_set(file, rules.hash().hex());
  const nn::PolicyFile fitted = nn::with_op_kinds(file, op_kind_names());
  state_ = std::make_unique<State>(
      State{nn::Policy(fitted.network, fitted.weights,
                       env::make_rule_features(rules, file.network.action_mode), {.device = "cpu"})});
}

PolicyPrior::~PolicyPrior() = default;

std::vector<float> PolicyPrior::log_probabilities(const env::Observation& observation, search::Way&) {
  return state_->policy.evaluate(observation).log_probabilities;
}

std::string unseen_note(const nn::PolicyFile& policy, const rules::RuleSet& rules) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rules.size(); ++i) names.push_back(rules.info(i).name);
  std::vector<std::string> unseen = nn::unseen_rules(policy, names);
  if (unseen.empty()) return "";
  const std::size_t count = unseen.size();
  if (count > kNamedRules) unseen.resize(kNamedRules);
  return "the policy never saw " + std::to_string(count) + " of these " + std::to_string(names.size()) +
         " rules: " + join(unseen, ", ") + (count > kNamedRules ? ", ..." : "");
}

std::optional<std::uint64_t> costed_in_training(const nn::PolicyFile& policy) {
  const auto record = nlohmann::json::parse(policy.training_record);
  if (record.contains("candidates")) return record.at("candidates").get<std::uint64_t>();
  if (policy.network.action_mode == env::ActionMode::all_sites || !record.contains("steps"))
    return std::nullopt;
  return record.at("steps").get<std::uint64_t>();  // of older policies, one rewrite a step
}

std::optional<std::uint64_t> costed_in_training(const nn::WorldBundle& bundle) {
  const auto world = nlohmann::json::parse(bundle.world.training_record);
  if (!world.contains("candidates")) return std::nullopt;
  const auto controller =
      nlohmann::json::parse(nn::decode_controller(bundle.controller, "bundle").training_record);
  const auto real_steps = controller.value("real_steps", std::uint64_t{0});
  if (bundle.world.action_mode == env::ActionMode::all_sites && real_steps > 0) return std::nullopt;
  const auto checks = controller.value("checks", nlohmann::json::object());
  return world.at("candidates").get<std::uint64_t>() + real_steps +
         checks.value("candidates", std::uint64_t{0});
}

const std::vector<std::string>& search_names() {
  static const std::vector<std::string> names{"greedy", "all_sites_descent", "restarts", "taso", "beam",
                                              "policy", "portfolio",         "random"};
  return names;
}

std::unique_ptr<search::Search> make_search(const std::string& name, search::Prior* prior,
                                            const search::ObservationOptions& observation) {
  if (name == "greedy") return search::make_greedy();
  if (name == "all_sites_descent") return search::make_all_sites_descent();
  if (name == "restarts") return search::make_restarts();
  if (name == "taso") return search::make_backtracking();
  if (name == "beam") return search::make_beam();
  if (name == "random")
    return search::make_random_rollouts({.observation = observation, .greedy_first = false});
  if (name != "policy" && name != "portfolio")
    throw UsageError("unknown search '" + name + "'", "--search", suggestion(name, search_names()));
  std::vector<std::unique_ptr<search::Search>> parts;
  auto rollouts = search::make_rollouts(*prior, {.observation = observation, .rollouts = kPolicyRollouts});
  if (name == "portfolio") {
    parts.push_back(search::make_all_sites_descent());
    rollouts = search::make_polished(std::move(rollouts));
  }
  parts.push_back(std::move(rollouts));
  parts.push_back(search::make_policy_guided(*prior, {.observation = observation}));
  return search::make_best_of(std::move(parts), name);
}

bool wants_policy(const std::string& search) {
  return search == "policy" || search == "portfolio";
}

std::filesystem::path policy_path(const std::optional<std::filesystem::path>& given) {
  if (given) return *given;
  const std::filesystem::path shipped = actors::find_config(kShippedPolicy);
  if (!std::filesystem::exists(shipped))
    throw UsageError("no policy is given and none is shipped", kShippedPolicy,
                     "train one and give it with --policy, or use --search greedy or taso");
  return shipped;
}

}  // namespace regraft::launch
