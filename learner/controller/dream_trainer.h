#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/nn/model/controller_file.h"
#include "core/wire/delivery.h"
#include "learner/controller/dream_results.h"
#include "learner/job/curve_point.h"
#include "learner/job/ticket_plan.h"
#include "learner/job/ticket_result.h"
#include "learner/ppo/on_policy_check.h"
#include "replay/dream/dream_work.h"

namespace regraft::learner {

/// The episodes of one ticket: segments, or of an evolution's individual its returns alone.
struct DreamResult : TicketResult {
  std::uint64_t sequence = 0;       // of its ticket
  std::uint64_t real_episodes = 0;  // the others are dreamed
  std::vector<replay::DreamSegment> segments;
  replay::DreamReturns returns;
  std::vector<replay::Branch> branches;  // points of the real episodes to branch off
};

/// How a controller is made better by the results of an update; DreamPhase counts them. Right after update()
/// nothing is held: that is where it is saved. One thread.
class DreamTrainer {
 public:
  /// `device`: cpu or cuda.
  DreamTrainer(bool deterministic, const std::string& device) : on_policy_(deterministic, device) {}
  virtual ~DreamTrainer() = default;

  /// What tickets ask for, where there are so many models to dream of.
  virtual TicketPlan::Options tickets(std::uint64_t seed, std::uint32_t models) const = 0;
  /// Decodes and checks. Throws replay::ReplayError.
  virtual std::unique_ptr<DreamResult> judge(const wire::Delivery& delivery) const = 0;
  virtual void admit(std::unique_ptr<DreamResult> result) = 0;
  virtual bool ready() const = 0;
  /// `share` of learning rate and entropy bonus. Adds what its curves show of this update.
  virtual void update(double share, CurvePoint& point) = 0;

  /// The controller as it is now, training record left out.
  virtual nn::ControllerFile controller() const = 0;
  /// As PhaseSummary's.
  virtual std::function<void()> farewell() const { return {}; }
  /// What actors shall try beyond playing it.
  virtual std::vector<std::vector<float>> individuals() { return {}; }

  virtual std::vector<std::byte> save() const = 0;
  /// Throws replay::ReplayError or nn::NnError.
  virtual void restore(std::span<const std::byte> bytes) = 0;

  /// Counts over all updates.
  DreamCounts& counts() { return counts_; }
  const DreamCounts& counts() const { return counts_; }
  /// Sees nothing where no ratios are taken.
  OnPolicyCheck& on_policy() { return on_policy_; }
  const OnPolicyCheck& on_policy() const { return on_policy_; }

 private:
  DreamCounts counts_;
  OnPolicyCheck on_policy_;
};

}
