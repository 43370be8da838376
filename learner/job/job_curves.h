#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "core/base/clock.h"
#include "core/base/event_writer.h"
#include "core/wire/hub.h"
#include "core/wire/ticket_counts.h"

namespace regraft::learner {

/// Curves that a job of any phase has:
///   ledger/*              the ticket counts
///   wire/actors           those behind relays too; wire/connections: to the learner
///   wire/bytes_in, wire/bytes_out
///   wire/relayed_*        connections and bytes at relays, all together, each since it started
///   queue/deliveries      results that nobody has taken; queue/tickets: without a final state
///   actors/waiting_share  of their time without a ticket since the point before, all actors together, 0 to
///   1;
///                         actors/waiting_for_memory_share: where there was no memory for more results
///   steps_per_s/<actor>   since the point before; actors/policy_steps/<actor>: since that worker started
///   train/cpu_seconds     of the learner and of all actors, all generations
/// One thread.
class JobCurves {
 public:
  /// The clock outlives it.
  explicit JobCurves(const Clock& clock);

  void write(EventWriter& events, std::int64_t step, const wire::HubStatus& status,
             const wire::TransportCounters& moved, const wire::TicketCounts& counts);

  /// What was used so far, for checkpoints; restore() reads what save() gave.
  nlohmann::json save() const;
  void restore(const nlohmann::json& saved);
  double cpu_seconds() const;
  /// As the last point has it.
  double waiting_for_memory_share() const { return waiting_for_memory_share_; }

 private:
  /// One worker, as it was last seen.
  struct Worker {
    std::uint64_t incarnation = 0, pid = 0, steps = 0, cpu_ns = 0;
    std::uint64_t waited_ns = 0, waited_for_memory_ns = 0;
  };
  /// Without a ticket, all actors together; part of it since there was no memory.
  struct WaitSeconds {
    double total = 0, for_memory = 0;
  };
  void see(EventWriter& events, std::int64_t step, const wire::ActorStatus& actor, double passed_s);

  const Clock& clock_;
  std::int64_t written_ns_;
  std::map<std::string, Worker> workers_;
  WaitSeconds waited_;  // since the point before
  double waiting_for_memory_share_ = 0;
  std::uint64_t earlier_ns_ = 0;  // CPU time of workers and learners that are gone
};

/// Updates that episodes lagged: the histogram `staleness`, and the scalars staleness/mean and staleness/max.
/// Nothing where there are none.
void write_staleness(EventWriter& events, std::int64_t step, std::span<const double> updates);

}
