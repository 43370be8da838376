#include "core/search/take_action.h"

#include "core/env/all_sites.h"

namespace regraft::search {
namespace {

bool take(SearchRun& run, env::RewriteState& state, const rules::Match& match) {
  return run.try_move([&] {
    state.apply(match);
    state.cost_model();
  });
}

}  // namespace

bool take_all_sites(SearchRun& run, env::RewriteState& state, std::uint32_t rule) {
  using env::Applied;
  const std::size_t depth = state.depth();
  env::apply_at_all_sites(state, rule, [&](const rules::Match& match) {
    if (!run.goes_on() || run.costs_no_more()) return Applied::stopped;
    return take(run, state, match) ? Applied::yes : Applied::refused;
  });
  return state.depth() > depth;
}

bool take_action(SearchRun& run, env::RewriteState& state, const env::Observation& seen, env::Action action) {
  if (seen.stands_for_all(action.rule, action.location)) return take_all_sites(run, state, action.rule);
  const rules::Match match = state.index().matches(action.rule)[seen.site(action.rule, action.location)];
  return take(run, state, match);
}

}
