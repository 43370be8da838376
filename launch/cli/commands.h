#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "launch/call/exit_code.h"

namespace regraft::launch {

/// What the chosen command does, returning an exit code; set by the command's callback, run after parsing, so
/// that errors are caught in one place.
using Action = std::function<int()>;

// One function a command: declares its options on the program and sets `action` when it is chosen. To add a
// command: one file here, one declaration, one row in kCommands (main.cc).
void add_train(CLI::App& program, Action& action);
void add_actor(CLI::App& program, Action& action);
void add_learner(CLI::App& program, Action& action);
void add_optimise(CLI::App& program, Action& action);
void add_verify(CLI::App& program, Action& action);
void add_explain(CLI::App& program, Action& action);
void add_bench(CLI::App& program, Action& action);
void add_profile(CLI::App& program, Action& action);
void add_calibrate(CLI::App& program, Action& action);
void add_measure_one(CLI::App& program, Action& action);
void add_find_feed(CLI::App& program, Action& action);
void add_inspect(CLI::App& program, Action& action);
void add_evaluate(CLI::App& program, Action& action);
void add_experiment(CLI::App& program, Action& action);
void add_report(CLI::App& program, Action& action);
void add_rules(CLI::App& program, Action& action);
void add_rules_import(CLI::App& rules, Action& action);    // below `rules`
void add_rules_generate(CLI::App& rules, Action& action);  // below `rules`
void add_rules_usage(CLI::App& rules, Action& action);     // below `rules`
void add_keys(CLI::App& program, Action& action);
void add_completion(CLI::App& program, Action& action);
void add_collect(CLI::App& program, Action& action);
void add_check_controllers(CLI::App& program, Action& action);  // of a job's step `choice`

}  // namespace regraft::launch
