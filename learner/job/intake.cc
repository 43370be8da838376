#include "learner/job/intake.h"

#include <utility>

#include "core/base/log.h"
#include "replay/rollout/replay_error.h"

namespace regraft::learner {
namespace {

constexpr std::chrono::milliseconds kPatience{200};  // for a delivery, before looking whether to stop

std::uint64_t payload_of(const wire::Delivery& delivery) {
  std::uint64_t bytes = 0;
  for (const wire::Part& part : delivery.parts) bytes += wire::total_bytes(part.frames);
  return bytes;
}

}  // namespace

Intake::Intake(JobHub& hub, wire::Ledger& ledger, Judge judge, const std::atomic<std::uint64_t>& version,
               const Options& options, TicketResults restored)
    : hub_(hub), ledger_(ledger), judge_(std::move(judge)), version_(version), options_(options) {
  for (std::unique_ptr<TicketResult>& result : restored) {
    queued_steps_ += result->steps;
    queue_.push_back(std::move(result));
  }
  if (threaded()) thread_ = std::jthread([this](const std::stop_token& stopped) { run(stopped); });
}

Intake::~Intake() = default;  // jthread: stop and join

bool Intake::has_room() const {
  if (!threaded()) return true;
  return options_.queued_steps > 0 ? queued_steps_ < options_.queued_steps
                                   : queue_.size() < options_.queued_results;
}

void Intake::run(const std::stop_token& stopped) {
  try {
    while (!stopped.stop_requested())
      if (const auto delivery = hub_.take(kPatience)) take_in(*delivery, stopped);
  } catch (...) {  // handed to the thread that waits in next()
    const MutexLock lock(mutex_);
    failure_ = std::current_exception();
    filled_.notify_all();
  }
}

bool Intake::is_stale(const TicketResult& result) const {
  return result.weight_version && *result.weight_version + options_.staleness < version_.load();
}

std::unique_ptr<TicketResult> Intake::read(const wire::Delivery& delivery) const {
  try {
    return judge_(delivery);
  } catch (const replay::ReplayError& error) {
    log_warning("ticket {} of {}: rejected: {}", delivery.ticket.id, delivery.actor.name, error.what());
    if (options_.lock_step) throw;  // its place would stay empty
  }
  return nullptr;
}

void Intake::take_in(const wire::Delivery& delivery, const std::stop_token& stopped) {
  std::unique_ptr<TicketResult> result = read(delivery);
  MutexLock lock(mutex_);
  if (!room_.wait(lock, stopped, [&]() REQUIRES(mutex_) { return has_room(); })) return;
  counts_.payload_bytes += payload_of(delivery);
  if (result) counts_.played_steps += result->steps;
  const auto verdict = !result             ? wire::Verdict::kRejected
                       : is_stale(*result) ? wire::Verdict::kStale
                                           : wire::Verdict::kAdmitted;
  // Another answer than the verdict: the ticket was lost meanwhile, the ledger counts the result as late.
  if (hub_.decide(delivery.ticket, verdict) != verdict) return;
  if (verdict == wire::Verdict::kRejected) ++counts_.rejected;
  if (verdict == wire::Verdict::kStale) ++counts_.stale;
  if (verdict != wire::Verdict::kAdmitted) return;
  ++counts_.admitted;
  counts_.steps += result->steps;
  queued_steps_ += result->steps;
  queue_.push_back(std::move(result));
  filled_.notify_one();
}

std::unique_ptr<TicketResult> Intake::next(std::chrono::milliseconds wait) {
  MutexLock lock(mutex_);
  if (threaded()) {
    filled_.wait_for(lock, wait, [&]() REQUIRES(mutex_) { return !queue_.empty() || failure_; });
  } else if (queue_.empty()) {
    lock.unlock();
    if (const auto delivery = hub_.take(wait)) take_in(*delivery, {});
    lock.lock();
  }
  if (failure_) std::rethrow_exception(failure_);
  if (queue_.empty()) return nullptr;
  std::unique_ptr<TicketResult> result = std::move(queue_.front());
  queue_.erase(queue_.begin());
  queued_steps_ -= result->steps;
  room_.notify_one();
  return result;
}

void Intake::snapshot(const std::function<void(const wire::JournalMark&,
                                               std::span<const std::unique_ptr<TicketResult>>)>& save) const {
  const MutexLock lock(mutex_);  // over mark(): no verdict may fall between the two
  save(ledger_.mark(), queue_);
}

IntakeCounts Intake::counts() const {
  const MutexLock lock(mutex_);
  IntakeCounts counts = counts_;
  counts.queued_results = queue_.size();
  counts.queued_steps = queued_steps_;
  return counts;
}

}
