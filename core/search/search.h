#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/cost/cost.h"
#include "core/graph/graph.h"
#include "core/rules/rewrite/rewriter.h"

namespace regraft::search {

class SearchError : public Error {
 public:
  using Error::Error;
};

/// What is searched: graphs that can be reached from `start` by the rules, cheapest first. All outlive the
/// search; the start graph is not changed, its Tables grow.
struct SearchProblem {
  const graph::Graph& start;
  const rules::RuleSet& rules;
  const cost::CostFactory& costs;
};

/// The first one reached ends the search. An expansion is one graph whose candidates are looked at;
/// candidates are graphs whose cost is asked for, the measure by which searches compare: none costs more than
/// its limit.
struct SearchLimits {
  double seconds = 60;
  std::uint64_t expansions = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t candidates = std::numeric_limits<std::uint64_t>::max();
};

enum class StoppedBy : std::uint8_t { exhausted, seconds, expansions, candidates, cancelled };
std::string_view stopped_by_name(StoppedBy stopped_by);

/// A new best cost and what had been spent when it was found.
struct Improvement {
  double latency_us = 0;
  double seconds = 0;
  std::uint64_t expansions = 0;
  std::uint64_t candidates_costed = 0;
};

struct SearchProgress {
  std::string_view search;
  double seconds = 0;
  std::uint64_t expansions = 0;
  std::uint64_t candidates_costed = 0;
  double initial_latency_us = 0;
  double best_latency_us = 0;
};

/// Replaying `path` on a copy of the start graph (env/rewrite_state.h) gives a graph that costs `best`. Never
/// worse than the start, whose path is empty.
struct SearchResult {
  std::vector<rules::Match> path;
  cost::Cost initial, best;
  /// Rewritten graphs whose cost was asked for: the effort, counted alike by all searches.
  std::uint64_t candidates_costed = 0;
  std::uint64_t expansions = 0;
  /// Distinct graphs kept or walked through, the start included.
  std::uint64_t visited = 0;
  /// Matches that the rewriter refused though the index offered them (bugs in rules, survived), and what it
  /// said of the first.
  std::uint64_t refused = 0;
  std::string first_refusal;
  double seconds = 0;
  StoppedBy stopped_by = StoppedBy::exhausted;
  std::vector<Improvement> improvements;  // falling costs
  std::set<std::string> found_by;         // the searches that `path` is of, where several ran; else empty
};

/// What a search lives in. `progress` is called after each expansion, or after several, on the thread that
/// called the search; `stop` ends the search early with what it has. `threads`: on how many it may search;
/// the clock and the costs serve all of them.
struct SearchContext {
  const Clock& clock;
  std::function<void(const SearchProgress&)> progress = {};
  std::stop_token stop = {};
  std::size_t threads = 1;
};

/// One way to search. run() may be called again; calls with equal arguments and equal generator states give
/// equal results, on any number of threads, as long as the time limit is not what ends them. One call at a
/// time.
class Search {
 public:
  virtual ~Search() = default;
  virtual SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng& rng,
                           const SearchContext& context) = 0;
  virtual std::string name() const = 0;
};

}
