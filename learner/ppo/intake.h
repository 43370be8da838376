#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/wire/hub.h"
#include "core/wire/ledger.h"
#include "learner/ppo/episode.h"

namespace regraft::learner {

struct IntakeCounts {
  std::uint64_t admitted = 0;
  std::uint64_t stale = 0;
  std::uint64_t rejected = 0;       // malformed and other_head
  std::uint64_t malformed = 0;      // broken, or not of its ticket
  std::uint64_t other_head = 0;     // acted with another kind of policy, or of actions, than is trained
  std::uint64_t steps = 0;          // of admitted episodes
  std::uint64_t played_steps = 0;   // of all well-formed ones, whatever the verdict
  std::uint64_t payload_bytes = 0;  // of all deliveries
  std::uint64_t queued_episodes = 0, queued_steps = 0;  // admitted and not yet taken, now
};

/// The first half of the learner's pipeline, on a thread of its own: hub -> decode -> verdict -> queue. What
/// is malformed or of another head (or kind of actions) is rejected, what lags more than the staleness budget
/// is stale, the rest is admitted (journalled) and queued in the same critical section, so that a snapshot of
/// the queue and the journal mark agree. While the queue is full no verdicts are given, so the hub issues no
/// more tickets: memory is bounded.
class Intake {
 public:
  struct Options {
    std::uint64_t staleness_budget = 4;  // updates
    std::size_t queued_steps = 512;      // the queue is full at as many; 0: at as many episodes:
    std::size_t queued_episodes = 16;
    bool hierarchical = false;     // the policy that is trained decides in two halves
    bool everywhere = false;       // it chooses among rules at all of their sites, too
    bool reject_is_fatal = false;  // a deterministic run cannot go on without a ticket
  };

  /// `latest_version` is read at every verdict. Hub and ledger outlive it.
  Intake(wire::Hub& hub, wire::Ledger& ledger, const std::atomic<std::uint64_t>& latest_version,
         const Options& options);
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  /// Puts back what a checkpoint held. Before anything is taken.
  void restore(std::vector<Episode> episodes);

  /// The next admitted episode; none if none came in time. Throws what ended the thread: a full disk under
  /// the journal, a fatal reject (ReplayError).
  std::optional<Episode> next(std::chrono::milliseconds wait);

  struct Snapshot {
    wire::JournalMark mark;
    std::vector<Episode> queued;  // admitted before the mark and not yet taken
  };
  Snapshot snapshot() const;

  IntakeCounts counts() const;

 private:
  void run(const std::stop_token& stopped);
  void take_in(const wire::Delivery& delivery, const std::stop_token& stopped);
  bool is_stale(const Episode& episode) const;

  wire::Hub& hub_;
  wire::Ledger& ledger_;
  const std::atomic<std::uint64_t>& latest_version_;
  const Options options_;
  bool has_room() const;

  mutable std::mutex mutex_;
  std::condition_variable_any room_, filled_;
  std::deque<Episode> queue_;
  std::size_t queued_steps_ = 0;
  IntakeCounts counts_;
  std::exception_ptr failure_;
  std::jthread thread_;
};

}  // namespace regraft::learner
