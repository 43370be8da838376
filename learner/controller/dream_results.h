#pragma once

#include <cstdint>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "core/nn/model/controller_config.h"
#include "core/wire/delivery.h"
#include "learner/job/curve_point.h"
#include "replay/dream/branch.h"
#include "replay/dream/dream_segment.h"
#include "replay/rollout/replay_error.h"

namespace regraft::learner {

/// A result of a bundle whose parts are of different versions, or of several bundles.
class MixedBundles : public replay::ReplayError {
 public:
  using ReplayError::ReplayError;
};

/// Throws MixedBundles where the actor refused the bundle that the ticket asked for.
void check_not_refused(const wire::Delivery& delivery);

/// Decodes a result and checks that its parts are whole episodes of its ticket and of this controller. It
/// compares ticket, generation, seed, model and one bundle version. Episodes are in order, with an end in the
/// last segment of each alone. Throws replay::ReplayError; MixedBundles where its segments are of several
/// bundles.
std::vector<replay::DreamSegment> assemble_dreams(const wire::Delivery& delivery,
                                                  const nn::ControllerConfig& controller);

/// Points to branch off that came with a result's segments. Throws replay::ReplayError.
std::vector<replay::Branch> branches_of(const wire::Delivery& delivery);

/// Episodes and steps that were trained on; dreamed and real ones apart.
class DreamCounts {
 public:
  struct EpisodeFigures {
    std::uint64_t episodes = 0, steps = 0;
    double first_return = 0;     // mean over the first batch that had an episode
    std::deque<double> returns;  // of the last kWindow episodes
    double batch_return = 0;     // mean over the last batch

    double mean_return() const;
  };
  static constexpr std::size_t kWindow = 500;

  void add(std::span<const replay::DreamSegment> batch);
  /// Dreamed episodes of which the returns alone are known.
  void add_dreamed(std::span<const double> returns, std::uint64_t steps);
  const EpisodeFigures& dreamed() const { return dreamed_; }
  const EpisodeFigures& real() const { return real_; }

  /// Curves of the last batch.
  void add_to(CurvePoint& point) const;
  nlohmann::json save() const;
  void restore(const nlohmann::json& saved);

 private:
  static void add_returns(EpisodeFigures& figures, std::span<const double> returns);

  EpisodeFigures dreamed_, real_;
};

}
