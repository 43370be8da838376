#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace regraft::learner {

class DynamicsFit;

/// How well the model tells what a held-out episode meets at one depth, NO-OP's column apart.
struct DepthFigures {
  std::uint32_t depth = 0;    // steps since the last true state that the dream was told
  std::uint64_t masks = 0;    // states compared
  std::uint64_t rewards = 0;  // rewards compared
  double f1 = 0;              // of the rule mask, dreaming from the start of the episode
  double f1_known = 0;        // the same when each state before is known
  double f1_start = 0;        // of a predictor that repeats the mask of the start
  double f1_usual = 0;        // of one that says what is legal in most fitted states
  double reward_error = 0;    // mean squared, in units of the reward, dreaming
  double reward_error_known = 0;
  double reward_variance = 0;  // squared error of the mean reward: the trivial predictor
};

/// Held-out episodes dreamt from their true first state with their true actions, z drawn with tau 1: depths
/// 1 to `depths`. The draws depend on `seed` alone.
std::vector<DepthFigures> open_loop(const DynamicsFit& fit, std::uint32_t depths, std::uint64_t seed);

/// As CSV with a line of names.
std::string to_csv(const std::vector<DepthFigures>& figures);

}
