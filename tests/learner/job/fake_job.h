#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/mutex.h"
#include "learner/job/checkpoint.h"
#include "learner/job/curve_point.h"
#include "learner/job/job_hub.h"
#include "learner/job/phase.h"
#include "learner/job/ticket_plan.h"
#include "replay/rollout/replay_error.h"

namespace regraft::learner::testing {

/// A hub without sockets or actors: a test plays the tickets. Decisions go to the real ledger.
class FakeHub : public JobHub {
 public:
  FakeHub(wire::Ledger& ledger, wire::TicketSource source) : ledger_(ledger), source_(std::move(source)) {}

  /// An actor plays a ticket and sends so many steps; it acted with `version`, or with the ticket's. Without
  /// steps the result cannot be read. False where there was no ticket.
  bool play(std::uint32_t steps = 1, std::optional<std::uint64_t> version = {}) {
    const auto spec = source_({.name = "actor", .kind = "policy"});
    if (!spec) return false;
    wire::Delivery delivery;
    delivery.ticket = ledger_.issue(*spec);
    delivery.actor.name = "actor";
    delivery.parts.emplace_back();
    delivery.parts.back().header.steps = steps;
    delivery.parts.back().header.weight_version = version.value_or(spec->weight_version);
    const MutexLock lock(mutex_);
    deliveries_.push_back(std::move(delivery));
    arrived_.notify_all();
    return true;
  }

  /// Waits only for a test that uses threads (`waits`); else `when_empty` may play, stop or move the clock.
  std::optional<wire::Delivery> take(std::chrono::milliseconds wait) override {
    longest_wait = std::max(longest_wait, wait);
    if (deliveries_left() == 0 && when_empty) when_empty();
    MutexLock lock(mutex_);
    if (waits) arrived_.wait_for(lock, wait, [&]() REQUIRES(mutex_) { return !deliveries_.empty(); });
    if (deliveries_.empty()) return std::nullopt;
    std::optional<wire::Delivery> delivery(std::move(deliveries_.front()));
    deliveries_.pop_front();
    return delivery;
  }
  wire::Verdict decide(const wire::Ticket& ticket, wire::Verdict verdict) override {
    return ledger_.close(ticket.id, verdict);
  }
  void publish(std::uint64_t version, std::vector<std::byte>) override { published.push_back(version); }
  void announce(const std::filesystem::path&) override { announced = true; }
  void wake() override { ++woken; }
  void stop_issuing() override {}
  void stop() override { ledger_.drop_outstanding(); }
  wire::HubStatus status() const override { return {}; }
  wire::TransportCounters counters() const override { return {}; }

  std::size_t deliveries_left() const {
    const MutexLock lock(mutex_);
    return deliveries_.size();
  }

  std::function<void()> when_empty;
  bool waits = false;
  std::chrono::milliseconds longest_wait{0};  // that take() was allowed
  std::vector<std::uint64_t> published;
  bool announced = false;
  int woken = 0;

 private:
  wire::Ledger& ledger_;
  wire::TicketSource source_;
  mutable Mutex mutex_;
  ConditionVariable arrived_;
  std::deque<wire::Delivery> deliveries_ GUARDED_BY(mutex_);
};

/// Reads what FakeHub delivers. Throws ReplayError where it has no steps.
struct FakeResult : TicketResult {
  std::uint64_t seed = 0;
};
inline std::unique_ptr<TicketResult> read_fake(const wire::Delivery& delivery) {
  const wire::Result& header = delivery.parts.front().header;
  if (header.steps == 0) throw replay::ReplayError("has no steps", "result", "");
  auto result = std::make_unique<FakeResult>();
  result->steps = header.steps;
  result->weight_version = header.weight_version;
  result->seed = delivery.ticket.seed;
  return result;
}

/// Learns a number from the seeds of its tickets, two an update: whatever was lost, came twice or came in
/// another order changes it.
class FakePhase : public Phase {
 public:
  static constexpr std::size_t kResults = 2;  // of an update
  struct Options {
    PhaseTraits traits{.name = "fake"};
    std::uint64_t seed = 11;
    std::size_t results = kResults;  // of an update
    bool keeps_gathered = false;     // in checkpoints
    std::uint64_t last_update = 0;   // done then; 0: never
    std::uint64_t save_after = 0;    // this update is worth a checkpoint
    bool sound = true;
    std::function<void()> farewell{};
  };
  explicit FakePhase(const Options& options)
      : Phase(options.traits),
        options_(options),
        plan_({.seed = options_.seed,
               .deterministic = options_.traits.lock_step,
               .episodes_per_update = kResults}) {}

  PhaseStart restore(const PhaseState* saved, std::uint64_t updates) override {
    PhaseStart start{.weights = kWeights};
    if (saved == nullptr) return start;
    learned_ = saved->values.at("learned");
    plan_.resume(updates, saved->values.at("tickets"));
    if (!options_.keeps_gathered) return start;
    for (const std::uint64_t seed : saved->values.at("seeds")) {
      auto result = std::make_unique<FakeResult>();
      result->steps = 1;
      result->seed = seed;
      start.queued.push_back(std::move(result));
    }
    return start;
  }
  std::optional<wire::TicketSpec> next_ticket(const wire::ActorInfo&, std::uint64_t published) override {
    return plan_.next(published);
  }
  std::unique_ptr<TicketResult> judge(const wire::Delivery& delivery) override { return read_fake(delivery); }
  void admit(std::unique_ptr<TicketResult> result, std::uint64_t) override {
    gathered_.push_back(static_cast<FakeResult&>(*result).seed);
  }
  PhaseStatus status(std::uint64_t updates) const override {
    return {.ready = gathered_.size() >= options_.results,
            .done = options_.last_update > 0 && updates >= options_.last_update,
            .settled = options_.keeps_gathered || gathered_.empty()};
  }
  UpdateResult update(const JobFigures& job) override {
    for (const std::uint64_t seed : gathered_) learned_ = learned_ * 31 + seed;
    gathered_.clear();
    due_ = true;
    return {.save_now = job.updates + 1 == options_.save_after, .weights = kWeights};
  }

  PhaseState save(std::span<const std::unique_ptr<TicketResult>> queued, const JobFigures&) override {
    std::vector<std::uint64_t> seeds = gathered_;
    for (const auto& result : queued) seeds.push_back(static_cast<const FakeResult&>(*result).seed);
    return {.values = {{"learned", learned_}, {"seeds", seeds}, {"tickets", plan_.position()}}};
  }
  PhaseReport report(const JobFigures& job) override {
    looks.push_back(gathered_.size());
    if (!std::exchange(due_, false)) return {};
    CurvePoint point{.x = static_cast<std::int64_t>(job.updates)};
    point.add("fake/learned", static_cast<double>(job.updates));
    return {.point = point};
  }
  void export_as(const std::string& name, const JobFigures&) override { exported.push_back(name); }
  PhaseSummary summary(const JobFigures& job, const wire::JobTicketCounts&) const override {
    return {.figures = {{"learned", learned_}, {"updates", job.updates}},
            .text = "learned\n",
            .sound = options_.sound,
            .farewell = options_.farewell};
  }

  std::uint64_t learned() const { return learned_; }
  std::vector<std::string> exported;
  std::vector<std::size_t> looks;  // how much was gathered, whenever what else is due was looked at

 private:
  inline static const std::vector<std::byte> kWeights{std::byte{1}};
  const Options options_;
  TicketPlan plan_;
  std::uint64_t learned_ = 1;
  std::vector<std::uint64_t> gathered_;
  bool due_ = false;
};

}
