#include "core/search/taso.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <vector>

#include "core/graph/order.h"
#include "core/search/search_run.h"
#include "core/search/search_tree.h"

namespace regraft::search {
namespace {

struct Queued {
  double latency_us;
  SearchTree::Id id;  // also breaks ties: the earlier one first

  auto operator<=>(const Queued&) const = default;
};

class Taso : public Search {
 public:
  explicit Taso(TasoOptions options) : options_(options) {
    if (!(options.alpha >= 1))
      throw SearchError("alpha is below 1", "alpha", "use 1 or more; TASO's is 1.05");
  }
  std::string name() const override { return "taso"; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng&,
                   const SearchContext& context) override {
    SearchLimits bounded = limits;
    bounded.expansions = std::min(limits.expansions, options_.budget);
    bounded.candidates = std::min(limits.candidates, options_.most_candidates);
    env::RewriteState state(problem.start, problem.rules, problem.costs);
    SearchRun run(name(), bounded, context, state);
    SearchTree tree(state);
    Queue queue{{run.initial().latency_us, 0}};
    while (!queue.empty() && run.begin_expansion()) {
      if (tree.is_full()) forget_dearest(queue, tree);
      std::pop_heap(queue.begin(), queue.end(), std::greater<>());
      const Queued next = queue.back();
      queue.pop_back();
      tree.go_to(next.id);
      expand(run, state, tree, next.id, queue);
    }
    return run.finish();
  }

 private:
  using Queue = std::vector<Queued>;  // a heap with the cheapest on top

  static void forget_dearest(Queue& queue, SearchTree& tree) {
    std::sort(queue.begin(), queue.end());  // which is a heap, too
    queue.resize((queue.size() + 1) / 2);
    std::vector<SearchTree::Id> ids;
    for (const Queued& queued : queue) ids.push_back(queued.id);
    ids = tree.keep(ids);
    for (std::size_t i = 0; i < ids.size(); ++i) queue[i].id = ids[i];
  }

  void expand(SearchRun& run, env::RewriteState& state, SearchTree& tree, SearchTree::Id parent,
              Queue& queue) const {
    const rules::MatchIndex& index = state.index();
    for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule) {
      for (const rules::Match& match : index.matches(rule)) {
        if (!run.goes_on()) return;
        run.try_match(state, match, [&](const graph::Graph& graph, cost::CostModel& cost) {
          const double latency_us = cost.latency_us();
          if (latency_us >= options_.alpha * run.best().latency_us ||
              !run.visit(graph::structural_hash(graph)))
            return;
          run.offer(cost, state.path(), &match);
          queue.push_back({latency_us, tree.add(parent, match)});
          std::push_heap(queue.begin(), queue.end(), std::greater<>());
        });
      }
    }
  }

  TasoOptions options_;
};

}  // namespace

std::unique_ptr<Search> make_taso(TasoOptions options) {
  return std::make_unique<Taso>(options);
}

}
