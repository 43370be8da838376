#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/wire/dispatcher.h"
#include "core/wire/ledger.h"
#include "support/manual_clock.h"

namespace regraft::wire {

inline constexpr std::int64_t kMillisecond = 1'000'000;
inline const Dispatcher::Sender kFirst{"connection-1", "key-1"};
inline const Dispatcher::Sender kSecond{"connection-2", "key-2"};

class DispatcherTest : public testing::Test {
 protected:
  DispatcherTest() {
    options_.ticket_bytes = 1000;
    options_.max_outstanding_bytes = 10000;
    options_.max_tickets_per_actor = 2;
    options_.actor_timeout_ms = 1000;
  }

  Dispatcher& dispatcher() {
    if (!dispatcher_) {
      dispatcher_ = std::make_unique<Dispatcher>(
          options_, ledger_, weights_,
          [this](const ActorInfo&) -> std::optional<TicketSpec> {
            if (work_left_ == 0) return std::nullopt;
            --work_left_;
            ++sequence_;
            return TicketSpec{
                .model = model_, .seed = 100 + sequence_, .weight_version = 1, .sequence = sequence_};
          },
          clock_);
    }
    return *dispatcher_;
  }

  Hello hello(const std::string& actor, std::uint64_t incarnation = 1) {
    Hello message;
    message.run_id = "run";
    message.generation = ledger_.generation();
    message.incarnation = incarnation;
    message.actor = actor;
    message.kind = "policy";
    message.tickets_wanted = 2;
    return message;
  }

  void say(const Dispatcher::Sender& from, const Message& message, std::size_t payload_bytes = 0) {
    std::vector<Frame> frames;
    if (payload_bytes > 0) frames.push_back(Frame::adopt(std::vector<std::byte>(payload_bytes)));
    dispatcher().on_message(from, encode(message), std::move(frames));
  }

  // All messages of one type that wait for a connection; the others are thrown away.
  template <class M>
  std::vector<M> answers(const Dispatcher::Sender& to) {
    std::vector<M> found;
    for (const auto& [connection, message] : dispatcher().take_outgoing()) {
      const auto* match = std::get_if<M>(&message);
      if (connection == to.connection && match != nullptr) found.push_back(*match);
    }
    return found;
  }

  std::vector<Ticket> join(const Dispatcher::Sender& from, const Hello& message) {
    say(from, message);
    dispatcher().tick();
    std::vector<Ticket> tickets;
    for (const TicketGrant& grant : answers<TicketGrant>(from)) tickets.push_back(grant.ticket);
    return tickets;
  }

  Result result(const Ticket& ticket, std::size_t payload_bytes = 0) {
    Result message;
    message.ticket = ticket.id;
    message.generation = ticket.generation;
    message.weight_version = 1;
    message.payload_bytes = payload_bytes;
    return message;
  }

  Refusal refusal(const Dispatcher::Sender& from, const Message& message) {
    say(from, message);
    const auto refused = answers<Refused>(from);
    EXPECT_EQ(refused.size(), 1u);
    return refused.empty() ? Refusal{} : refused.front().reason;
  }

  TicketCounts ticket_counts() {
    const JobTicketCounts all = ledger_.ticket_counts();
    EXPECT_THAT(all.check(), testing::IsEmpty());
    return all.total();
  }

  TempDir folder_;
  Ledger ledger_{folder_.path() / "journal", "run"};
  WeightsStore weights_;
  ManualClock clock_;
  DispatchOptions options_;
  std::size_t work_left_ = 1000;
  std::uint64_t sequence_ = 0;
  std::uint32_t model_ = 0;  // of the next ticket
  std::unique_ptr<Dispatcher> dispatcher_;
};

}
