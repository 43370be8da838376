#include "learner/ppo/intake.h"

#include <utility>

#include "core/base/log.h"
#include "replay/error.h"

namespace regraft::learner {
namespace {

constexpr std::chrono::milliseconds kPatience{200};  // for a delivery, before looking whether to stop

std::uint64_t payload_of(const wire::Delivery& delivery) {
  std::uint64_t bytes = 0;
  for (const wire::Part& part : delivery.parts) bytes += wire::total_bytes(part.frames);
  return bytes;
}

}  // namespace

Intake::Intake(wire::Hub& hub, wire::Ledger& ledger, const std::atomic<std::uint64_t>& latest_version,
               const Options& options)
    : hub_(hub),
      ledger_(ledger),
      latest_version_(latest_version),
      options_(options),
      thread_([this](const std::stop_token& stopped) { run(stopped); }) {}

Intake::~Intake() = default;  // jthread: stop and join

void Intake::restore(std::vector<Episode> episodes) {
  const std::lock_guard lock(mutex_);
  for (Episode& episode : episodes) {
    queued_steps_ += episode.step_count();
    queue_.push_back(std::move(episode));
  }
  filled_.notify_all();
}

bool Intake::has_room() const {
  return options_.queued_steps > 0 ? queued_steps_ < options_.queued_steps
                                   : queue_.size() < options_.queued_episodes;
}

void Intake::run(const std::stop_token& stopped) {
  try {
    while (!stopped.stop_requested())
      if (const auto delivery = hub_.take(kPatience)) take_in(*delivery, stopped);
  } catch (...) {  // handed to the thread that waits in next()
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    filled_.notify_all();
  }
}

bool Intake::is_stale(const Episode& episode) const {
  const std::uint64_t latest = latest_version_.load();
  return latest > episode.weight_version() && latest - episode.weight_version() > options_.staleness_budget;
}

void Intake::take_in(const wire::Delivery& delivery, const std::stop_token& stopped) {
  std::optional<Episode> episode;
  std::uint64_t IntakeCounts::*reason = &IntakeCounts::malformed;
  try {
    Episode assembled = assemble_episode(delivery);
    reason = &IntakeCounts::other_head;
    if (assembled.hierarchical() != options_.hierarchical)
      throw replay::ReplayError("was acted with another head than is trained", "episode",
                                "run actors and learner with one config");
    if (assembled.everywhere() != options_.everywhere)
      throw replay::ReplayError("was acted with another workload.everywhere than is trained", "episode",
                                "run actors and learner with one config");
    episode = std::move(assembled);
  } catch (const replay::ReplayError& error) {
    log_warning("ticket {} of {}: rejected: {}", delivery.ticket.id, delivery.actor.name, error.what());
    if (options_.reject_is_fatal) throw;
  }
  std::unique_lock lock(mutex_);
  if (!room_.wait(lock, stopped, [&] { return has_room(); })) return;
  counts_.payload_bytes += payload_of(delivery);
  if (episode) counts_.played_steps += episode->step_count();
  const auto verdict = !episode             ? wire::Disposition::kRejected
                       : is_stale(*episode) ? wire::Disposition::kStale
                                            : wire::Disposition::kAdmitted;
  switch (hub_.decide(delivery.ticket, verdict)) {
    case wire::Disposition::kAdmitted:
      if (verdict != wire::Disposition::kAdmitted) break;
      ++counts_.admitted;
      counts_.steps += episode->step_count();
      queued_steps_ += episode->step_count();
      queue_.push_back(std::move(*episode));
      filled_.notify_one();
      break;
    case wire::Disposition::kStale:
      ++counts_.stale;
      break;
    case wire::Disposition::kRejected:
      ++counts_.rejected;
      ++(counts_.*reason);
      break;
    default:
      break;  // lost meanwhile: the ledger counts it as late
  }
}

std::optional<Episode> Intake::next(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  filled_.wait_for(lock, wait, [&] { return !queue_.empty() || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  if (queue_.empty()) return std::nullopt;
  std::optional<Episode> episode(std::move(queue_.front()));
  queue_.pop_front();
  queued_steps_ -= episode->step_count();
  room_.notify_one();
  return episode;
}

Intake::Snapshot Intake::snapshot() const {
  const std::lock_guard lock(mutex_);  // over mark(): no verdict may fall between the two
  return {ledger_.mark(), {queue_.begin(), queue_.end()}};
}

IntakeCounts Intake::counts() const {
  const std::lock_guard lock(mutex_);
  IntakeCounts counts = counts_;
  counts.queued_episodes = queue_.size();
  counts.queued_steps = queued_steps_;
  return counts;
}

}  // namespace regraft::learner
