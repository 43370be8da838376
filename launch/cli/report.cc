#include <filesystem>
#include <string>
#include <vector>

#include "launch/call/call_files.h"
#include "launch/cli/become_experiments.h"
#include "launch/cli/commands.h"

namespace regraft::launch {
namespace {

struct ReportArguments {
  std::vector<std::string> folders;
  std::filesystem::path output = "report.html";
};

}  // namespace

void add_report(Command& program, Action& action) {
  auto options = std::make_shared<ReportArguments>();
  Command* command =
      program.add_subcommand("report", "write curves of runs and results of experiments as one HTML file");
  command
      ->add_option("FOLDER", options->folders,
                   "folders of `regraft train --run` or `regraft experiment --out`")
      ->required()
      ->check(existing_folder());
  command->add_option("-o,--output", options->output, "the file; - for standard output")
      ->capture_default_str();
  command->callback([options, &action] {
    action = [options]() -> int {
      CallFiles().writes("--output", options->output);
      become_experiments(
          {{"command", "report"}, {"folders", options->folders}, {"output", options->output.string()}});
    };
  });
}

}
