#pragma once

#include <sys/types.h>
#include <atomic>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "core/base/mutex.h"
#include "core/base/other_load.h"
#include "core/wire/counters.h"
#include "core/wire/delivery.h"
#include "core/wire/dispatcher.h"
#include "learner/job/intake_counts.h"

namespace regraft::learner {

/// What the learner's process and its transport have done so far, at one moment.
struct LearnerLoad {
  std::int64_t at_ns = 0;
  std::uint64_t cpu_ns = 0;                        // of the process
  std::map<pid_t, std::uint64_t> thread_cpu_ns{};  // of each of its threads
  wire::TransportCounters moved{};
  IntakeCounts intake{};
};

/// Measures a job between two moments. Actors tell their CPU time once a second and their steps with each
/// result, so that of each actor whole intervals count: from one of its results, or its tellings, to another.
/// Links of one process tell one CPU time. deliver() may be called beside the others.
class LoadMeter {
 public:
  /// `replayed`: results come irregularly, so that all steps between the two moments count instead.
  explicit LoadMeter(bool replayed) : replayed_(replayed) {}

  void deliver(const wire::Delivery& delivery, std::uint64_t steps, std::int64_t now_ns);
  /// Call it a few times a second, all actors being at work; the first call begins.
  void look(LearnerLoad load, std::span<const wire::ActorStatus> actors);
  double seconds() const { return begun_ ? static_cast<double>(now_.at_ns - begin_.at_ns) * 1e-9 : 0; }

  /// Rates and CPU times, all of the time between the first look and the last.
  nlohmann::json figures() const;

 private:
  /// A counter at a first and at a last moment.
  struct CounterInterval {
    std::int64_t first_ns = 0, last_ns = 0;
    std::uint64_t value = 0, first_value = 0;
    double per_s() const;
  };
  double steps_per_s() const REQUIRES(mutex_);

  const bool replayed_;
  std::atomic<bool> begun_ = false;
  LearnerLoad begin_, now_;
  std::map<std::uint64_t, CounterInterval> cpu_;  // of actors' processes, by their number
  std::map<std::string, std::uint64_t> waited_before_ns_;
  std::uint64_t waited_ns_ = 0;  // without a ticket, all actors together
  std::size_t actors_ = 0;
  std::optional<OtherLoad> others_;  // the actors among them
  double others_processors_ = 0;
  mutable Mutex mutex_;
  std::map<std::string, CounterInterval> steps_ GUARDED_BY(mutex_);  // by actor
  std::uint64_t segments_ GUARDED_BY(mutex_) = 0;
};

/// Adds to figures of a load test what follows from those of another one, with fewer actors. These are
/// `efficiency` (steps a second and actor), `cpu_inflation` and `actor_cpu_inflation` (CPU time a step), and
/// `predicted_steps_per_s`. That is in proportion to the actors, until the processors or the learner's
/// busiest thread have no time left, each step taking what it took in the other one. Simulated environments
/// are predicted in proportion alone: at low rates CPU time is of ticks, not of steps.
void compare_loads(nlohmann::json& figures, const nlohmann::json& baseline);

}
