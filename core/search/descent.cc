#include "core/search/descent.h"

namespace regraft::search {

std::optional<rules::Match> steepest(SearchRun& run, env::RewriteState& state) {
  double least_us = state.cost_model().latency_us();
  std::optional<rules::Match> choice;
  const rules::MatchIndex& index = state.index();
  for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule) {
    for (const rules::Match& match : index.matches(rule)) {
      if (!run.goes_on()) return choice;
      run.try_match(state, match, [&](const graph::Graph&, cost::CostModel& cost) {
        if (!env::cheaper(cost.latency_us(), least_us)) return;
        least_us = cost.latency_us();
        choice = match;
      });
    }
  }
  return choice;
}

bool descend(SearchRun& run, env::RewriteState& state) {
  while (run.begin_expansion()) {
    const std::optional<rules::Match> choice = steepest(run, state);
    if (!choice) return true;
    state.apply(*choice);
    run.visit(state.graph().hash());
    run.offer(state.cost_model(), state.path());
  }
  return false;
}

}  // namespace regraft::search
