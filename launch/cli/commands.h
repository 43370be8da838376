#pragma once

#include "launch/call/exit_code.h"
#include "launch/command/command.h"

namespace regraft::launch {

// One function a command: declares its options on the program and sets `action` when it is chosen. To add a
// command: one file here, one declaration, one row in kCommands (main.cc).
void add_train(Command& program, Action& action);
void add_actor(Command& program, Action& action);
void add_relay(Command& program, Action& action);
void add_learner(Command& program, Action& action);
void add_optimise(Command& program, Action& action);
void add_explain(Command& program, Action& action);
void add_bench(Command& program, Action& action);
void add_calibrate(Command& program, Action& action);
void add_measure_torch(Command& program, Action& action);
void add_inspect(Command& program, Action& action);
void add_evaluate(Command& program, Action& action);
void add_experiment(Command& program, Action& action);
void add_report(Command& program, Action& action);
void add_rules(Command& program, Action& action);
void add_rules_import(Command& rules, Action& action);    // below `rules`
void add_rules_generate(Command& rules, Action& action);  // below `rules`
void add_rules_usage(Command& rules, Action& action);     // below `rules`
void add_keys(Command& program, Action& action);
void add_completion(Command& program, Action& action);
void add_collect(Command& program, Action& action);
void add_corpus(Command& program, Action& action);
void add_check_controllers(Command& program, Action& action);  // of a job's step `choice`

}
