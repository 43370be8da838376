#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/env/observation.h"

namespace regraft::replay {

/// One step as the behaviour policy saw and took it.
struct Step {
  env::Observation observation;
  std::uint32_t candidate = 0;  // row of the chosen candidate
  // Under the behaviour policy mu: of the candidate among all legal ones; or, where mu is hierarchical, of
  // its rule, and of its location given the rule (0 for NO-OP, which has no such decision).
  float log_probability = 0;
  float location_log_probability = 0;
  float value = 0;  // V_mu(s)
  float reward = 0;
  bool terminated = false;  // the episode ended here: nothing is bootstrapped
};

/// 1 where the step has two decisions under a hierarchical policy: all but NO-OP.
inline bool chose_location(const Step& step) {
  return step.candidate + 1 != step.observation.candidate_count();
}

/// A stretch of one episode, at most kMaxSegmentSteps long, acted with one weight version. An episode is cut
/// into segments for the wire alone: the learner joins those of one ticket again (goes_on()).
struct Segment {
  std::uint64_t ticket = 0;
  std::uint64_t generation = 0;
  std::uint64_t weight_version = 0;
  bool hierarchical = false;  // the policy that acted decides in two halves
  std::uint32_t model = 0;    // index into the job's list of models
  std::uint64_t seed = 0;
  std::vector<Step> steps;
  // V_mu of the state that follows the last step, unless that step terminated. Where the episode was
  // truncated there, the state itself too, so that the learner values it anew.
  float bootstrap_value = 0;
  std::optional<env::Observation> next_observation;
  // For the whole episode, known where it ends; NaN before.
  float episode_return = 0;
  float final_cost_ratio = 0;  // final cost / initial cost
  float best_cost_ratio = 0;   // best visited cost / initial cost
  // Graphs that were costed: one a rewrite, of which a rule at all of its sites takes several. 0 before the
  // end.
  std::uint32_t episode_costed = 0;
};

/// Whether `next` is the stretch of the same episode that follows `segment`, given that it was sent next.
inline bool goes_on(const Segment& segment, const Segment& next) {
  return next.ticket == segment.ticket && next.generation == segment.generation &&
         !segment.next_observation && !segment.steps.empty() && !segment.steps.back().terminated;
}

inline constexpr std::size_t kMaxSegmentSteps = 32;
inline constexpr std::size_t kMaxSegmentBytes = std::size_t{4} << 20;
/// Limit of a result: all segments of a ticket.
inline constexpr std::size_t kMaxTicketBytes = std::size_t{16} << 20;

}
