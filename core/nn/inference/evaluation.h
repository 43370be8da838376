#pragma once

#include <vector>

namespace regraft::nn {

/// What a policy says of one observation.
struct Evaluation {
  std::vector<float>
      log_probabilities;  // of each candidate, in the observation's order; they sum to 1 in probability
  float value = 0;        // expected return from here, in the environment's reward units
  // Only for a hierarchical policy, by candidate: log-probability of its rule, and of its location given the
  // rule. Their sum is the candidate's.
  std::vector<float> rule_log_probabilities, location_log_probabilities;
};

}
