#include "core/base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <system_error>

#include "core/base/resource_usage.h"

namespace regraft {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

[[noreturn]] void throw_errno(const std::string& what, const std::string& where, int code = errno) {
  throw ProcessError(what + ": " + std::generic_category().message(code), where,
                     code == ENOENT ? "check that the program is installed and in PATH" : "");
}

struct Pipe {
  FileDescriptor read_end, write_end;
};

Pipe make_pipe(const std::string& program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("cannot make a pipe", program);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// One of the child's output streams: what it gets as its own descriptor, and what the parent keeps.
struct Stream {
  FileDescriptor child_end, parent_end;
};

Stream open_stream(Redirect redirect, const std::string& program) {
  if (redirect == Redirect::inherit) return {};
  Pipe pipe = make_pipe(program);
  return {std::move(pipe.write_end), std::move(pipe.read_end)};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& added) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos)
      variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : added) variables[name] = value;
  std::vector<std::string> result;
  for (const auto& [name, value] : variables) result.push_back(name + "=" + value);
  return result;
}

// All that the child needs between fork and exec, made before: there it may call async-signal-safe functions
// only.
struct Launch {
  char** argv;
  char** environment;
  const char* working_folder;
  int input_fd, output_fd, errors_fd;  // -1: inherited
  int death_signal;
  bool own_group;
  pid_t parent;
  int failure_fd;
};

[[noreturn]] void report_and_exit(const Launch& launch) {
  const int code = errno;
  [[maybe_unused]] const ssize_t written = ::write(launch.failure_fd, &code, sizeof code);
  ::_exit(127);
}

[[noreturn]] void become(const Launch& launch) {
  if (launch.death_signal != 0) {
    if (::prctl(PR_SET_PDEATHSIG, launch.death_signal) != 0) report_and_exit(launch);
    if (::getppid() != launch.parent) ::_exit(127);  // the parent died before the line above
  }
  if (launch.own_group) ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (launch.input_fd >= 0 && ::dup2(launch.input_fd, STDIN_FILENO) < 0) report_and_exit(launch);
  if (launch.output_fd >= 0 && ::dup2(launch.output_fd, STDOUT_FILENO) < 0) report_and_exit(launch);
  if (launch.errors_fd >= 0 && ::dup2(launch.errors_fd, STDERR_FILENO) < 0) report_and_exit(launch);
  if (launch.working_folder && ::chdir(launch.working_folder) != 0) report_and_exit(launch);
  ::execvpe(launch.argv[0], launch.argv, launch.environment);
  report_and_exit(launch);
}

// 0 when the exec went well: its close-on-exec end of the pipe then closes without a word.
int startup_failure(const FileDescriptor& failures) {
  int code = 0;
  while (::read(failures.get(), &code, sizeof code) < 0 && errno == EINTR) {
  }
  return code;
}

// Reads what is there; false at the end of the stream.
bool drain(int fd, std::string& into) {
  std::array<char, 65536> chunk;
  const ssize_t got = ::read(fd, chunk.data(), chunk.size());
  if (got > 0) into.append(chunk.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

milliseconds time_left(steady_clock::time_point deadline) {
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(deadline - steady_clock::now()));
}

// Waits for a descriptor event, through interrupts; poll takes an int of milliseconds, so long waits are cut.
int poll_until(std::span<pollfd> watched, steady_clock::time_point deadline) {
  while (true) {
    const auto left = time_left(deadline);
    const int ready = ::poll(watched.data(), watched.size(),
                             static_cast<int>(std::min(left, milliseconds(1'000'000)).count()));
    if (ready > 0 || (ready < 0 && errno != EINTR) || left.count() == 0) return ready;
  }
}

}  // namespace

