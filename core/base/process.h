#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"

namespace regraft {

/// A program that could not be started or waited for.
class ProcessError : public Error {
 public:
  using Error::Error;
};

/// Where a child's output stream goes.
enum class Redirect { inherit, pipe };

/// A program to start. Its standard input is /dev/null.
struct SpawnOptions {
  std::vector<std::string> argv{};  // argv[0]: the program, looked up in PATH unless it holds a slash
  std::vector<std::pair<std::string, std::string>>
      environment{};  // added to, or replacing, this process's own
  std::optional<std::filesystem::path> working_folder{};
  Redirect output = Redirect::inherit, errors = Redirect::inherit;
  /// Sent to the child when the thread that spawned it ends (prctl PR_SET_PDEATHSIG), so that no child
  /// outlives a killed parent; 0 for none. Spawn from a thread that lives as long as the child may.
  int death_signal = 9;
  /// In a process group of its own, so that a terminal's Ctrl-C does not reach it.
  bool own_group = false;
};

/// How a child ended.
struct ExitStatus {
  int code = 0;      // of exit(); 128 + signal when a signal ended it, as shells say
  int signal = 0;    // 0: it ended by itself
  double cpu_s = 0;  // user and system time
  bool ok() const { return code == 0; }
  std::string describe() const;  // "exit code 3", "killed by signal 9 (Killed)"
};

/// A running child process; used by one thread. The destructor kills it (SIGKILL) and waits, if it is still
/// running.
class Child {
 public:
  /// Throws ProcessError when the program cannot be started; a missing program is found here too.
  explicit Child(const SpawnOptions& options);
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  /// The reading ends of pipes, where asked for.
  const FileDescriptor& output() const { return output_; }
  const FileDescriptor& errors() const { return errors_; }

  /// How it ended, nothing while it runs. Once it has ended all of these give the same answer.
  std::optional<ExitStatus> poll() { return wait_for(std::chrono::milliseconds(0)); }
  std::optional<ExitStatus> wait_for(std::chrono::milliseconds limit);
  ExitStatus wait();

  /// Sends a signal, unless it has ended.
  void signal(int number);
  /// SIGTERM, and SIGKILL when it still runs after `grace`.
  ExitStatus terminate(std::chrono::milliseconds grace);

 private:
  void reap();

  pid_t pid_ = -1;
  FileDescriptor handle_;  // pidfd
  FileDescriptor output_, errors_;
  std::optional<ExitStatus> status_;
};

struct Captured {
  ExitStatus status;
  std::string output, errors;
  bool timed_out = false;  // it was killed at the limit
};

/// Runs a program to its end and collects what it wrote; output and errors of `options` are ignored. Throws
/// ProcessError when it cannot be started.
Captured capture_output(SpawnOptions options, std::chrono::milliseconds limit = std::chrono::hours(24));

/// Whether `work` returns, within so many seconds, in a copy of this process: a fault there ends the copy
/// alone. An exception counts as a failure, and what work does to memory is lost. Only the calling thread is
/// in the copy, so work may wait for no other. Throws ProcessError where there can be no copy.
bool returns_in_a_copy(const std::function<void()>& work, unsigned seconds);

}
