#include "core/search/greedy.h"

#include <optional>

#include "core/search/search_run.h"

namespace regraft::search {
namespace {

class Greedy : public Search {
 public:
  std::string name() const override { return "greedy"; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng&,
                   const SearchContext& context) override {
    env::RewriteState state(problem.start, problem.rules, problem.costs);
    SearchRun run(name(), limits, context, state);
    while (run.begin_expansion()) {
      const std::optional<rules::Match> choice = cheapest(run, state);
      if (!choice) break;
      state.apply(*choice);
      run.visit(state.graph().hash());
      run.offer(state.cost(), state.path());
    }
    return run.finish();
  }

 private:
  /// The best candidate that improves on the present graph, if there is one.
  std::optional<rules::Match> cheapest(SearchRun& run, env::RewriteState& state) const {
    cost::Cost least = state.cost();
    std::optional<rules::Match> choice;
    const rules::MatchIndex& index = state.index();
    for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule) {
      for (const rules::Match& match : index.matches(rule)) {
        if (!run.goes_on()) return choice;
        run.try_match(state, match, [&](const graph::Graph&, const cost::Cost& cost) {
          if (!env::cheaper(cost, least)) return;
          least = cost;
          choice = match;
        });
      }
    }
    return choice;
  }
};

}  // namespace

std::unique_ptr<Search> make_greedy() {
  return std::make_unique<Greedy>();
}

}  // namespace regraft::search
