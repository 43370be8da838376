#include <cstdint>
#include <memory>

#include "launch/cli/commands.h"
#include "launch/job/learner_process.h"

namespace regraft::launch {
namespace {

struct LearnerArguments {
  learner::RunFolder folder;
  std::uint64_t incarnation = 1;
};

}  // namespace

void add_learner(Command& program, Action& action) {
  auto options = std::make_shared<LearnerArguments>();
  Command* command = program.add_subcommand("learner", "the learner's worker process of a prepared run");
  command->hide();  // started by train
  command->add_option("--run", options->folder.root, "run folder")->required();
  command->add_option("--incarnation", options->incarnation, "number of this start");
  command->callback(
      [options, &action] { action = [options] { return run_learner_process(options->folder); }; });
}

}  // namespace regraft::launch
