#include "launch/job/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <cstdlib>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace regraft::launch {
namespace {

constexpr char kWaitPolicy[] = "OMP_WAIT_POLICY";

constexpr std::array kSignals{SIGTERM, SIGINT, SIGUSR1, SIGCONT, SIGCHLD};
constexpr int kUsageExit = 2, kForGoodExit = 4;  // starting the worker again cannot help

/// Blocks the signals above for this thread, reads them from a descriptor, and restores the mask.
class SignalReader {
 public:
  SignalReader() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int number : kSignals) sigaddset(&wanted, number);
    sigprocmask(SIG_BLOCK, &wanted, &before_);
    descriptor_ = FileDescriptor(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!descriptor_) throw ProcessError(std::strerror(errno), "signalfd", "");
  }
  ~SignalReader() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalReader(const SignalReader&) = delete;
  SignalReader& operator=(const SignalReader&) = delete;

  /// Waits at most `timeout_ms` (-1: for ever) and gives the signals that came.
  std::vector<int> wait(int timeout_ms) {
    pollfd waiting{descriptor_.get(), POLLIN, 0};
    std::vector<int> numbers;
    if (poll(&waiting, 1, timeout_ms) <= 0) return numbers;
    signalfd_siginfo info{};
    while (read(descriptor_.get(), &info, sizeof info) == sizeof info)
      numbers.push_back(static_cast<int>(info.ssi_signo));
    return numbers;
  }

 private:
  sigset_t before_{};
  FileDescriptor descriptor_;
};

}  // namespace

void Supervisor::block_signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : kSignals) sigaddset(&wanted, number);
  pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
}

Supervisor::Supervisor(std::vector<WorkerSpec> workers, SupervisorOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  for (WorkerSpec& spec : workers) {
    workers_.emplace_back();
    workers_.back().spec = std::move(spec);
  }
}

int Supervisor::run() {
  SignalReader signals;
  for (const int number : signals.wait(0)) handle_signal(number);
  for (Worker& worker : workers_)
    if (!stopping_) start(worker);
  while (any_running()) {
    const std::int64_t left_ns = deadline_ns_ - clock_.steady_ns();
    const int timeout_ms = stopping_
                               ? static_cast<int>(std::clamp<std::int64_t>(left_ns / 1'000'000, 1, 1000))
                               : 1000;  // not for ever: another thread of the process may take a SIGCHLD
    for (const int number : signals.wait(timeout_ms)) handle_signal(number);
    for (Worker& worker : workers_) reap(worker);
    kill_overdue();
  }
  int worst = 0;
  for (const Worker& worker : workers_) worst = std::max(worst, worker.exit_code);
  return worst;
}

void Supervisor::start(Worker& worker) {
  SpawnOptions spawn;
  // LibTorch's threads are OpenMP's, which wait for each other in busy loops. Where other processes want the
  // cores, a learner of two threads spent four fifths of its time there. A policy that the user set is kept.
  if (std::getenv(kWaitPolicy) == nullptr) spawn.environment.emplace_back(kWaitPolicy, "passive");
  spawn.argv = worker.spec.argv;
  ++worker.incarnation;
  if (worker.spec.numbered) {
    spawn.argv.push_back("--incarnation");
    spawn.argv.push_back(std::to_string(worker.incarnation));
  }
  spawn.death_signal = SIGTERM;
  spawn.own_group = true;
  worker.child.emplace(spawn);
  worker.started_ns = clock_.steady_ns();
}

void Supervisor::reap(Worker& worker) {
  if (!worker.child) return;
  const std::optional<ExitStatus> status = worker.child->poll();
  if (!status) return;
  worker.child.reset();
  if (should_restart(worker, *status)) {
    start(worker);
    say(worker.spec.name + ": " + status->describe() + "; restarted as incarnation " +
        std::to_string(worker.incarnation));
    return;
  }
  const bool asked = stopping_ && status->signal != 0;
  worker.exit_code = asked ? 0 : status->code;
  if (worker.exit_code != 0) say(worker.spec.name + ": " + status->describe() + "; given up");
  if (!stopping_ && (worker.spec.leads || worker.exit_code != 0)) stop_all(false);
}

bool Supervisor::should_restart(Worker& worker, const ExitStatus& status) {
  if (stopping_ || status.ok() || status.code == kUsageExit || status.code == kForGoodExit) return false;
  const bool quick = clock_.steady_ns() - worker.started_ns < options_.quick_death_ns;
  worker.quick_deaths = quick ? worker.quick_deaths + 1 : 0;
  return worker.quick_deaths < options_.quick_deaths_allowed;
}

void Supervisor::handle_signal(int number) {
  if (number == SIGCHLD) return;
  if (number == SIGCONT) {
    for (Worker& worker : workers_)
      if (worker.child && worker.spec.saves) worker.child->signal(SIGUSR1);
    return;
  }
  say(std::string("got ") + strsignal(number) + ": saving and stopping");
  asked_ = true;
  const bool led =
      std::any_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.spec.leads && w.child; });
  stop_all(led && !stopping_);
}

/// The leader says goodbye to the others itself; they are asked directly when there is none, or at the second
/// signal.
void Supervisor::stop_all(bool leaders_only) {
  const bool ended_by_leader = !leaders_only && !stopping_;
  if (!stopping_) deadline_ns_ = clock_.steady_ns() + std::chrono::nanoseconds(options_.grace).count();
  stopping_ = true;
  const bool leader_failed = std::any_of(workers_.begin(), workers_.end(), [](const Worker& w) {
    return w.spec.leads && !w.child && w.exit_code != 0;
  });
  const bool leader_gone =
      std::none_of(workers_.begin(), workers_.end(), [](const Worker& w) { return w.spec.leads && w.child; });
  for (Worker& worker : workers_) {
    const bool waits_for_goodbye = ended_by_leader && leader_gone && !leader_failed && !worker.spec.leads;
    if (worker.child && (!leaders_only || worker.spec.leads) && !waits_for_goodbye)
      worker.child->signal(SIGTERM);
  }
}

void Supervisor::kill_overdue() {
  if (!stopping_ || clock_.steady_ns() < deadline_ns_) return;
  for (Worker& worker : workers_) {
    if (!worker.child) continue;
    say(worker.spec.name + ": did not stop in time; killed");
    worker.child->signal(SIGKILL);
  }
  deadline_ns_ = clock_.steady_ns() + std::chrono::nanoseconds(options_.grace).count();
}

bool Supervisor::any_running() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return worker.child.has_value(); });
}

void Supervisor::say(const std::string& line) const {
  if (options_.report) options_.report(line);
}

}
