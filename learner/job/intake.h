#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <thread>

#include "core/base/mutex.h"
#include "core/wire/delivery.h"
#include "core/wire/ledger.h"
#include "learner/job/intake_counts.h"
#include "learner/job/job_hub.h"
#include "learner/job/ticket_result.h"

namespace regraft::learner {

/// The first half of the learner's pipeline: hub -> judge -> verdict -> queue. What cannot be read is
/// rejected, what lags more than the staleness budget is stale, the rest is admitted (journalled) and queued
/// in the same critical section, so that queue and journal mark agree. With a queue it works on a thread of
/// its own; while the queue is full no verdicts are given, so the hub issues no more tickets: memory is
/// bounded. Without one it works in next().
class Intake {
 public:
  struct Options {
    std::uint64_t staleness = 4;     // updates
    std::size_t queued_steps = 0;    // the queue is full at as many; 0: at as many results:
    std::size_t queued_results = 0;  // 0 too: no queue
    bool lock_step = false;          // what cannot be read ends the job
  };
  /// Throws ReplayError. Called by the intake's thread.
  using Judge = std::function<std::unique_ptr<TicketResult>(const wire::Delivery&)>;

  /// `version` of the weights is read at every verdict; `restored` is what a checkpoint held. Hub and ledger
  /// outlive it.
  Intake(JobHub& hub, wire::Ledger& ledger, Judge judge, const std::atomic<std::uint64_t>& version,
         const Options& options, TicketResults restored = {});
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  /// The next admitted result; none if none came in time. Throws what ended the thread: a full disk under
  /// the journal, a result that ends the job (ReplayError).
  std::unique_ptr<TicketResult> next(std::chrono::milliseconds wait);

  /// Holds the queue still: `save` is given all results that were admitted before the mark and not yet
  /// taken.
  void snapshot(const std::function<void(const wire::JournalMark& mark,
                                         std::span<const std::unique_ptr<TicketResult>> queued)>& save) const;

  IntakeCounts counts() const;

 private:
  void run(const std::stop_token& stopped);
  void take_in(const wire::Delivery& delivery, const std::stop_token& stopped);
  std::unique_ptr<TicketResult> read(const wire::Delivery& delivery) const;
  bool is_stale(const TicketResult& result) const;
  bool threaded() const { return options_.queued_steps > 0 || options_.queued_results > 0; }
  bool has_room() const REQUIRES(mutex_);

  JobHub& hub_;
  wire::Ledger& ledger_;
  const Judge judge_;
  const std::atomic<std::uint64_t>& version_;
  const Options options_;

  mutable Mutex mutex_;
  ConditionVariable room_, filled_;
  TicketResults queue_ GUARDED_BY(mutex_);  // oldest first
  std::size_t queued_steps_ GUARDED_BY(mutex_) = 0;
  IntakeCounts counts_ GUARDED_BY(mutex_);
  std::exception_ptr failure_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

}
