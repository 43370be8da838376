#include "core/search/greedy.h"

#include "core/search/descent.h"

namespace regraft::search {
namespace {

class Greedy : public Search {
 public:
  std::string name() const override { return "greedy"; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng&,
                   const SearchContext& context) override {
    env::RewriteState state(problem.start, problem.rules, problem.costs);
    SearchRun run(name(), limits, context, state);
    descend(run, state);
    return run.finish();
  }
};

}  // namespace

std::unique_ptr<Search> make_greedy() {
  return std::make_unique<Greedy>();
}

}
