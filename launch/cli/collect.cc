
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/env/rule_features.h"
#include "core/graph/op_kind_names.h"
#include "core/nn/inference/device.h"
#include "core/nn/inference/policy.h"
#include "core/nn/model/policy_file.h"
#include "core/task/environment_pool.h"
#include "core/task/workload.h"
#include "launch/call/call_files.h"
#include "launch/cli/commands.h"
#include "launch/job/job_config.h"
#include "launch/job/job_sizes.h"
#include "launch/job/world_job.h"
#include "launch/policy/controller_bundle.h"
#include "learner/world/world_options.h"
#include "replay/dream/controller_chooser.h"
#include "replay/rollout/play.h"
#include "replay/rollout/rollout.h"

namespace regraft::launch {
namespace {

struct CollectArguments {
  std::vector<std::string> models, bindings;
  std::filesystem::path out;
  std::optional<std::filesystem::path> config, policy;
  std::vector<std::string> settings;
};

/// Draws from the policy's probabilities.
replay::Chooser policy_chooser(const std::filesystem::path& path, const rules::RuleSet& rules) {
  if (is_bundle(path))
    return replay::controller_chooser(load_controller_bundle(path, rules), 1, replay::random_chooser(0));
  const std::vector<std::string> kinds = graph::op_kind_names();
  const nn::PolicyFile file = nn::with_op_kinds(nn::load_policy(path), kinds);
  auto policy = std::make_shared<nn::Policy>(file.network, file.weights,
                                             env::make_rule_features(rules, file.network.action_mode),
                                             nn::PolicyOptions{.device = "cpu"});
  return [policy](env::Environment& environment, Rng& rng) -> env::Action {
    const env::Observation& observation = environment.observation();
    const nn::Choice choice = nn::sample(policy->evaluate(observation), rng);
    return {observation.candidate_rules[choice.candidate], observation.candidate_locations[choice.candidate]};
  };
}

int collect(CollectArguments& options) {
  CallFiles files;
  files.writes("--out", options.out);
  for (const std::string& model : options.models) files.reads_model("models", model);
  Config config = load_job_config(options.config, options.settings);
  std::string models;
  for (const std::string& model : options.models) models += (models.empty() ? "" : ",") + model;
  if (!models.empty()) config.set("workload.models=" + models);
  if (!options.bindings.empty()) config.set("workload.bind=" + join(options.bindings, ","));
  bind_sizes(config);
  const task::WorkloadOptions workload = task::workload_options_from(config);
  if (workload.models.empty())
    throw UsageError("no model to collect on", "collect", "name ONNX files, or give a --config that does");
  const learner::WorldOptions world = learner::world_options_from(config);
  const rules::RuleSet rules = task::load_rules(workload);
  nn::set_torch_threads(1);
  const replay::Chooser choose =
      options.policy ? policy_chooser(*options.policy, rules) : collecting_chooser(config, rules);
  const SystemClock clock;
  task::EnvironmentPool environments(workload, clock);
  replay::RolloutFile file;
  file.rule_set_hash = rules.hash().hex();
  file.models = workload.models;
  file.record =
      nlohmann::json{{"noop", world.noop},
                     {env::kAllSitesField, workload.environment.action_mode == env::ActionMode::all_sites},
                     {"policy", options.policy ? options.policy->string() : ""},
                     {"config", config.to_toml()}}
          .dump();
  const std::int64_t start_ns = clock.steady_ns();
  std::uint64_t steps = 0;
  for (std::uint64_t sequence = 0; steps < world.collect_steps; ++sequence) {
    const auto model = static_cast<std::uint32_t>(sequence % workload.models.size());
    const std::uint64_t seed = Rng(world.seed, "ticket " + std::to_string(sequence)).next();
    file.rollouts.push_back(
        replay::play_rollout(environments.environment(model), model, seed, sequence, choose));
    steps += file.rollouts.back().steps.size();
  }
  const double seconds =
      static_cast<double>(clock.steady_ns() - start_ns) / static_cast<double>(nanoseconds_per_second);
  replay::save_rollouts(file, options.out);
  std::printf("%zu episodes, %llu steps in %.2f s (%.0f steps/s): %s\n", file.rollouts.size(),
              static_cast<unsigned long long>(steps), seconds, static_cast<double>(steps) / seconds,
              options.out.c_str());
  return kDone;
}

}  // namespace

void add_collect(Command& program, Action& action) {
  auto options = std::make_shared<CollectArguments>();
  Command* command =
      program.add_subcommand("collect",
                             "play rollouts in this process, and store them as action logs; with "
                             "many actors: train --set train.phase=collect");
  command->add_option("models", options->models,
                      "ONNX files, models of the corpus (corpus:FAMILY:SEED), or "
                      "synthetic:CHAINS:LOCKED:VALLEY:SEED");
  command->add_option("-o,--out", options->out, "the file of rollouts to write")->required();
  command->add_option("--policy", options->policy, "play by this policy, not at random")
      ->found_in_configs()
      ->check(existing_file());
  command->add_option("--config", options->config,
                      "a TOML file; configs/NAME.toml: a preset of the installation, found from any folder");
  command
      ->add_option("--bind", options->bindings,
                   "sizes of dynamic dims: batch=8,seq=128 (default: the config's, else found by trying)")
      ->delimiter(',');
  command->add_option("--set", options->settings,
                      "override one key: world.collect_steps=4000, world.noop=0.2; may be repeated");
  command->callback([options, &action] { action = [options] { return collect(*options); }; });
}

}
