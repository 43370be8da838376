#include "core/search/prior.h"

#include <cmath>

#include "core/search/search.h"

namespace regraft::search {

std::vector<float> ask(Prior& prior, const env::Observation& observation, History& history) {
  if (observation.candidate_count() == 1) return {0.0f};
  std::vector<float> answer = prior.log_probabilities(observation, history);
  if (answer.size() != observation.candidate_count()) {
    throw SearchError(std::to_string(answer.size()) + " probabilities for " +
                          std::to_string(observation.candidate_count()) + " candidates",
                      prior.name(), "the policy was made for another set of rules");
  }
  return answer;
}

std::vector<float> UniformPrior::log_probabilities(const env::Observation& observation, History&) {
  const std::size_t candidates = observation.candidate_count();
  if (candidates == 1) return {0.0f};
  std::size_t legal_rules = 0;
  for (std::size_t rule = 0; rule + 1 < observation.location_counts.size(); ++rule) {
    legal_rules += observation.location_counts[rule] > 0;
  }
  const double rule_share = (1 - noop_probability_) / static_cast<double>(legal_rules);
  std::vector<float> out(candidates);
  for (std::size_t row = 0; row + 1 < candidates; ++row) {
    const double locations = observation.location_counts[observation.candidate_rules[row]];
    out[row] = static_cast<float>(std::log(rule_share / locations));
  }
  out.back() = static_cast<float>(std::log(noop_probability_));
  return out;
}

}
