#include "core/search/portfolio.h"

#include <cmath>
#include <utility>

#include "core/env/rewrite_state.h"

namespace regraft::search {
namespace {

/// Where each search of several starts.
enum class Start : std::uint8_t { same, best_so_far };

class Portfolio : public Search {
 public:
  Portfolio(std::vector<std::unique_ptr<Search>> searches, std::string name, Start start, double first_share)
      : searches_(std::move(searches)), name_(std::move(name)), start_(start), first_share_(first_share) {
    if (searches_.empty()) throw SearchError("there is no search to choose from", name_, "");
  }
  std::string name() const override { return name_; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng& rng,
                   const SearchContext& context) override {
    const double equal = 1.0 / static_cast<double>(searches_.size());
    SearchResult total = searches_[0]->run(
        problem, part_of(limits, {}, first_share_ > 0 ? first_share_ : equal), rng, context);
    if (!total.path.empty()) total.found_by = {searches_[0]->name()};
    for (std::size_t i = 1; i < searches_.size() && total.stopped_by != StoppedBy::cancelled; ++i) {
      const SearchLimits part = part_of(limits, total, 1.0 / static_cast<double>(searches_.size() - i));
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
  /// A share of what `spent` leaves of the limits.
  static SearchLimits part_of(const SearchLimits& limits, const SearchResult& spent, double share) {
    const auto part = [&](std::uint64_t left) {
      return share < 1 ? static_cast<std::uint64_t>(std::ceil(static_cast<double>(left) * share)) : left;
    };
    return {(limits.seconds - spent.seconds) * share, part(limits.expansions - spent.expansions),
            part(limits.candidates - spent.candidates_costed)};
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
      if (start_ == Start::same) {
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
    if (total.stopped_by == StoppedBy::exhausted || next.stopped_by == StoppedBy::cancelled)
      total.stopped_by = next.stopped_by;
  }

  std::vector<std::unique_ptr<Search>> searches_;
  std::string name_;
  Start start_;
  double first_share_;  // of the limits; 0: as large as the others
};

}  // namespace

std::unique_ptr<Search> make_portfolio(std::vector<std::unique_ptr<Search>> searches, std::string name) {
  return std::make_unique<Portfolio>(std::move(searches), std::move(name), Start::same, 0);
}

std::unique_ptr<Search> make_chain(std::vector<std::unique_ptr<Search>> searches, std::string name,
                                   double first_share) {
  return std::make_unique<Portfolio>(std::move(searches), std::move(name), Start::best_so_far, first_share);
}

}
