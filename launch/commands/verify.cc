#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "actors/bindings.h"
#include "core/base/file.h"
#include "core/exec/equivalence.h"
#include "core/exec/user_inputs.h"
#include "launch/commands/commands.h"
#include "launch/replay_log.h"

namespace regraft::launch {
namespace {

struct Options {
  std::filesystem::path original, optimised;
  std::optional<std::filesystem::path> json, log;
  std::vector<std::string> bindings;
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path rules = "configs/rules";
  std::uint64_t seed = 0;
  bool bit_equal = false;
  bool finite = false;
};

void print(const exec::EquivalenceReport& report) {
  std::printf("%-40s %14s %14s %14s\n", "output", "relative error", "tolerance", "own spread");
  for (const exec::OutputReport& output : report.outputs) {
    std::printf("%-40s %14.3g %14.3g %14.3g%s\n", output.name.c_str(), output.relative_error,
                output.tolerance, output.spread, output.agrees ? "" : "  DIFFERS");
    if (!output.problem.empty()) std::printf("  %s\n", output.problem.c_str());
  }
  for (const std::string& binding : report.bindings) std::printf("compared at %s\n", binding.c_str());
  if (!report.extremes.empty())
    std::printf("compared on %zu draws of extremes, too\n", report.extremes.size());
  for (const std::string& note : report.notes) std::printf("note: %s\n", note.c_str());
  std::printf("%s: %s\n", report.equivalent ? "equivalent" : "NOT equivalent", report.reason.c_str());
}

int verify(const Options& options) {
  if (options.log) {
    const ReplayReport replay =
        check_replay(options.original, options.optimised, *options.log, options.rules);
    std::fprintf(stderr, "log: %zu rewrites replayed, output %s\n", replay.rewrites,
                 replay.identical ? "byte-identical" : "DIFFERS");
    if (!replay.identical) return kNotEquivalent;
  }
  exec::EquivalenceOptions check;
  check.agreement = options.bit_equal ? exec::Agreement::bit_equal : exec::Agreement::within_tolerance;
  check.bound = actors::parse_bindings(options.bindings);
  check.seed = options.seed;
  check.finite = options.finite;
  std::optional<exec::UserInputs> inputs;
  if (!options.inputs.empty()) check.inputs = &inputs.emplace(exec::UserInputs::load(options.inputs));
  const exec::EquivalenceReport report = exec::check_equivalence(options.original, options.optimised, check);
  const std::string text = exec::to_json(report).dump(2) + "\n";
  const bool to_stdout = options.json && *options.json == "-";
  if (to_stdout)
    std::cout << text;
  else
    print(report);
  if (options.json && !to_stdout) write_file_atomic(*options.json, text);
  return report.equivalent ? kDone : kNotEquivalent;
}

}  // namespace

void add_verify(CLI::App& program, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("verify", "check that two models compute the same");
  command->add_option("ORIGINAL", options->original, "the model to compare with")->required();
  command->add_option("OPTIMISED", options->optimised, "the model to check")->required();
  command->add_option("--log", options->log,
                      "replay this rewrite log first: it must give OPTIMISED to the byte");
  command->add_option("--bind", options->bindings, "values of dynamic dims: batch=8,seq=128")->delimiter(',');
  command->add_option(
      "--inputs", options->inputs,
      "compare on these inputs: one .npz, .pb files in the order of the inputs, or a folder of them");
  command
      ->add_option("--rules", options->rules,
                   "the rules that the log was made with ('tested' where they were asked for)")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of the random inputs")->capture_default_str();
  command->add_option("--json", options->json,
                      "write the report as JSON; - for standard output instead of the table");
  command->add_flag("--bit-equal", options->bit_equal, "outputs must be equal to the bit");
  command->add_flag("--finite", options->finite,
                    "compare on finite numbers only: what rules with the mark 'finite' keep");
  command->callback([options, &action] { action = [options] { return verify(*options); }; });
}

}  // namespace regraft::launch
