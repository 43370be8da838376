#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "core/env/rewrite_state.h"
#include "core/graph/order.h"
#include "core/search/search.h"
#include "support/manual_clock.h"
#include "support/validate.h"

namespace regraft::search {

/// A clock that moves a fixed time at each reading, so that time limits can be tested without waiting.
class SteppingClock : public Clock {
 public:
  explicit SteppingClock(std::int64_t step_ns) : step_ns_(step_ns) {}
  std::int64_t steady_ns() const override { return now_ns_ += step_ns_; }
  std::int64_t wall_ns() const override { return 0; }

 private:
  std::int64_t step_ns_;
  mutable std::int64_t now_ns_ = 0;
};

/// What every search must do on any problem. check_search() runs it all.
class SearchConformance {
 public:
  using Make = std::function<std::unique_ptr<Search>()>;

  SearchConformance(Make make, const SearchProblem& problem) : make_(std::move(make)), problem_(problem) {}

  void check(std::uint64_t seed) const {
    SCOPED_TRACE(make_()->name() + ", seed " + std::to_string(seed));
    result_replays(seed);
    equal_seeds_give_equal_results(seed);
    threads_find_what_one_finds(seed);
    expansions_are_limited(seed);
    candidates_are_limited(seed);
    seconds_are_limited(seed);
    stops_when_asked(seed);
    reports_progress(seed);
  }

  SearchResult run(std::uint64_t seed, std::uint64_t expansions) const {
    return run_on(1, seed, {1.0, expansions});
  }

  SearchResult run_on(std::size_t threads, std::uint64_t seed, const SearchLimits& limits) const {
    const ManualClock clock;
    Rng rng(seed, "search");
    return make_()->run(problem_, limits, rng, {clock, {}, {}, threads});
  }

  void result_replays(std::uint64_t seed) const {
    const Hash128 before = graph::structural_hash(problem_.start);
    const SearchResult result = run(seed, 40);
    EXPECT_EQ(graph::structural_hash(problem_.start), before) << "the start graph stays as it is";
    EXPECT_EQ(result.initial.latency_us, problem_.costs.make(problem_.start)->cost().latency_us);
    EXPECT_LE(result.best.latency_us, result.initial.latency_us);
    EXPECT_EQ(result.path.empty(), result.best.latency_us == result.initial.latency_us);
    const graph::Graph best = env::replay(problem_.start, problem_.rules, result.path);
    graph::validate(best);
    EXPECT_EQ(problem_.costs.make(best)->cost().latency_us, result.best.latency_us);
    EXPECT_EQ(result.refused, 0u) << result.first_refusal;
    double last = result.initial.latency_us;
    for (const Improvement& step : result.improvements) {
      EXPECT_LT(step.latency_us, last);
      EXPECT_LE(step.candidates_costed, result.candidates_costed);
      last = step.latency_us;
    }
    EXPECT_EQ(last, result.best.latency_us);
    EXPECT_GE(result.visited, 1u);
  }

  static void expect_equal(const SearchResult& one, const SearchResult& other) {
    EXPECT_EQ(one.path, other.path);
    EXPECT_EQ(one.best.latency_us, other.best.latency_us);
    EXPECT_EQ(one.candidates_costed, other.candidates_costed);
    EXPECT_EQ(one.expansions, other.expansions);
    EXPECT_EQ(one.visited, other.visited);
    EXPECT_EQ(one.stopped_by, other.stopped_by);
    ASSERT_EQ(one.improvements.size(), other.improvements.size());
    for (std::size_t i = 0; i < one.improvements.size(); ++i) {
      EXPECT_EQ(one.improvements[i].latency_us, other.improvements[i].latency_us);
      EXPECT_EQ(one.improvements[i].candidates_costed, other.improvements[i].candidates_costed);
      EXPECT_EQ(one.improvements[i].expansions, other.improvements[i].expansions);
    }
  }

  void equal_seeds_give_equal_results(std::uint64_t seed) const {
    expect_equal(run(seed, 25), run(seed, 25));
  }

