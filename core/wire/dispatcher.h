#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/wire/delivery.h"
#include "core/wire/result_sizes.h"
#include "core/wire/ticket_book.h"
#include "core/wire/weights_store.h"

namespace regraft::wire {

/// Limits of the learner's side. A ticket reserves what results like its own needed lately (ResultSizes),
/// from then on what its result needs, until its verdict. No ticket is issued that would bring the sum above
/// max_outstanding_bytes, nor while as many results wait for their verdicts as actors may hold.
struct DispatchOptions {
  std::uint64_t ticket_bytes = std::uint64_t{4} << 20;             // largest result, all parts together
  std::uint64_t max_outstanding_bytes = std::uint64_t{256} << 20;  // of all tickets without a verdict
  std::uint32_t max_tickets_per_actor = 4;                         // in the hands of one actor
  std::uint32_t max_parts = 64;                                    // of one result
  std::uint32_t max_actors = 1024;
  std::uint32_t max_actors_per_connection = 256;  // that a relay may speak for
  std::uint32_t heartbeat_ms = 1000;              // at most, between two heartbeats of an actor
  std::uint32_t actor_timeout_ms = 10000;         // of silence, until an actor's tickets are lost
  bool deterministic = false;  // lost work is issued again; versions are kept until their tickets close
};

/// An actor as the learner sees it.
struct ActorStatus {
  ActorInfo info;
  std::uint32_t actors = 1;  // more behind a relay: what follows are their sums
  std::uint64_t tickets_held = 0;
  std::uint64_t waited_ns = 0;             // without a ticket, since it joined
  std::uint64_t waited_for_memory_ns = 0;  // of that, since there was no memory for its results
  std::uint64_t policy_steps = 0;          // since this worker started
  std::uint64_t process_cpu_ns = 0;        // of the worker
  std::uint64_t wire_cpu_ns = 0;           // of its transport threads
  RelayTraffic relayed{};
};

/// The learner's half of the protocol without its sockets: bytes in, messages to send and finished results
/// out. It introduces actors, issues tickets as credits, puts results together, and closes what its actor can
/// no longer deliver. Used by the hub's thread alone.
///
/// Errors: WireError(kJournal) from the ledger passes through; nothing that depends on the failed record is
/// then sent.
class Dispatcher {
 public:
  /// Who sent: the transport's name of the connection, and the key it proved (empty on plain transport).
  struct Sender {
    std::string connection;
    std::string key;
  };
  struct Outgoing {
    std::string connection;
    Message message;
  };
  struct Ports {
    std::uint16_t weights = 0;
    std::uint16_t announce = 0;
  };

  Dispatcher(const DispatchOptions& options, TicketBook& ledger, WeightsStore& weights, TicketSource source,
             const Clock& clock);

  void set_ports(const Ports& ports) { ports_ = ports; }

  /// A message as it came: never throws on what an actor may send.
  void on_message(const Sender& from, std::span<const std::byte> header, std::vector<Frame> frames);
  /// The transport knows the connection no more: its actor keeps what it holds until it is back on another
  /// one, or counts as silent.
  void on_away(const std::string& connection);
  /// It takes no messages.
  void on_unreachable(const std::string& connection);
  /// The ledger has closed a delivered ticket: acknowledges it.
  void on_decided(std::uint64_t id, Verdict verdict);

  /// Closes the tickets of silent actors and issues new ones. Call after every batch of events and every
  /// heartbeat.
  void tick();
  /// Drops the actors whose key is no longer good.
  void drop_unauthorised(const std::function<bool(const std::string& key)>& authorised);
  void stop_issuing() { issuing_ = false; }
  void say_bye();

  std::vector<Outgoing> take_outgoing() { return std::exchange(outgoing_, {}); }
  std::vector<Delivery> take_deliveries() { return std::exchange(deliveries_, {}); }
  std::vector<ActorStatus> actors() const;
  /// Messages that were malformed or out of place.
  std::uint64_t protocol_errors() const { return protocol_errors_; }

 private:
  struct Held {
    Ticket ticket;
    std::vector<Part> parts;
    std::uint64_t bytes = 0;     // of these
    std::uint64_t reserved = 0;  // for all
  };
  struct Peer {
    ActorStatus status;
    std::string key;
    std::uint32_t wanted = 1;
    std::int64_t last_heard_ns = 0;
    bool away = false;
    std::map<std::uint64_t, Held> held;
    std::int64_t counted_ns = 0;  // waits until then are in its status
    bool needs_memory = false;    // for the tickets that it waits for
  };
  struct Again {
    std::string kind;  // of actor
    TicketSpec spec;
  };
  struct Delivered {
    std::string actor;
    Ticket ticket;
    std::uint64_t bytes = 0;
  };
  using Peers = std::map<std::string, Peer>;

  void on_hello(const Sender& from, const Hello& hello);
  void on_result(Peer& peer, const std::string& connection, const Result& result, std::vector<Frame> frames);
  void on_heartbeat(Peer& peer, const std::string& connection, const Heartbeat& beat);
  bool admits(const Sender& from, const Hello& hello);
  std::map<std::uint64_t, Held> take_over(const Hello& hello);
  void deliver(Peer& peer, std::map<std::uint64_t, Held>::iterator held);
  void reject(Peer& peer, const std::string& connection, std::map<std::uint64_t, Held>::iterator held);
  void drop_peer(Peers::iterator peer);
  void lose(const std::string& kind, const Ticket& ticket);
  void unpin(const Ticket& ticket);
  /// One ticket a turn for each of a peer's actors, round and round from where the last call ended, so that
  /// no actor starves behind the others.
  void issue_all();
  /// Whether there is memory for another result: what actors wait from now on counts so.
  void note_memory(bool is_short);
  /// Takes what a peer holds out of its hands; its reservation ends.
  Held take_from(Peer& peer, std::map<std::uint64_t, Held>::iterator held);
  /// Adds the waits until now, of as many actors as the peer has more than tickets.
  void count_wait(const Peer& peer, ActorStatus& status) const;
  /// Before anything changes that waits depend on.
  void settle_wait(Peer& peer);
  std::size_t actor_count() const;
  bool issue_one(const std::string& connection, Peer& peer);
  std::optional<TicketSpec> next_spec(const Peer& peer);
  void refuse(const std::string& connection, Refusal reason, const std::string& text);
  void send(const std::string& connection, Message message);
  Peers::iterator peer_named(const std::string& actor);

  const DispatchOptions options_;
  TicketBook& ledger_;
  WeightsStore& weights_;
  TicketSource source_;
  const Clock& clock_;
  Ports ports_;
  bool issuing_ = true;
  std::uint64_t protocol_errors_ = 0;
  Peers peers_;                                        // by connection
  std::map<std::string, std::uint64_t> incarnations_;  // highest seen, by actor
  std::map<std::uint64_t, Delivered> delivered_;       // without verdict, by ticket
  ResultSizes sizes_;
  std::uint64_t reserved_ = 0;  // bytes, of all tickets without a verdict
  std::deque<Again> again_;
  std::string last_served_;   // connection, so that the turn goes round
  std::uint32_t served_ = 0;  // tickets that it has had in its turn
  std::vector<Outgoing> outgoing_;
  std::vector<Delivery> deliveries_;
};

}