std::string ExitStatus::describe() const {
  if (signal == 0) return "exit code " + std::to_string(code);
  return "killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

Child::Child(const SpawnOptions& options) {
  if (options.argv.empty()) throw ProcessError("there is no program to start", "spawn", "");
  const std::string& program = options.argv.front();
  std::vector<std::string> arguments = options.argv, environment = merged_environment(options.environment);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  Stream output = open_stream(options.output, program), errors = open_stream(options.errors, program);
  const FileDescriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Pipe failures = make_pipe(program);
  const Launch launch{const_cast<char**>(argv.data()),
                      const_cast<char**>(envp.data()),
                      options.working_folder ? options.working_folder->c_str() : nullptr,
                      input.get(),
                      output.child_end.get(),
                      errors.child_end.get(),
                      options.death_signal,
                      options.own_group,
                      ::getpid(),
                      failures.write_end.get()};
  pid_ = ::fork();
  if (pid_ < 0) throw_errno("cannot start a process", program);
  if (pid_ == 0) become(launch);
  failures.write_end.close();
  if (const int code = startup_failure(failures.read_end)) {
    ::waitpid(pid_, nullptr, 0);
    throw_errno("cannot be started", program, code);
  }
  // By number: the header of Debian 12's C library declares pidfd_open without extern "C".
  handle_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!handle_) {
    const int code = errno;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    throw_errno("cannot be watched", program, code);
  }
  output_ = std::move(output.parent_end);
  errors_ = std::move(errors.parent_end);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      handle_(std::move(other.handle_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)),
      status_(other.status_) {}

Child::~Child() {
  if (pid_ < 0 || status_) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Child::reap() {
  int raw = 0;
  rusage usage{};
  while (::wait4(pid_, &raw, 0, &usage) < 0) {
    if (errno != EINTR) throw_errno("cannot be waited for", "process " + std::to_string(pid_));
  }
  ExitStatus status;
  status.signal = WIFSIGNALED(raw) ? WTERMSIG(raw) : 0;
  status.code = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
  status.cpu_s = cpu_seconds(usage);
  status_ = status;
}

std::optional<ExitStatus> Child::wait_for(milliseconds limit) {
  if (status_) return status_;
  pollfd watched{handle_.get(), POLLIN, 0};
  if (poll_until({&watched, 1}, steady_clock::now() + limit) > 0) reap();
  return status_;
}

ExitStatus Child::wait() {
  if (!status_) reap();
  return *status_;
}

void Child::signal(int number) {
  if (!poll()) ::kill(pid_, number);
}

ExitStatus Child::terminate(milliseconds grace) {
  signal(SIGTERM);
  if (const auto status = wait_for(grace)) return *status;
  signal(SIGKILL);
  return wait();
}

Captured capture_output(SpawnOptions options, milliseconds limit) {
  options.output = options.errors = Redirect::pipe;
  const auto deadline = steady_clock::now() + limit;
  Child child(options);
  Captured captured;
  std::array watched{pollfd{child.output().get(), POLLIN, 0}, pollfd{child.errors().get(), POLLIN, 0}};
  std::array sinks{&captured.output, &captured.errors};
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    if (poll_until(watched, deadline) <= 0) break;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].fd >= 0 && watched[i].revents != 0 && !drain(watched[i].fd, *sinks[i]))
        watched[i].fd = -1;
    }
  }
  const auto ended = child.wait_for(time_left(deadline));
  captured.timed_out = !ended;
  captured.status = ended ? *ended : child.terminate(milliseconds(0));
  return captured;
}

bool returns_in_a_copy(const std::function<void()>& work, unsigned seconds) {
  const pid_t copy = ::fork();
  if (copy < 0) throw ProcessError(std::strerror(errno), "fork", "end other processes");
  if (copy == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) std::signal(fault, SIG_DFL);
    if (const int null = ::open("/dev/null", O_RDWR); null >= 0) {
      ::dup2(null, STDOUT_FILENO);
      ::dup2(null, STDERR_FILENO);
    }
    ::alarm(seconds);
    try {
      work();
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(copy, &status, 0) < 0)
    if (errno != EINTR) throw ProcessError(std::strerror(errno), "waitpid", "");
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}
