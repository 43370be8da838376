// The program whose processes run models for other commands. It is without LibTorch, which takes longer to
// load than many of them run.
#include <array>

#include "launch/command/program.h"
#include "launch/runtime/commands.h"

int main(int argc, char** argv) {
  using namespace regraft::launch;
  constexpr std::array<AddCommand, 5> kCommands{add_find_feed, add_verify, add_profile, add_measure_one,
                                                add_draw_inputs};
  return run_program(argc, argv, "what other commands of regraft have done in processes of their own",
                     kCommands);
}
