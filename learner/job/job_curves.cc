#include "learner/job/job_curves.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/base/stats.h"
#include "core/wire/counters.h"

namespace regraft::learner {
namespace {

constexpr double kNsPerS = 1e9;

void write_ticket_counts(EventWriter& events, std::int64_t step, const wire::TicketCounts& counts) {
  for (const auto& [name, count] :
       std::vector<std::pair<const char*, std::uint64_t>>{{"issued", counts.issued},
                                                          {"admitted", counts.admitted},
                                                          {"stale", counts.stale},
                                                          {"rejected", counts.rejected},
                                                          {"dropped", counts.dropped},
                                                          {"lost", counts.lost},
                                                          {"outstanding", counts.outstanding},
                                                          {"late", counts.late}})
    events.scalar(std::string("ledger/") + name, step, static_cast<double>(count));
}

}  // namespace

JobCurves::JobCurves(const Clock& clock) : clock_(clock), written_ns_(clock.steady_ns()) {}

/// A worker that was not there before began after the last point.
void JobCurves::see(EventWriter& events, std::int64_t step, const wire::ActorStatus& actor, double passed_s) {
  Worker& held = workers_[actor.info.name];
  if (held.incarnation != actor.info.incarnation || held.pid != actor.info.pid) {
    earlier_ns_ += held.cpu_ns;
    held = {.incarnation = actor.info.incarnation, .pid = actor.info.pid};
  }
  if (passed_s > 0 && actor.policy_steps >= held.steps)
    events.scalar("steps_per_s/" + actor.info.name, step,
                  static_cast<double>(actor.policy_steps - held.steps) / passed_s);
  events.scalar("actors/policy_steps/" + actor.info.name, step, static_cast<double>(actor.policy_steps));
  const auto since = [](std::uint64_t now_ns, std::uint64_t& before_ns) {
    const double more_s = now_ns >= before_ns ? static_cast<double>(now_ns - before_ns) / kNsPerS : 0;
    before_ns = now_ns;
    return more_s;
  };
  waited_.total += since(actor.waited_ns, held.waited_ns);
  waited_.for_memory += since(actor.waited_for_memory_ns, held.waited_for_memory_ns);
  held.steps = actor.policy_steps;
  held.cpu_ns = std::max(held.cpu_ns, actor.process_cpu_ns);
}

void JobCurves::write(EventWriter& events, std::int64_t step, const wire::HubStatus& status,
                      const wire::TransportCounters& moved, const wire::TicketCounts& counts) {
  const std::int64_t now_ns = clock_.steady_ns();
  const double passed_s = static_cast<double>(now_ns - written_ns_) / kNsPerS;
  written_ns_ = now_ns;
  waited_ = {};
  for (const wire::ActorStatus& actor : status.actors) see(events, step, actor, passed_s);
  const double actors_s = passed_s * static_cast<double>(status.actor_count());
  waiting_for_memory_share_ = actors_s > 0 ? std::min(waited_.for_memory / actors_s, 1.0) : 0;
  events.scalar("actors/waiting_share", step, actors_s > 0 ? std::min(waited_.total / actors_s, 1.0) : 0);
  events.scalar("actors/waiting_for_memory_share", step, waiting_for_memory_share_);
  write_ticket_counts(events, step, counts);
  events.scalar("wire/actors", step, static_cast<double>(status.actor_count()));
  events.scalar("wire/connections", step, static_cast<double>(status.actors.size()));
  events.scalar("wire/bytes_in", step, static_cast<double>(moved.bytes_in));
  events.scalar("wire/bytes_out", step, static_cast<double>(moved.bytes_out));
  wire::RelayTraffic relayed;
  for (const wire::ActorStatus& actor : status.actors) {
    relayed.connections += actor.relayed.connections;
    relayed.bytes_in += actor.relayed.bytes_in;
    relayed.bytes_out += actor.relayed.bytes_out;
  }
  events.scalar("wire/relayed_connections", step, static_cast<double>(relayed.connections));
  events.scalar("wire/relayed_bytes_in", step, static_cast<double>(relayed.bytes_in));
  events.scalar("wire/relayed_bytes_out", step, static_cast<double>(relayed.bytes_out));
  events.scalar("queue/deliveries", step, static_cast<double>(status.waiting));
  events.scalar("queue/tickets", step, static_cast<double>(status.outstanding));
  events.scalar("train/cpu_seconds", step, cpu_seconds());
}

double JobCurves::cpu_seconds() const {
  std::uint64_t ns = earlier_ns_ + wire::process_cpu_ns();
  for (const auto& [name, worker] : workers_) ns += worker.cpu_ns;
  return static_cast<double>(ns) / kNsPerS;
}

nlohmann::json JobCurves::save() const {
  nlohmann::json workers = nlohmann::json::object();
  for (const auto& [name, worker] : workers_)
    workers[name] = {worker.incarnation, worker.pid, worker.steps, worker.cpu_ns};
  return {{"earlier_ns", earlier_ns_ + wire::process_cpu_ns()}, {"workers", std::move(workers)}};
}

void JobCurves::restore(const nlohmann::json& saved) {
  earlier_ns_ = saved.at("earlier_ns");
  for (const auto& [name, worker] : saved.at("workers").items())
    workers_[name] = {worker.at(0), worker.at(1), worker.at(2), worker.at(3)};
}

void write_staleness(EventWriter& events, std::int64_t step, std::span<const double> updates) {
  if (updates.empty()) return;
  events.histogram("staleness", step, updates);
  events.scalar("staleness/mean", step, mean(updates));
  events.scalar("staleness/max", step, std::ranges::max(updates));
}

}
