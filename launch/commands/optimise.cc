#include "launch/optimise.h"

#include <cstdio>
#include <map>

#include "core/base/text.h"
#include "core/graph/op.h"
#include "launch/commands/commands.h"
#include "launch/searches.h"

namespace regraft::launch {
namespace {

std::vector<std::string> search_choices() {
  std::vector<std::string> names{"none"};
  names.insert(names.end(), search_names().begin(), search_names().end());
  return names;
}

/// Known choices only, with the nearest one for others.
CLI::Validator one_of(std::vector<std::string> choices) {
  const std::string help = "one of " + join(choices, ", ");
  return CLI::Validator(
      [choices = std::move(choices)](const std::string& value) {
        for (const std::string& choice : choices)
          if (value == choice) return std::string();
        return "'" + value + "' is not known (" + suggestion(value, choices) + ")";
      },
      help);
}

/// Each file that is written needs a path of its own: the later would replace the earlier.
void check_paths(const OptimiseOptions& options) {
  std::map<std::filesystem::path, const char*> taken;
  const auto take = [&](const std::optional<std::filesystem::path>& path, const char* option) {
    if (!path) return;
    const auto [held, fresh] =
        taken.emplace(std::filesystem::weakly_canonical(std::filesystem::absolute(*path)), option);
    if (!fresh)
      throw UsageError("is the path of " + std::string(held->second) + " too",
                       std::string(option) + " " + path->string(), "give each output a path of its own");
  };
  take(options.output, "--output");
  take(options.json, "--json");
  take(options.log, "--log");
}

int run(const OptimiseOptions& options) {
  check_paths(options);
  try {
    const OptimiseReport report = optimise(options);
    std::printf("%s%s\n", report.text().c_str(), options.output.c_str());
    return kDone;
  } catch (const NotEquivalentError& error) {
    std::fprintf(stderr, "regraft: %s\n", error.what());
    return kNotEquivalent;
  }
}

}  // namespace

void add_optimise(CLI::App& program, Action& action) {
  auto options = std::make_shared<OptimiseOptions>();
  CLI::App* command =
      program.add_subcommand("optimise", "rewrite a model so that it runs faster, and check it");
  command->alias("optimize");
  command->add_option("IN", options->input, "the ONNX model")->required();
  command->add_option("-o,--output", options->output, "where the result goes")->required();
  command->add_option("--policy", options->policy, "a trained policy (default: the shipped one)");
  command->add_option("--search", options->search, "how to search; none: import and export only")
      ->check(one_of(search_choices()))
      ->capture_default_str();
  command
      ->add_option("--script", options->script,
                   "a file of rewrites to make, in place of a search; as in configs/scripts")
      ->excludes("--search");
  command->add_option("--budget", options->budget_s, "seconds of searching")
      ->check(CLI::Range(0.0, 1e7))
      ->capture_default_str();
  command->add_option("--expansions", options->expansions, "graphs expanded at most (0: no limit)");
  command
      ->add_option("--accept", options->accept,
                   "emit what is measured faster, or what the cost model calls cheaper")
      ->check(one_of({"measured", "cost"}))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "of the runtime when measuring")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--bind", options->bindings, "values of dynamic dims: batch=8,seq=128")->delimiter(',');
  command->add_option("--seed", options->seed, "of search, inputs and measurement")->capture_default_str();
  command->add_option("--json", options->json, "write the report as JSON");
  command->add_option("--log", options->log, "write the rewrite log, for `regraft verify --log`");
  command
      ->add_option(
          "--rules", options->rules,
          "a .rules file or a folder of them; 'tested': those too that are neither proved nor bounded")
      ->capture_default_str();
  command
      ->add_option("--allow-domain", options->domains,
                   "let rules make ops of a runtime's own domain: the output is for that runtime alone")
      ->check(one_of({graph::runtime_domains().begin(), graph::runtime_domains().end()}));
  command->add_flag("--strict", options->strict,
                    "without rules that hold for finite or bounded numbers only: configs/rules/marks.md");
  command->add_option("--device", options->device, "device profile of the cost model")->capture_default_str();
  command->add_option("--measure-budget", options->measure_s, "seconds aimed at for the measurement")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str();
  command->add_flag("--quiet", options->quiet, "no progress");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace regraft::launch
