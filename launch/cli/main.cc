#include <array>

#include "launch/cli/commands.h"
#include "launch/command/program.h"
#include "launch/runtime/commands.h"

int main(int argc, char** argv) {
  using namespace regraft::launch;
  constexpr std::array<AddCommand, 21> kCommands{
      add_train,
      add_actor,
      add_relay,
      add_learner,
      add_collect,
      add_optimise,
      add_verify,
      add_explain,
      add_bench,
      add_profile,
      add_calibrate,
      add_inspect,
      add_evaluate,
      add_experiment,
      add_report,
      add_rules,
      add_keys,
      add_corpus,
      add_check_controllers,
      add_completion,
      add_measure_torch,
  };
  return run_program(argc, argv,
                     "regraft learns to rewrite deep-learning graphs so that they run faster, and checks "
                     "that they still compute the same.",
                     kCommands);
}
