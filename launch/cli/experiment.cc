#include <string>

#include "core/base/error.h"
#include "launch/cli/become_experiments.h"
#include "launch/cli/commands.h"

namespace regraft::launch {
namespace {

struct ExperimentArguments {
  std::string name, out;
  bool small = false, list = false, plan = false;
};

}  // namespace

void add_experiment(Command& program, Action& action) {
  auto options = std::make_shared<ExperimentArguments>();
  Command* command = program.add_subcommand(
      "experiment", "run an experiment of configs/experiments; runs that are done are not repeated");
  Option* name = command->add_option("NAME", options->name, "name of the experiment, or a .toml file");
  command->add_option("--out", options->out, "the folder of its results (default: results/experiments/NAME)");
  command->add_flag("--small", options->small, "run its small form: fewer values, less time");
  command->add_flag("--plan", options->plan, "print its commands and run none");
  command->add_flag("--list", options->list, "list the experiments")->excludes(name);
  command->callback([options, &action] {
    if (options->name.empty() && !options->list)
      throw UsageError("NAME or --list is required", "", "run `regraft experiment --help`");
    action = [options]() -> int {
      become_experiments({{"command", "experiment"},
                          {"name", options->name},
                          {"out", options->out},
                          {"small", options->small},
                          {"plan", options->plan},
                          {"list", options->list}});
    };
  });
}

}
