#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/wire/counters.h"
#include "core/wire/delivery.h"
#include "core/wire/frame.h"
#include "core/wire/keys.h"
#include "core/wire/message.h"
#include "core/wire/part_info.h"
#include "core/wire/relayed_actors.h"
#include "core/wire/run_info.h"
#include "core/wire/weights.h"

namespace regraft::wire {

struct LinkOptions {
  /// Asked before every attempt to connect, so that a run file that a restarted learner has rewritten is read
  /// again. Must be safe to call from the link's thread. Throws WireError(kClosed) where the run has ended.
  std::function<RunInfo()> locate;
  KeyPair keys;                              // ignored where the run is plain
  std::string actor;                         // unique among those that join the same hub
  std::string kind;                          // random, policy, dream
  std::uint64_t incarnation = 0;             // given by the supervisor, raised at every restart
  std::uint32_t tickets_wanted = 2;          // in hand at a time: one to work on, the others to come next
  std::uint32_t connect_timeout_ms = 10000;  // for joining the first time
  std::uint32_t silence_timeout_ms = 10000;  // without a word from the learner, until it is looked for anew
  std::uint32_t give_up_after_ms = 120000;   // of looking for it
  std::uint32_t fetch_timeout_ms = 10000;    // of a learner that was joined, for any next chunk of weights
  std::uint64_t max_weights_bytes = std::uint64_t{1} << 30;
  bool of_relay = false;    // joins while its user goes on, and tells nothing of its own process
  std::stop_token stopped;  // ends a fetch that waits
};

/// An actor's end of the transport. A thread of its own sends heartbeats, keeps the connection and finds the
/// learner again after a restart; results that were not acknowledged are sent again (the learner admits a
/// ticket once).
///   next_ticket() -> act -> send() ... send(last) -> next_ack()
/// Any thread may call, but fetch() and stand_for() are for one, the actor's.
///
/// Errors, from any call once they are known: WireError kKey: the own key is not authorised or revoked, or
/// the learner's key is not the expected one. kRefused: wrong run, name taken, or a newer incarnation joined.
/// kTimeout: nobody answers. kClosed: the run has ended; an actor then ends normally.
class Link {
 public:
  /// Joins; throws as above, kAddress if there is no usable endpoint. A relay's returns at once: its calls
  /// throw then.
  Link(LinkOptions options, const Clock& clock);
  /// Leaves: what was not acknowledged gets a moment to be sent.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// None if none came in time.
  std::optional<Ticket> next_ticket(std::chrono::milliseconds wait);
  /// Until there is a ticket or an acknowledgement; false if there was none in time.
  bool wait(std::chrono::milliseconds wait) const;
  /// The learner is told at once where actors or tickets change, else with the next heartbeat.
  void stand_for(const RelayedActors& relayed);
  /// False once the learner no longer waits for this ticket (it was restarted): give the work up.
  bool wanted(const Ticket& ticket) const;

  /// Queues one part of a result; its frames are not copied and must not change. Returns wanted(). Throws
  /// WireError(kMisuse) if the weight version differs from the ticket's earlier parts, or the result exceeds
  /// the learner's ticket_bytes.
  bool send(const Ticket& ticket, const PartInfo& part, std::vector<Frame> frames);
  /// A whole result that a hub has taken in, as it came, with the policy steps of its last part.
  bool send_whole(const Ticket& ticket, std::vector<Part> parts);
  /// The next acknowledgement; none if none came in time. The last 4096 are kept.
  std::optional<Ack> next_ack(std::chrono::milliseconds wait);
  /// Waits until all that was sent is acknowledged; false if it was not in time.
  bool flush(std::chrono::milliseconds wait);

  /// The newest version the learner has spoken of.
  WeightsInfo latest() const;
  /// Fetches a version (0: the latest) and checks its hash; asks again where the connection was lost on the
  /// way, and of the learner that is found then. Only between tickets: throws WireError(kMisuse) while a
  /// ticket has parts sent but not its last; kGone if the version is no longer kept (ask for the latest),
  /// kCorrupt, kTimeout, kClosed also where a stop was asked for.
  Weights fetch(std::uint64_t version);

  /// The generation of the learner that was joined last; 0 before.
  std::uint64_t generation() const;
  TransportCounters counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}
