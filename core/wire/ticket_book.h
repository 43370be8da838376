#pragma once

#include <cstdint>
#include <string>

#include "core/wire/ticket.h"

namespace regraft::wire {

/// Where a hub keeps the tickets that it issues: a learner's Ledger, or those of another hub that a relay
/// passes on. Thread-safe.
class TicketBook {
 public:
  virtual ~TicketBook() = default;

  virtual const std::string& run_id() const = 0;
  virtual std::uint64_t generation() const = 0;

  /// Records an outstanding ticket for what the hub's TicketSource has just chosen; send it afterwards.
  virtual Ticket issue(const TicketSpec& spec) = 0;
  /// Brings an outstanding ticket into a state and returns the one it is in now: who admits must look at it.
  virtual Verdict close(std::uint64_t id, Verdict wanted) = 0;
  /// A result came although its ticket is not outstanding: what to acknowledge.
  virtual Verdict count_extra_result(std::uint64_t id, std::uint64_t generation) = 0;

  virtual bool is_outstanding(std::uint64_t id, std::uint64_t generation) const = 0;
  virtual std::uint64_t outstanding() const = 0;
  /// At the end of a run.
  virtual void drop_outstanding() = 0;
};

}
