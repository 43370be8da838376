#include <cstdio>
#include <filesystem>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/find_config.h"
#include "core/rulegen/taso/import_taso.h"
#include "launch/call/call_files.h"
#include "launch/cli/commands.h"

namespace regraft::launch {
namespace {

struct RulesImportArguments {
  std::filesystem::path file;
  std::optional<std::filesystem::path> out, json;
  std::filesystem::path known = "configs/rules";
  rulegen::TasoOptions import;
};

int run(RulesImportArguments& options) {
  using Status = rulegen::TasoOutcome::Status;
  CallFiles files;
  files.writes("--out", options.out);
  files.writes("--json", options.json);
  files.reads("FILE", options.file);
  files.reads_rules("--rules", options.known);
  const MappedFile file(options.file);
  const auto rules = rulegen::read_taso_rules(file.bytes(), options.file.string());
  const auto known = rules::RuleSet::load(find_config(options.known), rules::RuleStatus::tested);
  const rulegen::TasoImport import = rulegen::import_taso(rules, known, options.import);
  if (options.out) write_file_atomic(*options.out, import.rules_text(options.file.filename().string()));
  if (options.json) write_file_atomic(*options.json, import.json());
  std::printf("%-28s %5zu\n", "rules in the file", rules.size());
  for (const Status status : {Status::imported, Status::guarded, Status::refused})
    std::printf("%-28s %5zu\n", rulegen::to_string(status), import.count(status));
  std::printf("%-28s %5zu\n", "unsound as written", import.unsound());
  std::printf("%-28s %5zu\n", "known already", import.known());
  const auto missing = import.sound_but_unknown();
  if (!missing.empty()) std::printf("sound, not known:");
  for (const std::size_t number : missing) std::printf(" %zu", number);
  if (!missing.empty()) std::printf("\n");
  for (const auto& outcome : import.outcomes) {
    if (outcome.status == Status::imported) continue;
    std::printf("%4zu %s: %s\n", outcome.number, rulegen::to_string(outcome.status), outcome.reason.c_str());
    if (!outcome.counterexample.empty()) std::printf("     unsound: %s\n", outcome.counterexample.c_str());
  }
  return kDone;
}

}  // namespace

void add_rules_import(Command& rules, Action& action) {
  auto options = std::make_shared<RulesImportArguments>();
  Command* command = rules.add_subcommand("import", "translate TASO's rule file into the rule language");
  command->add_option("FILE", options->file, "TASO's file of rules, graph_subst.pb")->required();
  command->add_option("-o,--out", options->out, "where the rules go; - for standard output");
  command->add_option("--json", options->json,
                      "where to write what became of each rule; - for standard output");
  command->add_option("--rules", options->known, "rules to compare with")->capture_default_str();
  command->add_option("--examples", options->import.examples, "exact examples of each rule")
      ->capture_default_str()
      ->check(in_range(8, 100000));
  command
      ->add_option("--steps", options->import.derivation_steps,
                   "a rule is known if known rules derive it in at most so many steps")
      ->capture_default_str()
      ->check(in_range(1, 6));
  command->add_option("--seed", options->import.seed, "seed of the examples")->capture_default_str();
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}
