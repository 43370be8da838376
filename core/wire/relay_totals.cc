#include "core/wire/relay_totals.h"

#include <algorithm>

namespace regraft::wire {
namespace {

void add(ActorWork& sum, const ActorWork& before, const ActorWork& now) {
  sum.policy_steps += now.policy_steps - before.policy_steps;
  sum.cpu_ns += now.cpu_ns - before.cpu_ns;
  sum.wire_cpu_ns += now.wire_cpu_ns - before.wire_cpu_ns;
}

}  // namespace

void RelayTotals::see(const ActorInfo& actor, const ActorWork& work) {
  Kind& kind = kinds_[actor.kind];
  Worker& worker = kind.workers[actor.name];
  if (actor.incarnation < worker.incarnation) return;  // its last words came late
  if (worker.pid != actor.pid || worker.incarnation != actor.incarnation) {
    add(kind.earlier, worker.before, worker.now);
    worker = {.pid = actor.pid, .incarnation = actor.incarnation, .before = actor.told, .now = actor.told};
  }
  worker.now.policy_steps = std::max(worker.now.policy_steps, work.policy_steps);
  worker.now.cpu_ns = std::max(worker.now.cpu_ns, work.cpu_ns);
  worker.now.wire_cpu_ns = std::max(worker.now.wire_cpu_ns, work.wire_cpu_ns);
}

ActorWork RelayTotals::of_kind(const std::string& kind) const {
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) return {};
  ActorWork sum = found->second.earlier;
  for (const auto& [name, worker] : found->second.workers) add(sum, worker.before, worker.now);
  return sum;
}

}
