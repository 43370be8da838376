#include "launch/optimise/optimise.h"

#include <cstdio>

#include "core/base/output_target.h"
#include "core/graph/op.h"
#include "core/task/bindings.h"
#include "launch/cli/commands.h"
#include "launch/command/add_feed_options.h"
#include "launch/command/choices.h"
#include "launch/command/threads_option.h"
#include "launch/optimise/searches.h"

namespace regraft::launch {
namespace {

std::vector<std::string> search_choices() {
  std::vector<std::string> names{"none"};
  names.insert(names.end(), search_names().begin(), search_names().end());
  return names;
}

CallFiles files_of(OptimiseOptions& options) {
  CallFiles files;
  files.writes("--output", options.output);
  files.writes("--json", options.json);
  files.writes("--log", options.log);
  files.writes("--report", options.page);
  if (options.settings) {
    if (target_of(options.output).kind != OutputTarget::Kind::file)
      throw UsageError("writes a file beside the output", "--settings", "give --output a file's path");
    std::filesystem::path session = options.session_file();
    files.writes("--settings", session);
  }
  files.reads("IN", options.input, "--output");
  const bool guided = !options.script && wants_policy(options.search, options.policy.has_value());
  files.reads("--policy", guided ? std::optional(policy_path(options.policy)) : options.policy);
  files.reads("--script", options.script);
  files.reads_rules("--rules", options.rules);
  for (const auto& path : options.feed.inputs)
    if (!std::filesystem::is_directory(path)) files.reads("--inputs", path);
  return files;
}

/// A dim that --fix names is bound as those of --bind are: an error says what the user wrote.
OptimiseReport optimised(const OptimiseOptions& options, const CallFiles& files) {
  try {
    return optimise(options, files);
  } catch (const UsageError& error) {
    for (const auto& [dim, size] : task::parse_bindings(options.fixed, "--fix"))
      if (error.where() == "--bind " + dim) throw UsageError(error.problem(), "--fix " + dim, error.remedy());
    throw;
  }
}

int run(OptimiseOptions options) {
  const std::string shown = options.output == "-" ? "" : options.output.string() + "\n";
  const CallFiles files = files_of(options);
  const OptimiseReport report = optimised(options, files);
  std::printf("%s%s", report.text().c_str(), shown.c_str());
  return kDone;
}

void add_search_options(Command& command, OptimiseOptions& options) {
  command
      .add_option("--policy", options.policy,
                  "a trained policy, which guides the search too (default, with --search policy: the one "
                  "that ships)")
      ->found_in_configs();
  command.add_option("--search", options.search, "how to search; none: import and export only")
      ->check(one_of(search_choices(), former_search_names()))
      ->capture_default_str();
  command
      .add_option("--script", options.script,
                  "a file of rewrites to make, in place of a search; as in configs/scripts")
      ->found_in_configs()
      ->excludes("--search");
  command.add_option("--budget", options.time.search, "seconds of searching (default: 0.45 of --seconds)")
      ->check(in_range(0.0, 1e7));
  command
      .add_option("--search-threads", options.search_threads,
                  "threads of the search; where its time is enough, the result is the same on any number; 0: "
                  "one for each processor that the process may use")
      ->capture_default_str();
  command.add_option("--expansions", options.expansions, "most graphs that the search expands (0: no limit)");
}

void add_rule_and_cost_options(Command& command, OptimiseOptions& options) {
  command
      .add_option("--rules", options.rules,
                  "a .rules file or a folder of them; 'tested' or 'tested:FILE' also takes rules that are "
                  "neither proved nor bounded_checked")
      ->capture_default_str();
  command
      .add_option("--allow-domain", options.domains,
                  "let rules make ops of a runtime's own domain: the output is for that runtime alone")
      ->check(one_of({graph::runtime_domains().begin(), graph::runtime_domains().end()}));
  command.add_flag("--strict", options.strict,
                   "leave out rules that hold only for finite or bounded numbers: configs/rules/marks.md");
  command.add_option(
      "--device", options.device,
      "device profile of the cost model (default: configs/devices/cpu-1core.toml; for a GPU h200.toml)");
  command
      .add_option(
          "--costs", options.costs,
          "the costs that guide the search. measured: the device's rates, corrected by profiles of the model "
          "and of what is found; device: the rates alone, with the same result on every machine; alone: as "
          "in TASO, the sum over all operations, each measured by itself (default: measured; with --accept "
          "cost, and in a runtime whose adapter has no kernels: device)")
      ->check(one_of({"measured", "device", "alone"}));
  command
      .add_option("--database", options.database,
                  "kernels that were measured on this machine, which correct the costs too")
      ->capture_default_str();
}

}  // namespace

void add_optimise(Command& program, Action& action) {
  auto options = std::make_shared<OptimiseOptions>();
  Command* command =
      program.add_subcommand("optimise", "rewrite a model so that it runs faster, and check it");
  command->alias("optimize");
  command->add_option("IN", options->input, "the ONNX model")->required();
  command
      ->add_option("-o,--output", options->output,
                   "where the result goes; - for standard output. It may be IN, which is then replaced in "
                   "one step, at the end")
      ->required();
  add_search_options(*command, *options);
  command
      ->add_option("--accept", options->accept,
                   "emit what is measured faster (measured), or what the cost model calls cheaper (cost)")
      ->check(one_of({"measured", "cost"}))
      ->capture_default_str();
  std::vector<std::string> runtimes = runtime_names();
  runtimes.emplace_back("auto");
  command
      ->add_option(
          "--runtime", options->runtime,
          "the runtime to optimise for and to measure in, or several, with commas between: the fastest "
          "result of all counts. auto: all that are installed, but LibTorch; FILE.py: the adapter of "
          "another")
      ->check(known_runtimes(runtimes))
      ->capture_default_str();
  add_threads_option(*command, options->threads);
  command->add_flag("--settings", options->settings,
                    "also search for settings of the runtime's session, for IN and for the result. Those of "
                    "the result go to OUTPUT.session.json; a call without --settings removes that file");
  add_feed_options(*command, options->feed);
  command
      ->add_option("--fix", options->fixed,
                   "make a model for these sizes of dynamic dims alone: batch=1,seq=128. What follows from "
                   "them is then decided, also which branch an If takes")
      ->delimiter(',');
  command->add_option("--seed", options->seed, "seed of search, inputs and measurement")
      ->capture_default_str();
  command->add_option("--json", options->json, "write the report as JSON; - for standard output");
  command->add_option("--report", options->page,
                      "write a page of HTML: latencies, rewrites, trials, kernels, pictures of what changed");
  command->add_option("--log", options->log,
                      "write the rewrite log, for `regraft verify --log`; - for standard output");
  add_rule_and_cost_options(*command, *options);
  command
      ->add_option("--seconds", options->time.seconds,
                   "seconds to aim at for the whole call; a part that is given seconds of its own keeps them "
                   "(--budget, --trial-budget, --measure-budget)")
      ->check(in_range(1.0, 1e7))
      ->capture_default_str();
  command
      ->add_option("--trial-budget", options->time.trials,
                   "seconds to aim at for measuring which rewrites pay; 0 keeps all that the search found "
                   "(default: what the measurement leaves, at most a quarter of --seconds)")
      ->check(in_range(0.0, 86400.0));
  command
      ->add_option("--least-gain", options->least_gain, "percent by which the result must be measured faster")
      ->check(in_range(0.0, 1000.0))
      ->capture_default_str();
  command
      ->add_option("--measure-budget", options->time.measure,
                   "seconds to measure; at least 10 sessions a side run, or 5 where the result is clear "
                   "(default: what is left, at most 0.4 of --seconds)")
      ->check(in_range(1.0, 86400.0));
  command->add_flag("--quiet", options->quiet, "no progress");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}
