#include "launch/cli/shell_completion.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/version.h"
#include "core/exec/equivalence/equivalence_report.h"
#include "launch/cli/commands.h"
#include "launch/command/choices.h"
#include "launch/optimise/optimise_report.h"
#include "launch/runtime/profile.h"

namespace regraft::launch {
namespace {

/// All commands, and the keys of reports by reports in which nothing was measured.
nlohmann::json as_json(const CommandInfo& program) {
  nlohmann::json json = to_json(program);
  json["version"] = kVersion;
  json["reports"] = {{"optimise", nlohmann::json::parse(OptimiseReport{}.to_json())},
                     {"verify", exec::to_json(exec::EquivalenceReport{})},
                     {"profile", profile_json(exec::KernelProfile{}, exec::Feed{})}};
  return json;
}

int print(const Command& program, const std::string& format) {
  const CommandInfo info = describe(program);
  const std::string text = format == "bash"  ? bash_completion(info)
                           : format == "zsh" ? zsh_completion(info)
                                             : as_json(info).dump(1) + "\n";
  std::fputs(text.c_str(), stdout);
  return kDone;
}

}  // namespace

void add_completion(Command& program, Action& action) {
  auto format = std::make_shared<std::string>();
  Command* command = program.add_subcommand(
      "completion",
      "print a script by which a shell completes these commands: source <(regraft completion bash)");
  command
      ->add_option("FORMAT", *format,
                   "the shell; or json, for programs: all commands, their options and the keys of reports")
      ->required()
      ->check(one_of({"bash", "zsh", "json"}));
  command->callback(
      [format, &program, &action] { action = [format, &program] { return print(program, *format); }; });
}

}
