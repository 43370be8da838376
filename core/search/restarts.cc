#include "core/search/restarts.h"

#include <vector>

#include "core/graph/order.h"
#include "core/search/descent.h"

namespace regraft::search {
namespace {

/// A match of the present graph: uniformly a rule that matches, then one of its matches. The graph has some.
rules::Match draw(env::RewriteState& state, Rng& rng) {
  const rules::MatchIndex& index = state.index();
  std::vector<std::uint32_t> matching;
  for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule)
    if (!index.matches(rule).empty()) matching.push_back(rule);
  const auto matches = index.matches(matching[rng.below(matching.size())]);
  return matches[rng.below(matches.size())];
}

class Restarts : public Search {
 public:
  explicit Restarts(const RestartOptions& options) : options_(options) {
    if (options_.most_steps < 1)
      throw SearchError("walks of no steps lead nowhere", name(), "let them have at least one step");
    if (options_.most_known_ends < 1)
      throw SearchError("it would end before it walked", name(),
                        "let at least one walk end at a known graph");
  }
  std::string name() const override { return "restarts"; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng& rng,
                   const SearchContext& context) override {
    env::RewriteState state(problem.start, problem.rules, problem.costs);
    SearchRun run(name(), limits, context, state);
    const bool moves = state.index().match_count() > 0;
    bool goes_on = descend(run, state) && moves;
    VisitedGraphs passed;
    std::uint32_t known_ends = 0;  // in a row
    while (goes_on && known_ends < options_.most_known_ends) {
      state.rewind_to(0);
      goes_on = walk(run, state, rng, passed);
      if (!goes_on) break;
      const bool fresh = passed.erase(graph::structural_hash(state.graph()));
      known_ends = fresh ? 0 : known_ends + 1;
      if (fresh) goes_on = descend(run, state);
    }
    return run.finish();  // a run that no limit ended counts as exhausted
  }

 private:
  /// False where the limits ended it. A rewrite that is refused ends the walk where it stands. Graphs that
  /// nothing met before are added to those passed: no descent has led through them yet.
  bool walk(SearchRun& run, env::RewriteState& state, Rng& rng, VisitedGraphs& passed) const {
    const std::uint64_t steps = 1 + rng.below(options_.most_steps);
    for (std::uint64_t step = 0; step < steps && state.index().match_count() > 0; ++step) {
      if (!run.begin_expansion()) return false;
      const rules::Match match = draw(state, rng);
      if (!run.try_move([&] { state.apply(match); })) return run.goes_on();
      if (run.visit(graph::structural_hash(state.graph())))
        passed.insert(graph::structural_hash(state.graph()));
      run.offer(state.cost_model(), state.path());
    }
    return true;
  }

  RestartOptions options_;
};

}  // namespace

std::unique_ptr<Search> make_restarts(RestartOptions options) {
  return std::make_unique<Restarts>(options);
}

}
