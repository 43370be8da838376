#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/wire/delivery.h"
#include "core/wire/part_info.h"

// Inside core/wire only.

namespace regraft::wire {

/// What the actor's thread and the link's thread share: tickets, unacknowledged results, the newest weights,
/// the first fatal error. Every call is one short lock.
class LinkState {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // For the actor's thread; all but wanted() and latest() throw the failure, if there is one.
  std::optional<Ticket> next_ticket(Milliseconds wait);
  bool send(const Ticket& ticket, const PartInfo& info, std::vector<Frame> frames);
  std::optional<Ack> next_ack(Milliseconds wait);
  bool flush(Milliseconds wait);
  bool wanted(const Ticket& ticket) const;
  WeightsInfo latest() const;
  void expect_between_tickets() const;
  void wait_until_joined();
  std::string weights_endpoint() const;
  std::uint64_t generation() const;

  // For the link's thread.
  /// A learner of this generation has welcomed us: older tickets are void, unacknowledged results are sent
  /// again.
  void on_welcome(const Welcome& welcome, const std::string& endpoint);
  void on_credit(const Ticket& ticket);
  void on_ack(const Ack& ack);
  void on_latest(const WeightsInfo& info);
  void fail(std::exception_ptr error);
  bool failed() const;
  std::vector<std::uint64_t> held(std::uint64_t generation) const;
  std::uint64_t policy_steps() const;
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

  void throw_failure() const;
  void give_up_older(std::uint64_t generation);
  void push_ack(const Ack& ack);
  void skip_acknowledged();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Ticket> tickets_;          // received, not yet taken
  std::map<std::uint64_t, Open> open_;  // taken or received, not acknowledged
  std::deque<Place> to_send_;
  std::deque<Ack> acks_;
  WeightsInfo latest_;
  std::string weights_endpoint_;
  std::uint64_t generation_ = 0;
  std::uint64_t ticket_bytes_ = 0;
  std::uint64_t policy_steps_ = 0;
  bool joined_ = false;
  std::exception_ptr failure_;
};

}  // namespace regraft::wire
