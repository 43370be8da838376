#pragma once

#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/wire/delivery.h"
#include "core/wire/part_info.h"
#include "core/wire/relayed_actors.h"

// Inside core/wire only.

namespace regraft::wire {

/// Where weights are fetched.
struct WeightsPlace {
  std::string endpoint;      // empty while there is no learner
  std::string server_key;    // empty: plain transport
  std::uint64_t joined = 0;  // how often a learner was joined: its connections are others each time

  bool operator==(const WeightsPlace&) const = default;
};

/// What the actor's thread and the link's thread share: tickets, unacknowledged results, the newest weights,
/// the first fatal error. Every call is one short lock.
class LinkState {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // For the actor's thread; all but wanted(), latest() and generation() throw the failure, if there is one.
  std::optional<Ticket> next_ticket(Milliseconds wait);
  bool send(const Ticket& ticket, const PartInfo& info, std::vector<Frame> frames);
  bool send_whole(const Ticket& ticket, std::vector<Part> parts);
  std::optional<Ack> next_ack(Milliseconds wait);
  bool flush(Milliseconds wait);
  bool wait(Milliseconds wait) const;
  bool wanted(const Ticket& ticket) const;
  WeightsInfo latest() const;
  void wait_until_joined();
  std::uint64_t generation() const;
  /// For a fetch: throws WireError(kMisuse) in the middle of a ticket. No endpoint while there is no learner.
  WeightsPlace weights_place() const;
  /// Once there is a learner; kClosed where a stop was asked for before.
  WeightsPlace await_weights_place(const std::stop_token& stopped) const;

  /// Whether actors or tickets are others than before.
  bool stand_for(const RelayedActors& relayed);

  // For the link's thread.
  /// A learner of this generation has welcomed us: older tickets are void, unacknowledged results are sent
  /// again.
  void on_welcome(const Welcome& welcome, const std::string& weights_endpoint, const std::string& server_key);
  /// The learner is looked for.
  void on_lost();
  void on_grant(const Ticket& ticket);
  void on_ack(const Ack& ack);
  void on_latest(const WeightsInfo& info);
  void fail(std::exception_ptr error);
  bool failed() const;
  std::vector<std::uint64_t> held(std::uint64_t generation) const;
  /// What others than this process have done, and steps.
  Heartbeat heartbeat() const;
  bool has_part_to_send() const;
  /// A shared copy of the next part, which stays next until part_sent().
  std::optional<Part> part_to_send() const;
  void part_sent();

 private:
  struct Open {
    Ticket ticket;
    std::vector<Part> parts;
    std::uint64_t bytes = 0;
    bool complete = false;
  };
  struct Place {
    std::uint64_t ticket = 0;
    std::size_t part = 0;
  };

  void throw_failure() const REQUIRES(mutex_);
  void expect_between_tickets() const REQUIRES(mutex_);
  bool add_part(const Ticket& ticket, const PartInfo& info, std::vector<Frame> frames) REQUIRES(mutex_);
  void give_up_older(std::uint64_t generation) REQUIRES(mutex_);
  void push_ack(const Ack& ack) REQUIRES(mutex_);
  void skip_acknowledged() REQUIRES(mutex_);

  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  std::deque<Ticket> tickets_ GUARDED_BY(mutex_);          // received, not yet taken
  std::map<std::uint64_t, Open> open_ GUARDED_BY(mutex_);  // taken or received, not acknowledged
  std::deque<Place> to_send_ GUARDED_BY(mutex_);
  std::deque<Ack> acks_ GUARDED_BY(mutex_);
  WeightsInfo latest_ GUARDED_BY(mutex_);
  WeightsPlace weights_place_ GUARDED_BY(mutex_);
  std::uint64_t generation_ GUARDED_BY(mutex_) = 0;
  std::uint64_t ticket_bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t policy_steps_ GUARDED_BY(mutex_) = 0;
  RelayedActors relayed_ GUARDED_BY(mutex_);
  bool joined_ GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ GUARDED_BY(mutex_);
};

}
