#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/version.h"
#include "launch/cli/commands.h"
#include "launch/cli/error_printer.h"
#include "launch/cli/numeric_options.h"
#include "launch/optimise/not_equivalent_error.h"
#include "launch/optimise/optimise.h"

namespace regraft::launch {
namespace {

constexpr std::array kCommands{
    add_train,      add_actor,     add_learner, add_collect,   add_optimise,    add_verify,
    add_explain,    add_bench,     add_profile, add_calibrate, add_inspect,     add_evaluate,
    add_experiment, add_report,    add_rules,   add_keys,      add_measure_one, add_check_controllers,
    add_find_feed,  add_completion};

/// The command that the arguments chose so far, the deepest one.
const CLI::App* chosen(const CLI::App* app) {
  const auto commands = app->get_subcommands();
  return commands.empty() ? app : chosen(commands.front());
}

std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty())
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) words.push_back(command->get_name());
  return words;
}

/// What to type for a command.
std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent ? path_of(*parent) + " " + command.get_name() : command.get_name();
}

/// What CLI11 says, with the nearest option or command for a word that it does not know.
UsageError usage_error(const CLI::App& program, const CLI::ParseError& error) {
  std::string text = error.what();
  const CLI::App* command = chosen(&program);
  const std::vector<std::string> unknown = command->remaining(true);
  if (!unknown.empty()) {
    text = "unknown option or command '" + unknown.front() + "'";
    const std::string hint = suggestion(unknown.front(), known_words(*command));
    if (std::filesystem::exists(unknown.front()))
      text += " (for the file of that name write ./" + unknown.front() + ")";
    else if (!hint.empty())
      text += " (" + hint + ")";
  }
  return UsageError(text, "", "run `" + path_of(*command) + " --help`");
}

/// What was printed has to arrive: a full disk behind standard output is an error as any other.
void flush_output() {
  const bool whole = std::cout.flush().good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!whole)
    throw FileError("cannot be written: " + std::generic_category().message(errno), "standard output",
                    "check where it goes");
}

int run(const Action& action, const ErrorPrinter& errors) {
  try {
    const int code = action();
    flush_output();
    return code;
  } catch (const UsageError& error) {
    errors.print(error);
    return kUsage;
  } catch (const NotEquivalentError& error) {
    errors.print(error);
    return kNotEquivalent;
  } catch (const Error& error) {
    errors.print(error);
  } catch (const std::bad_alloc&) {
    errors.print(Error("out of memory", "", ""));
  } catch (const std::exception& error) {
    errors.print(Error(std::string("unexpected: ") + error.what(), "", "please report this"));
  }
  return kFailed;
}

int main_program(int argc, char** argv) {
  const ErrorPrinter errors = ErrorPrinter::from_environment();
  CLI::App program(
      "regraft learns to rewrite deep-learning graphs so that they run faster, and checks that they still "
      "compute the same.",
      "regraft");
  program.set_version_flag("--version", std::string("regraft ") + kVersion);
  program.require_subcommand(1);
  Action action;
  for (const auto add : kCommands) add(program, action);
  check_numbers(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return program.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return program.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return program.exit(version);
  } catch (const CLI::ParseError& error) {
    errors.print(usage_error(program, error));
    return kUsage;
  }
  return run(action, errors);
}

}  // namespace
}  // namespace regraft::launch

int main(int argc, char** argv) {
  return regraft::launch::main_program(argc, argv);
}
