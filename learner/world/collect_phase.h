#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "learner/job/job_runner.h"
#include "learner/job/phase.h"
#include "learner/job/ticket_plan.h"
#include "learner/world/collect_curves.h"
#include "learner/world/world_context.h"
#include "learner/world/world_options.h"
#include "replay/rollout/sequence_replay.h"

namespace regraft::learner {

/// What is to be collected, and by which job.
struct CollectSetup {
  JobSetup job;
  WorldOptions world;
  WorldContext context;
  std::vector<std::string> models{};  // as in workload.models, for the file of rollouts
};

/// Throws UsageError where a replay forgot episodes before it held `wanted` steps: it would never hold them.
void require_room(const replay::SequenceReplay& replay, std::uint64_t wanted);

/// Learns nothing: collects rollouts, and stores them when there are enough:
///   ticket -> action log -> round -> replay -> RUN/world/collected.rollouts
/// In lock step tickets are given out in rounds that are taken whole, so that the replay holds the same
/// episodes in the same order for any number of actors, interrupted or not. Where world.rollouts names those
/// of an earlier run, it goes on behind them; those of another job are a UsageError. What it cannot read is a
/// LearnerError in lock step. The clock outlives it.
class CollectPhase : public Phase {
 public:
  CollectPhase(CollectSetup setup, const Clock& clock)
      : CollectPhase("collect", std::move(setup), 1, clock) {}

  PhaseStart restore(const PhaseState* saved, std::uint64_t updates) override;
  std::optional<wire::TicketSpec> next_ticket(const wire::ActorInfo&, std::uint64_t) override {
    return enough_ ? std::nullopt : plan_.next(1 + rounds_);
  }
  std::unique_ptr<TicketResult> judge(const wire::Delivery& delivery) override;
  void admit(std::unique_ptr<TicketResult> result, std::uint64_t updates) override;
  PhaseStatus status(std::uint64_t) const override {
    return {.ready = enough_ && !complete_, .done = complete_, .settled = round_.empty()};
  }
  /// Brings the replay into its final order. It is complete then.
  UpdateResult update(const JobFigures& job) override;

  /// The part `replay`, and what belongs to it.
  PhaseState save(std::span<const std::unique_ptr<TicketResult>> queued, const JobFigures& job) override;
  PhaseReport report(const JobFigures& job) override;
  void export_as(const std::string& name, const JobFigures& job) override;
  PhaseSummary summary(const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const override;

 protected:
  /// For a phase that goes on with the replay: collecting ends after this share of train.minutes at most.
  CollectPhase(std::string name, CollectSetup setup, double share, const Clock& clock);

  const CollectSetup& setup() const { return setup_; }
  const LearnerOptions& options() const { return setup_.job.options; }
  /// Whether no more is asked for: there is enough, or the time is over.
  bool enough() const { return enough_; }
  bool complete() const { return complete_; }
  const replay::SequenceReplay& replay() const { return replay_; }
  /// That collecting took, in all generations.
  double seconds(const JobFigures& job) const { return seconds_before_ + (complete_ ? 0 : job.seconds_here); }
  /// The summary with more figures, and for people with the end of the first line and more lines.
  PhaseSummary summary_with(const nlohmann::json& more, const std::string& line_end, const std::string& lines,
                            const JobFigures& job, const wire::JobTicketCounts& ticket_counts) const;

 private:
  double seconds_since_start() const;
  bool has_enough() const;
  void take_earlier();

  const CollectSetup setup_;
  const double share_;
  const Clock& clock_;
  const std::int64_t started_ns_;
  std::atomic<std::uint64_t> rounds_{0};  // lock step: those that are whole
  std::atomic<bool> enough_ = false;
  TicketPlan plan_;
  replay::SequenceReplay replay_;
  CollectCurves curves_;
  std::map<std::uint64_t, replay::Rollout> round_;  // lock step: of the round under way
  bool complete_ = false;
  std::uint64_t saves_ = 0;
  double seconds_before_ = 0;
};

}
