#include "core/search/portfolio.h"

#include <utility>

#include "core/env/rewrite_state.h"

namespace regraft::search {
namespace {

/// Where each search of several starts.
enum class Start : std::uint8_t { same, best_so_far };

class Portfolio : public Search {
 public:
  Portfolio(std::vector<std::unique_ptr<Search>> searches, std::string name, Start start)
      : searches_(std::move(searches)), name_(std::move(name)), start_(start) {
    if (searches_.empty()) throw SearchError("there is no search to choose from", name_, "");
  }
  std::string name() const override { return name_; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng& rng,
                   const SearchContext& context) override {
    SearchResult total = searches_[0]->run(problem, share(limits, {}, 0), rng, context);
    if (!total.path.empty()) total.found_by = {searches_[0]->name()};
    for (std::size_t i = 1; i < searches_.size() && total.stopped_by != StoppedBy::cancelled; ++i) {
      const SearchLimits part = share(limits, total, i);
      if (start_ == Start::same) {
        merge(total, searches_[i]->run(problem, part, rng, context), searches_[i]->name());
      } else {  // ids go on where a path ends, so the paths make one
        const graph::Graph reached = env::replay(problem.start, problem.rules, total.path);
        merge(total, searches_[i]->run({reached, problem.rules, problem.costs}, part, rng, context),
              searches_[i]->name());
      }
    }
    return total;
  }

 private:
  /// One search's part of what `spent` leaves of the limits.
  SearchLimits share(const SearchLimits& limits, const SearchResult& spent, std::size_t search) const {
    const std::uint64_t left = searches_.size() - search;
    std::uint64_t taken = 1, of = left;
    if (start_ == Start::best_so_far && left > 1) taken = 3, of = 4;
    const auto part = [&](std::uint64_t count) { return count / of * taken + count % of * taken / of; };
    return {(limits.seconds - spent.seconds) * static_cast<double>(taken) / static_cast<double>(of),
            part(limits.expansions - spent.expansions), part(limits.candidates - spent.candidates_costed)};
  }

  /// Adds the counters of `next`, which ran after `total`, and takes its graph where it is cheaper.
  void merge(SearchResult& total, SearchResult next, const std::string& name) const {
    if (env::cheaper(next.best, total.best)) {
      for (Improvement step : next.improvements) {
        if (!(step.latency_us < total.best.latency_us)) continue;
        step.seconds += total.seconds;
        step.expansions += total.expansions;
        step.candidates_costed += total.candidates_costed;
        total.improvements.push_back(step);
      }
      total.best = next.best;
      const bool goes_on = start_ == Start::best_so_far && !total.path.empty();
      if (!goes_on) {
        total.path.clear();
        total.found_by.clear();
      }
      total.path.insert(total.path.end(), next.path.begin(), next.path.end());
      total.found_by.insert(name);
    }
    if (total.refused == 0) total.first_refusal = std::move(next.first_refusal);
    total.candidates_costed += next.candidates_costed;
    total.expansions += next.expansions;
    total.visited += next.visited;
    total.refused += next.refused;
    total.seconds += next.seconds;
    if (next.stopped_by != StoppedBy::exhausted) total.stopped_by = next.stopped_by;
  }

  std::vector<std::unique_ptr<Search>> searches_;
  std::string name_;
  Start start_;
};

}  // namespace

std::unique_ptr<Search> make_portfolio(std::vector<std::unique_ptr<Search>> searches, std::string name) {
  return std::make_unique<Portfolio>(std::move(searches), std::move(name), Start::same);
}

std::unique_ptr<Search> make_chain(std::vector<std::unique_ptr<Search>> searches, std::string name) {
  return std::make_unique<Portfolio>(std::move(searches), std::move(name), Start::best_so_far);
}

}  // namespace regraft::search
