#include <cstdio>
#include <filesystem>
#include <memory>

#include "core/nn/inference/device.h"
#include "launch/cli/commands.h"
#include "launch/evaluate/controller_choice.h"
#include "launch/job/job_config.h"

namespace regraft::launch {
namespace {

struct CheckControllersArguments {
  std::filesystem::path run, dream;
};

int check_controllers(const CheckControllersArguments& options) {
  nn::set_torch_threads(1);
  const learner::RunFolder job{options.run};
  ControllerChoice choice(job, {options.dream}, load_run_config(job));
  choice.check_rest([](const CheckedController& checked) {
    std::fprintf(stderr,
                 "regraft: checked the controller of update %llu: predicted %.4f, real %.4f, |predicted - "
                 "real| %.4f, %.1f %% of the actions not legal\n",
                 static_cast<unsigned long long>(checked.update), checked.predicted, checked.real,
                 checked.mean_error, 100 * checked.illegal_share);
  });
  return kDone;
}

}  // namespace

void add_check_controllers(Command& program, Action& action) {
  auto options = std::make_shared<CheckControllersArguments>();
  Command* command = program.add_subcommand(
      "check-controllers", "dreams of the controllers of a model-based job's last round, taken for real");
  command->hide();  // started by train
  command->add_option("--run", options->run, "the job's folder")->required();
  command->add_option("--dream", options->dream, "that of the dream")->required();
  command->callback([options, &action] { action = [options] { return check_controllers(*options); }; });
}

}
