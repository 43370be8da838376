#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/json_text.h"
#include "core/exec/equivalence/check_equivalence.h"
#include "core/task/bindings.h"
#include "launch/call/call_files.h"
#include "launch/command/add_feed_options.h"
#include "launch/graphs/log_replay.h"
#include "launch/runtime/commands.h"

namespace regraft::launch {
namespace {

struct VerifyArguments {
  std::filesystem::path original, optimised;
  std::optional<std::filesystem::path> json, log, session;
  std::optional<double> probe_s;
  bool nonempty = false;
  bool verdict_only = false;
  FeedOptions feed;
  std::vector<std::string> fixed;
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

int verify(VerifyArguments& options) {
  CallFiles files;
  files.writes("--json", options.json);
  files.reads("ORIGINAL", options.original);
  files.reads("OPTIMISED", options.optimised);
  files.reads("--log", options.log);
  files.reads("--session", options.session);
  files.reads_rules("--rules", options.rules);
  for (const std::filesystem::path& input : options.feed.inputs)
    if (!std::filesystem::is_directory(input)) files.reads("--inputs", input);
  exec::EquivalenceOptions check;
  check.fixed = task::parse_bindings(options.fixed, "--fix");
  if (options.log) {
    const ReplayReport replay =
        check_replay(options.original, options.optimised, *options.log, options.rules);
    std::fprintf(stderr, "log: %zu rewrites replayed, output %s\n", replay.rewrites,
                 replay.identical ? "byte-identical" : "DIFFERS");
    if (!replay.identical) return kNotEquivalent;
    if (check.fixed.empty()) check.fixed = replay.fixed;
  }
  check.agreement = options.bit_equal ? exec::Agreement::bit_equal : exec::Agreement::within_tolerance;
  const exec::Feed feed = feed_of(options.original, options.feed, options.seed);
  const std::unique_ptr<exec::InputSource> inputs = feed.source();
  for (const exec::FeedPoint& point : feed.points) check.points.push_back(point.sizes);
  check.inputs = inputs.get();
  check.seed = options.seed;
  check.finite = options.finite;
  check.nonempty = options.nonempty;
  check.probe_s = options.probe_s.value_or(check.probe_s);
  check.verdict_only = options.verdict_only;
  if (options.session)
    check.session = exec::SessionOptions{exec::Optimisation::all,
                                         exec::session_threads(exec::kThreadsOfRuntime),
                                         {},
                                         {},
                                         exec::parse_settings(read_file(*options.session), *options.session)};
  const exec::EquivalenceReport report = exec::check_equivalence(options.original, options.optimised, check);
  const std::string text = json_text(exec::to_json(report), 2) + "\n";
  print(report);
  if (options.json) write_file_atomic(*options.json, text);
  return report.equivalent ? kDone : kNotEquivalent;
}

}  // namespace

void add_verify(Command& program, Action& action) {
  auto options = std::make_shared<VerifyArguments>();
  Command* command = program.add_subcommand("verify", "check that two models compute the same");
  command->add_option("ORIGINAL", options->original, "the model to compare with")->required();
  command->add_option("OPTIMISED", options->optimised, "the model to check")->required();
  command->add_option("--log", options->log,
                      "replay this rewrite log first: it must give OPTIMISED to the byte");
  add_feed_options(*command, options->feed);
  command
      ->add_option("--fix", options->fixed,
                   "the sizes of dynamic dims that OPTIMISED was made for, and no others: batch=1,seq=128 "
                   "(default: as in --log)")
      ->delimiter(',');
  command
      ->add_option("--rules", options->rules,
                   "the rules that the log was made with, as `optimise --rules` was given them")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of the random inputs")->capture_default_str();
  command->add_option(
      "--json", options->json,
      "write the report as JSON; - for standard output, and the table then goes to standard error");
  Option* bit_equal =
      command->add_flag("--bit-equal", options->bit_equal, "outputs must be equal to the bit");
  command
      ->add_option("--session", options->session,
                   "run OPTIMISED with all of the runtime's optimisation and with these settings of its "
                   "session, as `optimise --settings` wrote them")
      ->excludes(bit_equal);
  command
      ->add_option("--probe-seconds", options->probe_s,
                   "end the original's runs at further sizes and on extreme inputs after so long; the other "
                   "model then runs on the same (default: no limit)")
      ->check(non_negative_number())
      ->excludes(bit_equal);
  command->add_flag("--verdict-only", options->verdict_only,
                    "do not look for where a difference begins, nor whether ORIGINAL is random");
  command->add_flag("--nonempty", options->nonempty,
                    "try no dims of 0: rules with the mark 'nonempty' do not hold there");
  command->add_flag("--finite", options->finite,
                    "compare only where numbers are finite: rules with the mark 'finite' promise no more");
  command->callback([options, &action] { action = [options] { return verify(*options); }; });
}

}
