#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/wire/ticket_book.h"

// Inside core/wire only.

namespace regraft::wire {

/// The tickets of one generation that a relay holds and passes on as they are. Nothing is written down: what
/// a relay that dies held is lost to the learner, whose ledger says so. Thread-safe.
///   add() -> waiting -> next() -> issued -> deliver() -> delivered -> acknowledge(), close() ->
///   gone
/// One that its actor lost waits again, before all others. One that was refused on its way in is not played
/// again: take_refused().
class RelayBook : public TicketBook {
 public:
  RelayBook(std::string run_id, std::uint64_t generation)
      : run_id_(std::move(run_id)), generation_(generation) {}

  void add(const std::string& kind, const Ticket& ticket);
  /// Issues the ticket that issue() then gives; for the hub's thread.
  std::optional<TicketSpec> next(const std::string& kind);
  void deliver(std::uint64_t id);
  /// The learner has decided: true if there is an actor to be told. Else nothing is left to do.
  bool acknowledge(std::uint64_t id);
  std::vector<std::pair<std::string, Ticket>> take_refused();
  /// All of this kind are gone; returns those that were delivered.
  std::vector<Ticket> forget(const std::string& kind);

  const std::string& run_id() const override { return run_id_; }
  std::uint64_t generation() const override { return generation_; }
  Ticket issue(const TicketSpec& spec) override;
  Verdict close(std::uint64_t id, Verdict wanted) override;
  Verdict count_extra_result(std::uint64_t, std::uint64_t) override { return Verdict::kLate; }
  bool is_outstanding(std::uint64_t id, std::uint64_t generation) const override;
  std::uint64_t outstanding() const override;
  void drop_outstanding() override;

 private:
  enum class State { waiting, issued, delivered, refused };
  struct Entry {
    std::string kind;
    Ticket ticket;
    State state = State::waiting;
  };

  const std::string run_id_;
  const std::uint64_t generation_;
  mutable Mutex mutex_;
  std::map<std::uint64_t, Entry> entries_ GUARDED_BY(mutex_);
  std::map<std::string, std::deque<std::uint64_t>> waiting_ GUARDED_BY(mutex_);  // by kind of actor
  Ticket chosen_ GUARDED_BY(mutex_);                                             // by next()
};

}
