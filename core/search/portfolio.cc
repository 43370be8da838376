#include "core/search/portfolio.h"

#include <utility>

#include "core/env/rewrite_state.h"

namespace regraft::search {
namespace {

/// Adds the counters of `next`, which ran after `total`, and takes its graph where it is cheaper.
void merge(SearchResult& total, SearchResult next, const std::string& name) {
  if (env::cheaper(next.best, total.best)) {
    for (Improvement step : next.improvements) {
      if (!(step.latency_us < total.best.latency_us)) continue;
      step.seconds += total.seconds;
      step.expansions += total.expansions;
      step.candidates_costed += total.candidates_costed;
      total.improvements.push_back(step);
    }
    total.best = next.best;
    total.path = std::move(next.path);
    total.found_by = name;
  }
  if (total.refused == 0) total.first_refusal = std::move(next.first_refusal);
  total.candidates_costed += next.candidates_costed;
  total.expansions += next.expansions;
  total.visited += next.visited;
  total.refused += next.refused;
  total.seconds += next.seconds;
  if (next.stopped_by != StoppedBy::exhausted) total.stopped_by = next.stopped_by;
}

class Portfolio : public Search {
 public:
  Portfolio(std::vector<std::unique_ptr<Search>> searches, std::string name)
      : searches_(std::move(searches)), name_(std::move(name)) {
    if (searches_.empty()) throw SearchError("there is no search to choose from", name_, "");
  }
  std::string name() const override { return name_; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng& rng,
                   const SearchContext& context) override {
    SearchResult total;
    for (std::size_t i = 0; i < searches_.size(); ++i) {
      const std::size_t left = searches_.size() - i;
      SearchLimits share;
      share.seconds = (limits.seconds - total.seconds) / static_cast<double>(left);
      share.expansions = (limits.expansions - total.expansions) / left;
      share.candidates = (limits.candidates - total.candidates_costed) / left;
      SearchResult next = searches_[i]->run(problem, share, rng, context);
      if (i == 0) {
        total = std::move(next);
        total.found_by = searches_[i]->name();
      } else {
        merge(total, std::move(next), searches_[i]->name());
      }
      if (total.stopped_by == StoppedBy::cancelled) break;
    }
    return total;
  }

 private:
  std::vector<std::unique_ptr<Search>> searches_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Search> make_portfolio(std::vector<std::unique_ptr<Search>> searches, std::string name) {
  return std::make_unique<Portfolio>(std::move(searches), std::move(name));
}

}  // namespace regraft::search
