#include <cstdint>
#include <memory>

#include "launch/cli/commands.h"
#include "launch/job/learner_process.h"

namespace regraft::launch {
namespace {

struct LearnerArguments {
  learner::RunFolder folder;
  std::uint64_t incarnation = 1;
  std::uint32_t rank = 0;
  std::filesystem::path key;
};

}  // namespace

void add_learner(Command& program, Action& action) {
  auto options = std::make_shared<LearnerArguments>();
  Command* command = program.add_subcommand("learner", "the learner's worker process of a prepared run");
  command->hide();  // started by train
  command->add_option("--run", options->folder.root, "run folder")->required();
  command->add_option("--incarnation", options->incarnation, "number of this start");
  command->add_option("--rank", options->rank, "number among the learners of the job; 0: the first");
  command->add_option("--key", options->key, "its key pair; the first one needs none");
  command->callback([options, &action] {
    action = [options] {
      return options->rank == 0 ? run_learner_process(options->folder)
                                : run_peer_process(options->folder, options->rank, options->key);
    };
  });
}

}
