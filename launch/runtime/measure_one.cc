#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/exec/latency/measurement.h"
#include "launch/runtime/commands.h"

namespace regraft::launch {

void add_measure_one(Command& program, Action& action) {
  Command* command = program.add_subcommand("measure-one", "one measuring session in this process, as JSON");
  command->hide();  // started by bench and optimise; not for people
  command->prefix_command();
  command->callback([command, &action] {
    action = [arguments = command->remaining()] {
      std::cout << json_text(exec::to_json(exec::measure_here(exec::request_from_arguments(arguments))))
                << std::endl;
      return static_cast<int>(kDone);
    };
  });
}

void add_draw_inputs(Command& program, Action& action) {
  Command* command =
      program.add_subcommand("draw-inputs", "the inputs of a measuring session, into files of a folder");
  command->hide();  // started for sessions in other runtimes; not for people
  command->prefix_command();
  command->callback([command, &action] {
    action = [words = command->remaining()] {
      if (words.empty())
        throw UsageError("no folder given", "draw-inputs", "draw-inputs FOLDER MODEL [options]");
      exec::write_inputs(exec::request_from_arguments({words.begin() + 1, words.end()}), words[0]);
      return static_cast<int>(kDone);
    };
  });
}

}
