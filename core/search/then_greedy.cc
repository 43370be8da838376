#include "core/search/then_greedy.h"

#include <utility>

#include "core/env/rewrite_state.h"
#include "core/search/greedy.h"

namespace regraft::search {
namespace {

class ThenGreedy : public Search {
 public:
  explicit ThenGreedy(std::unique_ptr<Search> search) : search_(std::move(search)), greedy_(make_greedy()) {}
  std::string name() const override { return search_->name() + ", then greedy"; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng& rng,
                   const SearchContext& context) override {
    SearchResult found = search_->run(
        problem, {limits.seconds / 2, limits.expansions / 2, limits.candidates / 2}, rng, context);
    if (found.stopped_by == StoppedBy::cancelled) return found;
    // Ids go on where the path ends, so the two paths make one.
    const graph::Graph reached = env::replay(problem.start, problem.rules, found.path);
    const SearchResult more =
        greedy_->run({reached, problem.rules, problem.costs},
                     {limits.seconds - found.seconds, limits.expansions - found.expansions,
                      limits.candidates - found.candidates_costed},
                     rng, context);
    for (Improvement step : more.improvements) {
      step.seconds += found.seconds;
      step.expansions += found.expansions;
      step.candidates_costed += found.candidates_costed;
      found.improvements.push_back(step);
    }
    found.path.insert(found.path.end(), more.path.begin(), more.path.end());
    found.best = more.best;
    found.candidates_costed += more.candidates_costed;
    found.expansions += more.expansions;
    found.visited += more.visited;
    if (found.refused == 0) found.first_refusal = more.first_refusal;
    found.refused += more.refused;
    found.seconds += more.seconds;
    found.stopped_by = more.stopped_by;
    return found;
  }

 private:
  std::unique_ptr<Search> search_;
  std::unique_ptr<Search> greedy_;
};

}  // namespace

std::unique_ptr<Search> make_then_greedy(std::unique_ptr<Search> search) {
  return std::make_unique<ThenGreedy>(std::move(search));
}

}  // namespace regraft::search
