#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/wire/counters.h"
#include "core/wire/delivery.h"
#include "core/wire/dispatcher.h"
#include "core/wire/keys.h"
#include "core/wire/run_info.h"
#include "core/wire/ticket_book.h"

namespace regraft::wire {

struct HubOptions {
  /// Where to listen: tcp://HOST:PORT and ipc://PATH, at most one of each. Port p also takes p+1 and p+2
  /// (weights and their announcements), * takes free ones; an ipc path takes PATH.weights and PATH.announce.
  std::vector<std::string> bind;
  KeyPair server_keys;               // empty with plain
  std::filesystem::path authorised;  // folder of public keys
  bool plain = false;                // no encryption: loopback and ipc only
  DispatchOptions dispatch;
};

/// Counts and actors, for progress lines and metrics.
struct HubStatus {
  std::vector<ActorStatus> actors;
  std::uint64_t outstanding = 0;      // tickets without a final state
  std::uint64_t waiting = 0;          // deliveries that nobody has taken
  std::uint64_t protocol_errors = 0;  // messages that no honest actor sends
  WeightsInfo latest;

  /// Those behind relays counted.
  std::size_t actor_count() const;
};

/// The learner's end of the transport.
///   results:  ROUTER -> dispatcher -> queue -> take() -> decide() -> journal -> acknowledgement
///   weights:  publish() -> store -> PUB and ROUTER on a thread of their own
/// take(), decide(), publish() and the questions may be called by any thread. The ledger and the clock
/// outlive it.
///
/// Memory is bounded by DispatchOptions::max_outstanding_bytes, as far as results need what earlier ones
/// needed: a delivery counts until it is decided. Errors on the hub's thread (a full disk under the journal)
/// end it: nothing is acknowledged any more, and take() and decide() throw what happened.
class Hub {
 public:
  /// Binds and starts. Throws WireError: kAddress (in use, not loopback with plain), kKey (no keys without
  /// plain).
  Hub(HubOptions options, TicketBook& ledger, TicketSource source, const Clock& clock);
  /// Without stop() before, as where an error unwinds the learner, nobody is told that the run has ended:
  /// the actors look for the learner's next generation, as after a crash, until their
  /// patience ends.
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  /// For the run file and for MPI's broadcast.
  const RunInfo& run_info() const;

  /// The next finished result; none after `wait`, or at once after stop().
  std::optional<Delivery> take(std::chrono::milliseconds wait);
  /// The verdict on a delivery: kAdmitted, kStale or kRejected; of a relay's also kLate. Journalled when it
  /// returns, acknowledged soon after. Returns the recorded state; only what comes back as kAdmitted may be
  /// trained on.
  Verdict decide(const Ticket& ticket, Verdict verdict);

  /// Makes a weight version available and announces it. Versions ascend.
  WeightsInfo publish(std::uint64_t version, std::vector<std::byte> bytes);
  /// The same for a version that another hub published: in any order, and as often as one likes.
  void pass_on(std::uint64_t version, std::vector<std::byte> bytes);

  /// The ticket source has work again.
  void wake();
  /// Ends the issue of tickets; results still come in.
  void stop_issuing();
  /// Says goodbye to all, drops what is outstanding in the ledger, closes the sockets. What was not decided
  /// is lost to training, so take and decide it before.
  void stop();

  HubStatus status() const;
  /// Waits until `condition` holds of the status; false if it did not in time or the hub has ended.
  bool wait_for(const std::function<bool(const HubStatus&)>& condition, std::chrono::milliseconds wait) const;
  TransportCounters counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}