  void threads_find_what_one_finds(std::uint64_t seed) const {
    const SearchResult one = run_on(1, seed, {.expansions = 400});
    expect_equal(one, run_on(3, seed, {.expansions = 400}));
    for (const std::uint64_t part : {2, 3, 7}) {
      const SearchLimits few{.expansions = one.expansions / part};
      expect_equal(run_on(1, seed, few), run_on(2, seed, few));
      const SearchLimits fewer{.expansions = 400, .candidates = one.candidates_costed / part};
      expect_equal(run_on(1, seed, fewer), run_on(5, seed, fewer));
    }
  }

  void expansions_are_limited(std::uint64_t seed) const {
    for (const std::uint64_t limit : {0, 1, 3}) {
      const SearchResult result = run(seed, limit);
      EXPECT_LE(result.expansions, limit);
      EXPECT_TRUE(result.stopped_by == StoppedBy::expansions || result.expansions < limit);
      EXPECT_LE(result.best.latency_us, result.initial.latency_us);
    }
    EXPECT_EQ(run(seed, 0).candidates_costed, 0u);
  }

  void candidates_are_limited(std::uint64_t seed) const {
    const ManualClock clock;
    const auto limited = [&](std::uint64_t candidates) {
      Rng rng(seed, "search");
      return make_()->run(problem_, {.expansions = 25, .candidates = candidates}, rng, {clock});
    };
    const std::uint64_t wanted = run(seed, 25).candidates_costed;
    for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1}, wanted / 2}) {
      const SearchResult result = limited(limit);
      EXPECT_LE(result.candidates_costed, limit);
      EXPECT_LE(result.best.latency_us, result.initial.latency_us);
      if (limit < wanted) {
        EXPECT_NE(result.stopped_by, StoppedBy::exhausted) << limit << " of " << wanted;
      }
    }
    EXPECT_GT(wanted, 0u);
  }

  void seconds_are_limited(std::uint64_t seed) const {
    Rng rng(seed, "search");
    const SteppingClock never(nanoseconds_per_second);
    const SearchResult nothing = make_()->run(problem_, {.seconds = 0}, rng, {never});
    EXPECT_EQ(nothing.stopped_by, StoppedBy::seconds);
    EXPECT_EQ(nothing.expansions, 0u);
    EXPECT_TRUE(nothing.path.empty());
    const SteppingClock clock(nanoseconds_per_second / 1000);
    const SearchResult result = make_()->run(problem_, {.seconds = 0.02}, rng, {clock});
    EXPECT_LE(result.seconds, 0.03)
        << "a thousandth of a second a reading, and no reading is far from the next";
  }

  void stops_when_asked(std::uint64_t seed) const {
    const ManualClock clock;
    Rng rng(seed, "search");
    std::stop_source stop;
    std::uint64_t seen = 0;
    const auto progress = [&](const SearchProgress& now) {
      seen = now.expansions;
      if (now.expansions == 2) stop.request_stop();
    };
    const SearchResult result = make_()->run(problem_, {1.0, 100}, rng, {clock, progress, stop.get_token()});
    if (seen < 2) return;  // it was done before
    EXPECT_EQ(result.stopped_by, StoppedBy::cancelled);
    EXPECT_EQ(result.expansions, 2u);
    EXPECT_LE(result.best.latency_us, result.initial.latency_us);
  }

  void reports_progress(std::uint64_t seed) const {
    const ManualClock clock;
    Rng rng(seed, "search");
    std::uint64_t calls = 0, costed = 0;
    double best = std::numeric_limits<double>::infinity();
    const auto progress = [&](const SearchProgress& now) {
      ++calls;
      EXPECT_FALSE(now.search.empty());
      if (now.expansions == 1)
        best = std::numeric_limits<double>::infinity(), costed = 0;  // the next of several searches
      EXPECT_LE(now.best_latency_us, best);
      EXPECT_GE(now.candidates_costed, costed);
      best = now.best_latency_us;
      costed = now.candidates_costed;
    };
    const SearchResult result = make_()->run(problem_, {1.0, 20}, rng, {clock, progress});
    EXPECT_EQ(calls, result.expansions);
  }

 private:
  Make make_;
  SearchProblem problem_;
};

inline void check_search(SearchConformance::Make make, const SearchProblem& problem, std::uint64_t seed) {
  SearchConformance(std::move(make), problem).check(seed);
}

}
