#include "core/search/beam.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "core/graph/order.h"
#include "core/search/search_run.h"
#include "core/search/search_tree.h"

namespace regraft::search {
namespace {

/// A candidate of the next level, not yet in the tree; the earliest of equal costs comes first.
struct Contender {
  double latency_us;
  std::uint64_t order;
  SearchTree::Id parent;
  rules::Match match;
  Hash128 hash;

  bool operator<(const Contender& other) const {
    if (latency_us != other.latency_us) return latency_us < other.latency_us;
    return order < other.order;
  }
};

/// The `width` cheapest distinct graphs offered to a level, as a heap with the dearest on top.
class Level {
 public:
  explicit Level(std::size_t width) : width_(width) {}

  /// Whether a graph of this cost would be kept; saves hashing the others.
  bool takes(double latency_us) const {
    return heap_.size() < width_ || latency_us < heap_.front().latency_us;
  }

  void offer(Contender contender) {
    if (!hashes_.insert(contender.hash).second) return;
    contender.order = offered_++;
    heap_.push_back(std::move(contender));
    std::push_heap(heap_.begin(), heap_.end());
    if (heap_.size() <= width_) return;
    std::pop_heap(heap_.begin(), heap_.end());
    hashes_.erase(heap_.back().hash);
    heap_.pop_back();
  }

  std::vector<Contender> sorted() && {
    std::sort_heap(heap_.begin(), heap_.end());
    return std::move(heap_);
  }

 private:
  std::size_t width_;
  std::uint64_t offered_ = 0;
  std::vector<Contender> heap_;
  std::unordered_set<Hash128> hashes_;
};

class Beam : public Search {
 public:
  explicit Beam(BeamOptions options) : options_(options) {
    if (options.width < 1) throw SearchError("the width is 0", "width", "use at least 1");
    if (options.patience < 1) throw SearchError("the patience is 0", "patience", "use at least 1");
  }
  std::string name() const override { return "beam"; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng&,
                   const SearchContext& context) override {
    env::RewriteState state(problem.start, problem.rules, problem.costs);
    SearchRun run(name(), limits, context, state);
    SearchTree tree(state);
    run.visit(graph::structural_hash(state.graph()));
    std::vector<SearchTree::Id> beam{0};
    std::uint32_t idle = 0;
    while (idle < options_.patience && !beam.empty()) {
      const double best_before_us = run.best().latency_us;
      Level next(options_.width);
      for (const SearchTree::Id id : beam) {
        if (!run.begin_expansion()) return run.finish();
        tree.go_to(id);
        expand(run, state, id, next);
      }
      beam.clear();
      for (const Contender& contender : std::move(next).sorted()) {
        run.visit(contender.hash);
        beam.push_back(tree.add(contender.parent, contender.match));
      }
      idle = run.best().latency_us < best_before_us ? 0 : idle + 1;
    }
    return run.finish();
  }

 private:
  void expand(SearchRun& run, env::RewriteState& state, SearchTree::Id parent, Level& next) const {
    const rules::MatchIndex& index = state.index();
    for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule) {
      for (const rules::Match& match : index.matches(rule)) {
        if (!run.goes_on()) return;
        run.try_match(state, match, [&](const graph::Graph& graph, cost::CostModel& cost) {
          run.offer(cost, state.path(), &match);
          if (!next.takes(cost.latency_us())) return;
          const Hash128 hash = graph::structural_hash(graph);
          if (!run.knows(hash)) next.offer({cost.latency_us(), 0, parent, match, hash});
        });
      }
    }
  }

  BeamOptions options_;
};

}  // namespace

std::unique_ptr<Search> make_beam(BeamOptions options) {
  return std::make_unique<Beam>(options);
}

}
