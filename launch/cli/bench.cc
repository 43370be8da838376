#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json_text.h"
#include "core/base/progress.h"
#include "core/exec/latency/compare_latency.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/ort_session.h"
#include "core/nn/inference/device.h"
#include "core/nn/model/world_bundle.h"
#include "core/task/bindings.h"
#include "core/task/workload.h"
#include "launch/call/call_files.h"
#include "launch/call/find_sizes.h"
#include "launch/call/runtimes.h"
#include "launch/call/subprocess_checks.h"
#include "launch/cli/commands.h"
#include "launch/command/add_feed_options.h"
#include "launch/command/choices.h"
#include "launch/command/threads_option.h"
#include "launch/evaluate/dream_speed.h"
#include "launch/evaluate/environment_speed.h"

namespace regraft::launch {
namespace {

constexpr int kLeastSessions = 4;  // what exec::control_spread needs

struct BenchArguments {
  std::filesystem::path before;
  std::optional<std::filesystem::path> after, environment, json;
  FeedOptions feed;
  exec::LatencyOptions latency;
  std::string rules = "configs/rules", device = "configs/devices/cpu-1core.toml", cost = "device";
  std::uint64_t steps = 10000;
  std::uint32_t horizon = env::EpisodeLimits::kDefaultHorizon;
  std::string other_optimisation = "all", runtime = Runtime::kDefault;
  bool dream = false;
  std::optional<std::filesystem::path> world;
  std::uint32_t replicas = 256, rule_count = 200;
};

int bench_dream(const BenchArguments& options) {
  nn::set_torch_threads(1);
  const nn::WorldModel world = options.world ? nn::load_bundle(*options.world).world
                                             : stand_in_world(options.rule_count, options.latency.seed);
  const SystemClock clock;
  constexpr std::uint64_t kStepsPerStep = 100;  // a dreamt step is so much shorter than a real one
  DreamSpeed speed =
      measure_dream(world, options.replicas, options.steps * kStepsPerStep, options.latency.seed, clock);
  speed.world = options.world ? options.world->string() : "stand-in with random weights";
  std::fputs(describe(speed).c_str(), stdout);
  if (options.json) write_file_atomic(*options.json, json_text(to_json(speed), 2) + "\n");
  return kDone;
}

int bench_environment(const BenchArguments& options) {
  task::WorkloadOptions workload;
  workload.models = {options.environment->string()};
  workload.rules = options.rules;
  workload.device = options.device;
  workload.cost = enum_from<task::CostKind>(options.cost, "--cost");
  workload.environment.horizon = options.horizon;
  workload.bind = task::parse_bindings(options.feed.bindings);
  workload.bind = find_sizes(workload);
  const SystemClock clock;
  const auto task = task::load_task(workload, 0);
  env::Environment environment = task::make_environment(*task, workload, clock);
  EnvironmentSpeed speed = measure_environment(environment, options.steps, options.latency.seed, clock);
  speed.model = task->name();
  std::fputs(describe(speed).c_str(), stdout);
  if (options.json) write_file_atomic(*options.json, json_text(to_json(speed), 2) + "\n");
  return kDone;
}

int bench(const BenchArguments& options) {
  const Runtime runtime(options.runtime);
  if (!runtime.is_default() && options.other_optimisation != "all")
    throw UsageError("only ONNX Runtime's own optimisation can be limited", "--other-optimisation",
                     "leave it out, or --runtime");
  const std::string version = runtime.version();
  const std::unique_ptr<exec::Launcher> launcher = runtime.sessions();
  exec::LatencyOptions latency = options.latency;
  latency.threads = exec::session_threads(latency.threads);
  const exec::Feed feed = feed_in_child(options.before, options.feed, options.latency.seed);
  if (!feed.runs()) throw exec::ExecError(feed.problem, options.before, feed.remedy);
  const FeedFile feed_file(feed);
  latency.feed = feed_file.path();
  latency.after_optimisation = exec::optimisation_from_name(options.other_optimisation);
  const SystemClock clock;
  Progress progress({.label = "measuring", .unit = "sessions", .terminal = is_terminal(2)}, clock, std::cerr);
  latency.progress = [&](int done, int) { progress.update(static_cast<std::uint64_t>(done)); };
  const std::filesystem::path after = options.after.value_or(options.before);
  exec::LatencyReport report = exec::compare_latency(*launcher, options.before, after, latency);
  std::error_code missing;
  const bool beside_itself = std::filesystem::equivalent(options.before, after, missing) &&
                             latency.after_optimisation == exec::Optimisation::all;
  if (beside_itself) {
    report.accepted = false;
    report.reason = "a model beside itself: what differs from 1 is noise";
  }
  progress.finish();
  if (const std::string sizes = describe_sizes(feed); !sizes.empty()) std::printf("%s\n", sizes.c_str());
  std::printf("measured in %s %s\n", runtime.name().c_str(), version.c_str());
  std::printf("%-50s %10.3f ms\n%-50s %10.3f ms\n", options.before.c_str(), report.before.latency_ms,
              after.c_str(), report.after.latency_ms);
  std::printf("speedup %.3f, 95 %% interval [%.3f, %.3f], A/A control %.3f, %d sessions a side, %s\n",
              report.estimate.speedup, report.estimate.low, report.estimate.high, report.control,
              report.sessions, counted(latency.threads, "thread").c_str());
  const std::string optimisation(exec::optimisation_name(report.after_optimisation));
  std::printf("optimisation by the runtime: baseline all, OTHER%s %s\n",
              options.after ? "" : " (the baseline itself)", optimisation.c_str());
  const std::string verdict(beside_itself ? "control" : exec::verdict_name(report));
  std::printf("%s: %s\n", verdict.c_str(), report.reason.c_str());
  nlohmann::json json = exec::to_json(report);
  json["control"] = beside_itself;
  json["threads"] = latency.threads;
  json["runtime"] = runtime.name();
  json["runtime_version"] = version;
  if (options.json) write_file_atomic(*options.json, json_text(json, 2) + "\n");
  return kDone;
}

void add_dream_options(Command& command, BenchArguments& options, Option* dream) {
  command.add_option("--world", options.world, "the world model (left out: one with random weights)")
      ->check(existing_file())
      ->needs(dream);
  command.add_option("--replicas", options.replicas, "dreams side by side")
      ->check(in_range(1, 65536))
      ->capture_default_str()
      ->needs(dream);
  command
      .add_option("--rule-count", options.rule_count,
                  "rules of the world model with random weights, NO-OP among them")
      ->check(in_range(2, 65535))
      ->capture_default_str()
      ->needs(dream);
  const auto renamed = [](std::string&) -> std::string {
    throw UsageError("is called --rule-count now", "--xfers", "");
  };
  command.add_option("--xfers", options.rule_count)->hidden()->check({renamed, ""});
}

void add_environment_options(Command& command, BenchArguments& options, Option* environment) {
  command.add_option("--horizon", options.horizon, "most steps of an episode")
      ->check(in_range(1, 10000))
      ->capture_default_str()
      ->needs(environment);
  command.add_option("--rules", options.rules, "a .rules file or a folder of them")
      ->capture_default_str()
      ->needs(environment);
  command.add_option("--device", options.device, "device profile of the cost model")
      ->capture_default_str()
      ->needs(environment);
  const auto costs = enum_names(task::CostKind{});
  command.add_option("--cost", options.cost, "how graphs are costed, as workload.cost says of a job")
      ->check(one_of({costs.begin(), costs.end()}))
      ->capture_default_str()
      ->needs(environment);
}

}  // namespace

void add_bench(Command& program, Action& action) {
  auto options = std::make_shared<BenchArguments>();
  options->latency.min_sessions = kLeastSessions;
  Command* command = program.add_subcommand("bench",
                                            "compare the latency of two models in a runtime, or of one with "
                                            "itself; or the speed of an environment or of dreams");
  Option* model =
      command->add_option("MODEL", options->before, "the baseline, run with the runtime's best options");
  command->add_option("OTHER", options->after,
                      "the model to compare with it (left out: the baseline itself, an A/A control)");
  command
      ->add_option("--other-optimisation", options->other_optimisation,
                   "how far the runtime optimises OTHER, or the second baseline where OTHER is left out; the "
                   "first has all")
      ->check(one_of({"none", "basic", "extended", "all"}))
      ->capture_default_str()
      ->needs(model);
  command
      ->add_option("--runtime", options->runtime,
                   "the runtime to measure in; or FILE.py, the adapter of another")
      ->check(known_runtime(runtime_names()))
      ->capture_default_str()
      ->needs(model);
  add_threads_option(*command, options->latency.threads);
  command
      ->add_option("--budget", options->latency.budget_s,
                   "seconds to measure; at least " + std::to_string(kLeastSessions) +
                       " sessions a side run, of 3 runs each, however long they take")
      ->check(in_range(1.0, 86400.0))
      ->capture_default_str();
  add_feed_options(*command, options->feed);
  command->add_option("--seed", options->latency.seed,
                      "seed of the inputs and the order of sessions; with --env or --dream, of the steps");
  command->add_option("--json", options->json, "write the report as JSON; - for standard output");
  Option* environment =
      command
          ->add_option("--env", options->environment,
                       "measure the speed of this model's environment instead, in random steps")
          ->excludes(model)
          ->excludes("--inputs");
  Option* dream = command
                      ->add_flag("--dream", options->dream,
                                 "measure the speed of dreams of a world model and a controller instead")
                      ->excludes(model)
                      ->excludes(environment)
                      ->excludes("--bind")
                      ->excludes("--inputs");
  add_dream_options(*command, *options, dream);
  command->add_option("--steps", options->steps, "steps to take; with --dream a hundred times as many")
      ->check(in_range(std::uint64_t{10}, std::uint64_t{1} << 40))
      ->capture_default_str()
      ->excludes(model);
  add_environment_options(*command, *options, environment);
  command->callback([options, &action] {
    if (options->before.empty() && !options->environment && !options->dream)
      throw UsageError("MODEL, --env or --dream is required", "", "run `regraft bench --help`");
    action = [options] {
      CallFiles files;
      files.writes("--json", options->json);
      if (!options->before.empty()) files.reads("MODEL", options->before);
      if (options->environment) files.reads_model("--env", options->environment->string());
      files.reads("OTHER", options->after);
      files.reads("--world", options->world);
      if (options->dream) return bench_dream(*options);
      return options->environment ? bench_environment(*options) : bench(*options);
    };
  });
}

}
