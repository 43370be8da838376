#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/env/environment.h"
#include "core/nn/inference/controller.h"
#include "core/nn/inference/dream.h"
#include "core/nn/model/world_bundle.h"

namespace regraft::replay {

/// Episodes of a controller in the real environment; relative improvements, and final over initial memory.
struct ControllerEpisodes {
  std::vector<double> returns, best, memory;
  std::uint64_t costed = 0;  // graphs: one a rewrite
};
ControllerEpisodes play_controller(const nn::WorldBundle& bundle, env::Environment& environment,
                                   nn::ActionSelection selection, int episodes, std::uint64_t seed);

/// How far dreams can be believed: episodes that a controller dreams, whose actions are then taken in the
/// real environment; what is not legal there changes nothing and costs the environment's penalty.
struct DreamValidity {
  std::vector<double> predicted, real;  // returns, one a trajectory
  double rank_correlation = 0;          // Spearman's
  double mean_error = 0;                // mean of |predicted - real|
  double illegal_share = 0;             // of the dreamed actions that the real environment does not offer
  std::uint64_t real_steps = 0;         // of the real environment, illegal actions among them
  std::uint64_t costed = 0;             // graphs there: one a rewrite
};
DreamValidity measure_validity(const nn::WorldBundle& bundle, const nn::DreamOptions& options,
                               env::Environment& environment, int trajectories, std::uint64_t seed);
std::string describe(const DreamValidity& validity);

/// The controller of a bundle that has one.
nn::Controller controller_of(const nn::WorldBundle& bundle);

}
