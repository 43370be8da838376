#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/process.h"

namespace regraft::launch {

/// A worker process to keep alive.
struct WorkerSpec {
  std::string name;  // for messages: "learner", "actor-3"
  std::vector<std::string> argv;
  bool leads = false;    // when it ends well the job is over: the other workers get `grace` to end too
  bool numbered = true;  // "--incarnation K" is appended
  bool saves = true;     // when it gets SIGUSR1; others would be killed by it
};

struct SupervisorOptions {
  std::chrono::milliseconds grace{20000};       // from asking a worker to stop until it is killed
  std::int64_t quick_death_ns = 2'000'000'000;  // a worker that dies sooner than this after its start...
  int quick_deaths_allowed = 5;                 // ...as often as this in a row is given up
  std::function<void(const std::string& line)> report;  // one line for each event; may be empty
};

/// Starts workers, and starts those again that are killed or fail, so that a lost process does not end the
/// job. Each start has the next incarnation number, from 1. Exit code 0 ends a worker for good, and so does 2
/// (it was called wrongly).
///
/// Signals to the supervisor: SIGTERM, SIGINT and SIGUSR1 ask every worker (SIGTERM) to save and end, the
/// leader first; SIGCONT, which mpirun sends before SIGTERM, makes them save at once (SIGUSR1). Workers die
/// with the supervisor (PDEATHSIG SIGTERM). run() must be called by the main thread, before other threads
/// exist: it blocks signals.
class Supervisor {
 public:
  Supervisor(std::vector<WorkerSpec> workers, SupervisorOptions options, const Clock& clock);

  /// Blocks the signals that run() reads: for programs that start threads before it (MPI does).
  static void block_signals();

  /// Until all workers have ended; none is started where a signal to stop came before. 0 when they ended well
  /// or were asked to stop and did; else the code of the worst.
  int run();

  /// Whether a signal asked it to stop.
  bool asked_to_stop() const { return asked_; }

 private:
  struct Worker {
    WorkerSpec spec;
    std::optional<Child> child;
    std::uint64_t incarnation = 0;
    std::int64_t started_ns = 0;
    int quick_deaths = 0;
    int exit_code = 0;
  };

  void start(Worker& worker);
  void reap(Worker& worker);
  bool should_restart(Worker& worker, const ExitStatus& status);
  void handle_signal(int number);
  void stop_all(bool leaders_only);
  void kill_overdue();
  bool any_running() const;
  void say(const std::string& line) const;

  std::vector<Worker> workers_;
  SupervisorOptions options_;
  const Clock& clock_;
  bool stopping_ = false, asked_ = false;
  std::int64_t deadline_ns_ = 0;
};

}
