#include "launch/command/program.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <system_error>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/last_words.h"
#include "core/base/version.h"
#include "launch/call/exit_code.h"
#include "launch/call/not_equivalent_error.h"
#include "launch/command/error_printer.h"

namespace regraft::launch {
namespace {

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
                               "), most likely in the runtime as it ran the model (a fault of ours if "
                               "the model runs in ONNX Runtime alone)");
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
  } catch (const std::filesystem::filesystem_error& error) {
    errors.print(FileError(error.code().message(), error.path1(), "check the path and its permissions"));
  } catch (const std::bad_alloc&) {
    errors.print(Error("out of memory", "", "end other programs, or take a machine that has more"));
  } catch (const std::exception& error) {
    errors.print(Error(std::string("unexpected: ") + error.what(), "", "please report this"));
  }
  return kFailed;
}

}  // namespace

int run_program(int argc, char** argv, const std::string& description, std::span<const AddCommand> commands) {
  set_words_at_crashes();
  const ErrorPrinter errors = ErrorPrinter::from_environment();
  Command program("regraft", description, std::string("regraft ") + kVersion);
  program.require_subcommand();
  Action action;
  for (const AddCommand add : commands) add(program, action);
  const auto parse = [&] {
    if (const auto code = program.parse({argv + 1, argv + argc})) action = [code] { return *code; };
    return action();
  };
  return run(parse, errors);
}

}
