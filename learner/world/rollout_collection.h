#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
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

/// The rollouts of a job, until there are enough:
///   ticket -> action log -> round -> replay
/// In lock step tickets are given out in rounds that are taken whole, so that the replay holds the same
/// episodes in the same order for any number of actors, interrupted or not. What phases do with them is
/// theirs; the functions that are named as those of Phase are called where a phase's are. All calls come from
/// one thread but for next_ticket().
class RolloutCollection {
 public:
  /// It ends after this share of train.minutes at most. Setup and clock outlive it.
  RolloutCollection(const CollectSetup& setup, double share, const Clock& clock);

  /// Null: begins with the rollouts of an earlier run, where world.rollouts names some. Throws UsageError
  /// where those are of another job.
  void restore(const PhaseState* saved);
  std::optional<wire::TicketSpec> next_ticket() { return enough_ ? std::nullopt : plan_.next(1 + rounds_); }
  /// In lock step what it cannot read is a LearnerError.
  std::unique_ptr<TicketResult> judge(const wire::Delivery& delivery) const;
  void admit(std::unique_ptr<TicketResult> result);
  /// The part `replay`, and what belongs to it.
  PhaseState save(const JobFigures& job);

  /// Whether no more is asked for: there is enough, or the time is over.
  bool enough() const { return enough_; }
  bool settled() const { return round_.empty(); }
  /// Once there is enough: brings the replay into its final order. It is complete then.
  void finish(const JobFigures& job);
  bool complete() const { return complete_; }
  const replay::SequenceReplay& replay() const { return replay_; }
  /// That collecting took, in all generations.
  double seconds(const JobFigures& job) const { return seconds_before_ + (complete_ ? 0 : job.seconds_here); }

  PhaseReport report(const JobFigures& job);
  /// What every summary of rollouts has; `phase`: by its name.
  nlohmann::json figures(const std::string& phase, const JobFigures& job,
                         const wire::JobTicketCounts& ticket_counts) const;
  /// For people, from these figures: "done: 3 episodes (30 steps) collected in 0.5 s".
  static std::string describe(const nlohmann::json& figures);
  /// A line where train.minutes ended the collecting; else nothing.
  std::string describe_shortage(const nlohmann::json& figures) const;
  /// RUN/world/collected.rollouts. Throws FileError.
  void write() const;

 private:
  const LearnerOptions& options() const { return setup_.job.options; }
  double seconds_since_start() const;
  bool has_enough() const;
  void take_earlier();

  const CollectSetup& setup_;
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

}  // namespace regraft::learner
