#include "core/search/descent.h"
#include "core/graph/order.h"

#include <algorithm>
#include <vector>

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

namespace {

struct Candidate {
  double latency_us;
  rules::Match match;
};

/// What would make the graph cheaper, cheapest first, the first of equals first.
std::vector<Candidate> cheaper_ones(SearchRun& run, env::RewriteState& state) {
  const double now_us = state.cost_model().latency_us();
  std::vector<Candidate> found;
  const rules::MatchIndex& index = state.index();
  for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule) {
    for (const rules::Match& match : index.matches(rule)) {
      if (!run.goes_on()) break;
      run.try_match(state, match, [&](const graph::Graph&, cost::CostModel& cost) {
        if (env::cheaper(cost.latency_us(), now_us)) found.push_back({cost.latency_us(), match});
      });
    }
  }
  std::ranges::stable_sort(found, {}, &Candidate::latency_us);
  return found;
}

/// False: there was nothing to take.
bool take_all_cheaper(SearchRun& run, env::RewriteState& state) {
  const std::size_t bottom = state.depth();
  for (const Candidate& candidate : cheaper_ones(run, state)) {
    const std::size_t depth = state.depth();
    const double before_us = state.cost_model().latency_us();
    const bool moved = run.try_held([&] { state.apply(candidate.match); });
    if (moved && !env::cheaper(state.cost_model().latency_us(), before_us)) state.rewind_to(depth);
    if (!run.goes_on()) break;
  }
  return state.depth() > bottom;
}

bool take_steepest(SearchRun& run, env::RewriteState& state) {
  const std::optional<rules::Match> choice = steepest(run, state);
  if (choice) state.apply(*choice);
  return choice.has_value();
}

}  // namespace

bool descend(SearchRun& run, env::RewriteState& state) {
  while (run.begin_expansion()) {
    const bool large = state.graph().operation_count() > kLargeGraph;
    if (!(large ? take_all_cheaper(run, state) : take_steepest(run, state))) return true;
    run.visit(graph::structural_hash(state.graph()));
    run.offer(state.cost_model(), state.path());
  }
  return false;
}

}  // namespace regraft::search
