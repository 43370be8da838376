#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/wire/ticket.h"
#include "learner/controller/dream_options.h"
#include "learner/job/curve_point.h"
#include "learner/job/ticket_plan.h"
#include "replay/dream/branch.h"

namespace regraft::learner {

/// Dyna (Sutton 1990) with short branches (Janner et al. 2019): every so many updates real episodes are
/// gathered; dreams begin at points of them and go on for a few steps.
///
///   real episodes -> branches, each followed by a dream with the same actions -> how many steps dreams may
///   go
///
/// Guards: over the newest branches of each model, the mean of predicted minus real return and the F1 of the
/// dreamt masks must keep their bounds. This holds for each number of steps up to that of a dream; the worst
/// model decides. Where not even one step does, dreams pause and real episodes alone are gathered, until
/// newer branches keep the bounds again. next() may be called by any thread, the rest by the learner's.
class Dyna {
 public:
  explicit Dyna(const DynaOptions& options) : options_(options) {}

  /// What an actor of this kind is to do now: real episodes while they are gathered, dreams while they may
  /// go on. Nothing otherwise.
  std::optional<wire::TicketSpec> next(const std::string& kind, TicketPlan& plan,
                                       std::uint64_t published) const;

  /// What the real episodes of an update brought.
  void add(std::vector<replay::Branch> branches);
  /// Whether an update may be done: never before its real episodes where they are due.
  bool ready(std::uint64_t real_episodes, bool enough_steps) const;
  /// After an update.
  void updated();

  /// Steps of a dream: 0 while dreams pause.
  std::uint32_t branch_steps() const { return branch_steps_; }
  /// Over the newest branches, for dreams of so many steps: the mean bias of the model that has the largest,
  /// and the least F1 of a model.
  double bias(std::uint32_t steps) const;
  double mask_f1(std::uint32_t steps) const;
  std::uint64_t paused_updates() const { return paused_updates_; }
  /// The newest of each model.
  std::vector<replay::Branch> branches() const;

  void add_to(CurvePoint& point) const;
  std::vector<std::byte> save() const;
  /// Throws replay::ReplayError.
  void restore(std::span<const std::byte> bytes);

 private:
  using Branches = std::map<std::uint32_t, std::deque<replay::Branch>>;  // by model

  void judge();
  bool within_bounds(std::uint32_t steps) const;

  DynaOptions options_;
  Branches branches_;                  // the newest
  std::uint64_t since_gathering_ = 0;  // updates
  std::uint64_t paused_updates_ = 0;
  std::atomic<std::uint32_t> branch_steps_ = 0;
  std::atomic<bool> gathering_ = true;
};

}
