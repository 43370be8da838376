#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/last_words.h"
#include "core/base/version.h"
#include "launch/cli/commands.h"
#include "launch/cli/error_printer.h"
#include "launch/optimise/not_equivalent_error.h"
#include "launch/optimise/optimise.h"

namespace regraft::launch {
namespace {

constexpr std::array kCommands{
    add_train,      add_actor,       add_learner,   add_collect,   add_optimise,    add_verify,
    add_explain,    add_bench,       add_profile,   add_calibrate, add_inspect,     add_evaluate,
    add_experiment, add_report,      add_rules,     add_keys,      add_measure_one, add_check_controllers,
    add_find_feed,  add_draw_inputs, add_completion};

/// What was printed has to arrive: a full disk behind standard output is an error as any other.
void flush_output() {
  const bool whole = std::cout.flush().good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!whole)
    throw FileError("cannot be written: " + std::generic_category().message(errno), "standard output",
                    "check where it goes");
}

/// Crashes come of the runtimes, which compute what a model says.
void set_words_at_crashes() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    set_last_words(signal, std::string("regraft: crashed (") + ::strsignal(signal) +
                               "), most likely in the runtime as it ran the model (if the model runs in "
                               "ONNX Runtime alone, please report this)");
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
  set_words_at_crashes();
  const ErrorPrinter errors = ErrorPrinter::from_environment();
  Command program(
      "regraft",
      "regraft learns to rewrite deep-learning graphs so that they run faster, and checks that they "
      "still compute the same.",
      std::string("regraft ") + kVersion);
  program.require_subcommand();
  Action action;
  for (const auto add : kCommands) add(program, action);
  const auto parse = [&] {
    if (const auto code = program.parse({argv + 1, argv + argc})) action = [code] { return *code; };
    return action();
  };
  return run(parse, errors);
}

}  // namespace
}  // namespace regraft::launch

int main(int argc, char** argv) {
  return regraft::launch::main_program(argc, argv);
}
