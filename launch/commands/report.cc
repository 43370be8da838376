#include <cstdio>
#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "launch/call_files.h"
#include "launch/commands/commands.h"
#include "launch/experiment/report.h"

namespace regraft::launch {
namespace {

struct Options {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path output = "report.html";
};

}  // namespace

void add_report(CLI::App& program, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      program.add_subcommand("report", "one HTML file of the curves of runs and the results of experiments");
  command->add_option("FOLDER", options->folders, "of `regraft train --run` or `regraft experiment --out`")
      ->required()
      ->check(CLI::ExistingDirectory);
  command->add_option("-o,--output", options->output, "the file; - for standard output")
      ->capture_default_str();
  command->callback([options, &action] {
    action = [options] {
      CallFiles().writes("--output", options->output);
      write_file_atomic(options->output, report_html(options->folders));
      std::printf("%s\n", options->output.c_str());
      return kDone;
    };
  });
}

}  // namespace regraft::launch
