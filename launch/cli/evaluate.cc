#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/json_text.h"
#include "core/base/stats.h"
#include "core/base/text.h"
#include "core/graph/op_kind_names.h"
#include "core/nn/inference/device.h"
#include "core/nn/model/policy_file.h"
#include "core/nn/model/world_bundle.h"
#include "core/task/workload.h"
#include "launch/call/call_files.h"
#include "launch/call/find_sizes.h"
#include "launch/cli/commands.h"
#include "launch/command/choices.h"
#include "launch/evaluate/controller_validity.h"
#include "launch/evaluate/score.h"
#include "launch/evaluate/script_method.h"
#include "launch/job/job_config.h"
#include "launch/job/ppo_job.h"
#include "launch/optimise/searches.h"
#include "launch/policy/controller_bundle.h"
#include "launch/policy/policy_prior.h"
#include "launch/policy/trained_prior.h"

namespace regraft::launch {
namespace {

struct EvaluateArguments {
  std::vector<std::filesystem::path> policies;
  std::optional<std::filesystem::path> config, json;
  std::optional<std::filesystem::path> scripts;  // a folder of them
  std::vector<std::string> settings;
  std::vector<std::string> models, bindings;
  std::vector<std::string> searches{"greedy"};
  bool untrained = false;
  double search_s = 60;
  std::uint64_t expansions = 0, candidates = 0;  // of a search; 0: no limit
  int episodes = 20;
  int trajectories = 100;  // of dreams whose actions are taken in the real environment
  std::uint64_t seed = 0;
};

/// Counts of costed candidates at which what a search had found until then is written.
constexpr std::array<std::uint64_t, 8> kBudgets{10, 30, 100, 300, 1000, 3000, 10000, 30000};

double improvement(const search::SearchResult& found, double latency_us) {
  return 1 - latency_us / found.initial.latency_us;
}

/// What a search says beside the best return. It tells where the search stood after each count of kBudgets
/// that it reached. It also tells how many candidates were costed when the best was found: in the search
/// alone, and with its policy's training where that is known.
nlohmann::json course_of(const search::SearchResult& found, const std::string& kind,
                         std::optional<std::uint64_t> training) {
  nlohmann::json at = nlohmann::json::array(), improvements = nlohmann::json::array();
  for (const std::uint64_t budget : kBudgets) {
    double best = found.initial.latency_us;
    for (const search::Improvement& each : found.improvements)
      if (each.candidates_costed <= budget) best = each.latency_us;
    at.push_back({{"method", kind}, {"candidates", budget}, {"return", improvement(found, best)}});
    if (budget >= found.candidates_costed) break;
  }
  for (const search::Improvement& each : found.improvements)
    improvements.push_back({{"return", improvement(found, each.latency_us)},
                            {"seconds", each.seconds},
                            {"expansions", each.expansions},
                            {"candidates_costed", each.candidates_costed}});
  const std::uint64_t at_best = found.improvements.empty() ? 0 : found.improvements.back().candidates_costed;
  const auto or_null = [](bool known, std::uint64_t count) {
    return known ? nlohmann::json(count) : nlohmann::json();
  };
  return {{"expansions", found.expansions},
          {"stopped_by", search::stopped_by_name(found.stopped_by)},
          {"costed_at_best", at_best},
          {"costed_in_training", or_null(training.has_value(), training.value_or(0))},
          {"amortised_at_best", or_null(training.has_value(), training.value_or(0) + at_best)},
          {"at", at},
          {"improvements", improvements}};
}

// What the table calls a search and the drawn episodes of one policy or controller.
std::string searching_with(const std::string& search, const std::filesystem::path& path) {
  return search + " search with " + path.string();
}
std::string episodes_of(const std::filesystem::path& path) {
  return "episodes of " + path.string();
}

/// The workload with episodes as in a prior's training, but for what the config says itself.
task::WorkloadOptions as_trained(task::WorkloadOptions workload, const TrainedPrior& trained,
                                 const Config& config) {
  env::EnvOptions& seen = workload.environment;
  if (!config.given("workload.horizon")) seen.horizon = trained.limits.horizon;
  if (!config.given("workload.locations")) seen.location_limit = trained.limits.location_limit;
  seen.action_mode = trained.action_mode;
  return workload;
}

/// One search on what the policies see, horizon and all; `prior` is for those that want one, and so many
/// candidates were costed in its training.
Score search_by(const std::string& name, search::Prior* prior, const std::string& kind,
                const std::string& method, const task::Task& task, const task::WorkloadOptions& workload,
                const EvaluateArguments& options, std::optional<std::uint64_t> training = 0) {
  const SystemClock clock;
  Rng rng(options.seed, "evaluate " + name);
  search::SearchLimits limits;
  limits.seconds = options.search_s;
  if (options.expansions > 0) limits.expansions = options.expansions;
  if (options.candidates > 0) limits.candidates = options.candidates;
  const env::EnvOptions& seen = workload.environment;
  const search::SearchResult found =
      make_search(name, prior, {seen.horizon, seen.location_limit, task.bindings(), seen.action_mode})
          ->run({task.start(), task.rules(), task.costs()}, limits, rng, {clock});
  Score score{task.name(),
              kind,
              method,
              {improvement(found, found.best.latency_us)},
              {},
              {},
              found.candidates_costed,
              found.seconds,
              course_of(found, kind, training)};
  score.best = score.returns;
  score.memory.push_back(found.best.peak_memory_bytes / found.initial.peak_memory_bytes);
  return score;
}

/// The policies as seeds of one method: the interquartile mean of their mean returns.
void print_together(const std::string& model, const std::vector<double>& means, std::uint64_t seed) {
  Rng rng(seed, "bootstrap");
  const Interval iqm = bootstrap_interquartile_mean({means}, rng);
  std::printf("%-24s %zu policies: interquartile mean %.4f, 95 %% interval [%.4f, %.4f]\n", model.c_str(),
              means.size(), iqm.estimate, iqm.low, iqm.high);
}

/// A policy of the config's network with fresh weights.
nn::PolicyFile untrained_policy(const Config& config, const rules::RuleSet& rules) {
  nn::PolicyFile policy;
  policy.op_kinds = graph::op_kind_names();
  policy.observation_schema = env::kObservationSchema;
  policy.rule_set_hash = rules.hash().hex();
  policy.network = job_network(config, rules.size());
  policy.weights =
      nn::initial_weights(policy.network, static_cast<std::uint64_t>(config.integer("train.seed")));
  return policy;
}

/// What the controller of a bundle does on one model, and how far its dreams can be believed.
void evaluate_controller(const std::filesystem::path& path, const task::Task& task,
                         const task::WorkloadOptions& workload, const Config& config,
                         const EvaluateArguments& options, const std::function<void(const Score&)>& report,
                         nlohmann::json& all) {
  const nn::WorldBundle bundle = load_controller_bundle(path, task.rules());
  report(play_bundle(task, workload, bundle, nn::ActionSelection::drawn, options.episodes, options.seed,
                     "policy", episodes_of(path)));
  report(play_bundle(task, workload, bundle, nn::ActionSelection::most_likely, 1, options.seed, "policy-mode",
                     "controller, most probable"));
  const replay::DreamValidity validity =
      validity_of(bundle, task, workload, config, options.trajectories, options.seed);
  std::printf("%-24s %s", task.name().c_str(), describe(validity).c_str());
  nlohmann::json entry = launch::to_json(validity);
  entry["model"] = task.name();
  entry["kind"] = "dream-validity";
  all.push_back(std::move(entry));
}

int evaluate(EvaluateArguments& options) {
  CallFiles files;
  files.writes("--json", options.json);
  for (const std::filesystem::path& policy : options.policies) files.reads("--policy", policy);
  if (options.config) files.reads("--config", find_job_config(*options.config));
  for (const std::string& model : options.models) files.reads_model("--models", model);
  nn::set_torch_threads(1);
  Config config = load_job_config(options.config, options.settings);
  if (!options.bindings.empty()) config.set("workload.bind=" + join(options.bindings, ","));
  task::WorkloadOptions workload = task::workload_options_from(config);
  if (!options.models.empty()) workload.models = task::expanded_models(options.models);
  workload.environment.reward = env::RewardKind::incremental;  // costs are compared, rewards are not read
  if (workload.models.empty()) throw UsageError("no model is given", "--models", "name at least one");
  if (std::ranges::count(options.searches, "policy") > 0 && options.policies.empty() && !options.untrained)
    throw UsageError("search 'policy' goes by a policy", "--searches", "give one with --policy");
  workload.bind = find_sizes(workload);
  std::printf("%-24s %-34s %8s %10s %8s %10s %12s %8s\n", "model", "method", "episodes", "return", "sd",
              "best", "costed", "seconds");
  nlohmann::json all = nlohmann::json::array();
  const auto report = [&](const Score& score) {
    print(score);
    all.push_back(to_json(score));
  };
  for (std::size_t model = 0; model < workload.models.size(); ++model) {
    const auto task = task::load_task(workload, model);
    search::UniformPrior uniform;
    report(play(*task, workload, uniform, true, options.episodes, options.seed, "random", "random"));
    for (const std::string& name : options.searches)
      if (!wants_policy(name, options.untrained || !options.policies.empty()))
        report(search_by(name, nullptr, name == "random" ? "random-search" : name, name, *task, workload,
                         options));
    if (options.scripts)
      for (const std::filesystem::path& path : scripts_for(*options.scripts, task->name())) {
        if (const auto score = play_script(path, *task))
          report(*score);
        else
          std::printf("%-24s %s wants rules that make a runtime's own ops: left out\n", task->name().c_str(),
                      path.c_str());
      }
    if (options.untrained) {
      const auto prior = make_policy_prior(untrained_policy(config, task->rules()), task->rules());
      report(play(*task, workload, *prior, true, options.episodes, options.seed, "untrained",
                  "untrained policy"));
      for (const std::string& name : options.searches)
        if (wants_policy(name, true))
          report(search_by(name, prior.get(), "untrained-" + name + "-search", name + ", untrained policy",
                           *task, workload, options));
    }
    std::vector<double> means;
    for (const std::filesystem::path& path : options.policies) {
      const TrainedPrior trained = load_trained_prior(path, task->rules());
      const task::WorkloadOptions seen = as_trained(workload, trained, config);
      if (model == 0 && !trained.note.empty()) std::printf("%s: %s\n", path.c_str(), trained.note.c_str());
      for (const std::string& name : options.searches)
        if (wants_policy(name, true))
          report(search_by(name, trained.prior.get(), name + "-search", searching_with(name, path), *task,
                           seen, options, trained.costed));
      if (is_bundle(path)) {
        evaluate_controller(path, *task, seen, config, options, report, all);
        continue;
      }
      report(play(*task, seen, *trained.prior, true, options.episodes, options.seed, "policy",
                  episodes_of(path)));
      means.push_back(mean(all.back().at("returns").get<std::vector<double>>()));
      report(
          play(*task, seen, *trained.prior, false, 1, options.seed, "policy-mode", "policy, most probable"));
    }
    if (means.size() > 1) print_together(task->name(), means, options.seed);
  }
  if (options.json) write_file_atomic(*options.json, json_text(all, 1) + "\n");
  return kDone;
}

}  // namespace

void add_evaluate(Command& program, Action& action) {
  auto options = std::make_shared<EvaluateArguments>();
  Command* command = program.add_subcommand(
      "evaluate", "compare policies with a random one and with searches, episode by episode");
  command->add_option("--policy", options->policies, "policies, and bundles of world model and controller")
      ->found_in_configs()
      ->check(existing_file());
  command->add_option(
      "--models", options->models,
      "ONNX files, models of the corpus (corpus:FAMILY:SEED) or synthetic graphs (default: the config's)");
  command->add_option("--config", options->config,
                      "a job's config: its rules are used, and its horizon and locations where it sets them "
                      "(else the policy's)");
  command->add_option("--set", options->settings, "override one key of the config");
  command
      ->add_option("--bind", options->bindings,
                   "sizes of dynamic dims: batch=8,seq=128 (default: the config's, else found by trying)")
      ->delimiter(',');
  command
      ->add_option(
          "--searches", options->searches,
          "searches to compare with; each policy guides the search `policy`, and `portfolio` in a second run")
      ->delimiter(',')
      ->check(one_of(search_names(), former_search_names()))
      ->capture_default_str();
  command->add_option("--search-budget", options->search_s, "seconds for each search and model")
      ->check(in_range(0.0, 1e7))
      ->capture_default_str();
  command->add_option("--expansions", options->expansions, "most graphs that a search expands (0: no limit)");
  command->add_option("--candidates", options->candidates,
                      "most graphs whose cost a search asks for (0: no limit)");
  command
      ->add_option("--scripts", options->scripts,
                   "a folder of scripts; those named MODEL-*.script are compared too")
      ->found_in_configs()
      ->check(existing_folder());
  command->add_flag("--untrained", options->untrained,
                    "compare an untrained policy too, and searches that it guides");
  command->add_option("--episodes", options->episodes, "episodes for each policy and model")
      ->check(in_range(1, 1000000))
      ->capture_default_str();
  command
      ->add_option("--trajectories", options->trajectories,
                   "dreams of a bundle that are played again in the real environment")
      ->check(in_range(2, 100000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of the first episode")->capture_default_str();
  command->add_option("--json", options->json, "write all returns as JSON; - for standard output");
  command->callback([options, &action] { action = [options] { return evaluate(*options); }; });
}

}
