#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/tensorboard.h"
#include "core/nn/controller.h"
#include "core/wire/delivery.h"
#include "learner/controller/dream_options.h"
#include "learner/controller/dream_results.h"
#include "learner/job/learner_options.h"
#include "learner/job/ticket_plan.h"
#include "learner/ppo/lag0_check.h"
#include "replay/dream_work.h"

namespace regraft::learner {

/// How a controller is made better from results of its dreams:
///   take(result) ... ready() -> update() -> published() -> actors
/// Right after an update nothing is held: that is where it is saved. One thread.
class DreamTrainer {
 public:
  virtual ~DreamTrainer() = default;

  /// What tickets ask for, where there are so many models to dream of.
  virtual TicketPlan::Options tickets(std::uint64_t seed, std::uint32_t models) const = 0;
  /// Decodes and checks a result of these weights' version or older ones. Throws replay::ReplayError. It
  /// counts once keep() is called.
  virtual void take(const wire::Delivery& delivery) = 0;
  /// The version that the result taken last was acted with.
  virtual std::uint64_t taken_version() const = 0;
  /// The result taken last was admitted.
  virtual void keep() = 0;
  /// Real episodes and points to branch off of the results kept since the last update.
  virtual std::vector<replay::Branch> branches() = 0;

  /// Steps kept for the next update.
  virtual std::uint64_t steps() const = 0;
  virtual std::uint64_t real_episodes() const = 0;
  virtual bool ready() const = 0;
  /// `share` of learning rate and entropy bonus. Writes the curves of this update, number `step`.
  virtual void update(double share, EventWriter& events, std::int64_t step) = 0;

  /// The controller as it is now, training record left out.
  virtual nn::ControllerFile controller() const = 0;
  /// What actors shall try beyond playing it.
  virtual std::vector<std::vector<float>> candidates() { return {}; }
  /// Versions published so far: 1 before the first update.
  virtual const DreamCounts& counts() const = 0;
  /// Nothing where no ratios are taken.
  virtual Lag0Record lag0() const { return {}; }

  virtual std::vector<std::byte> save() const = 0;
  /// Throws replay::ReplayError or nn::NnError.
  virtual void restore(std::span<const std::byte> bytes) = 0;
  virtual void restore_counts(const nlohmann::json& saved, const Lag0Record& lag0) = 0;
};

}  // namespace regraft::learner
