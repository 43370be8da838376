#include "core/search/descent.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/graph/order.h"

namespace regraft::search {
namespace {

struct Candidate {
  double latency_us;
  rules::Match match;
  bool seen;  // on the present graph, and not on one before
};

/// The latency after the match, which is told to the gains; nothing where the run ends.
std::optional<double> look(SearchRun& run, env::RewriteState& state, const rules::Match& match,
                           Gains& gains) {
  if (!run.goes_on()) return std::nullopt;
  const double now_us = state.cost_model().latency_us();
  double gain_us = Gains::kRefused;
  run.try_match(state, match,
                [&](const graph::Graph&, cost::CostModel& cost) { gain_us = now_us - cost.latency_us(); });
  gains.set(match, gain_us);
  return now_us - gain_us;
}

/// Calls take(candidate) with all that would make the graph cheaper than most_us() says, by what is known.
/// False where the run ends first.
template <typename Most, typename Take>
bool for_each_cheaper(SearchRun& run, env::RewriteState& state, Gains& gains, Most most_us, Take take) {
  const double now_us = state.cost_model().latency_us();
  const rules::MatchIndex& index = state.index();
  for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule) {
    for (const rules::Match& match : index.matches(rule)) {
      const std::optional<double> known_us = gains.of(match);
      const std::optional<double> latency_us = known_us ? now_us - *known_us : look(run, state, match, gains);
      if (!latency_us) return false;
      if (env::cheaper(*latency_us, most_us())) take(Candidate{*latency_us, match, !known_us});
    }
  }
  return true;
}

/// The cheapest rewrite, the first of equals, seen on the present graph.
std::optional<rules::Match> steepest(SearchRun& run, env::RewriteState& state, Gains& gains) {
  while (true) {
    double least_us = state.cost_model().latency_us();
    std::optional<Candidate> choice;
    const bool goes_on = for_each_cheaper(
        run, state, gains, [&] { return least_us; },
        [&](Candidate candidate) {
          least_us = candidate.latency_us;
          choice = std::move(candidate);
        });
    if (!choice) return std::nullopt;
    if (choice->seen) return choice->match;
    if (!goes_on) return std::nullopt;
    const std::optional<double> latency_us = look(run, state, choice->match, gains);
    if (!latency_us) return std::nullopt;
    if (!env::cheaper(choice->latency_us, *latency_us)) return choice->match;  // as good as it was
  }
}

void apply(env::RewriteState& state, const rules::Match& match, Gains& gains) {
  const std::size_t depth = state.depth();
  state.apply(match);
  gains.touch(state.graph(), state.touched_since(depth));
}

bool take_steepest(SearchRun& run, env::RewriteState& state, Gains& gains) {
  const std::optional<rules::Match> choice = steepest(run, state, gains);
  if (choice) apply(state, *choice, gains);
  return choice.has_value();
}

/// False: there was nothing to take.
bool take_all_cheaper(SearchRun& run, env::RewriteState& state, Gains& gains) {
  const std::size_t bottom = state.depth();
  const double now_us = state.cost_model().latency_us();
  std::vector<Candidate> found;
  for_each_cheaper(
      run, state, gains, [&] { return now_us; },
      [&](Candidate candidate) { found.push_back(std::move(candidate)); });
  std::ranges::stable_sort(found, {}, &Candidate::latency_us);
  for (const Candidate& candidate : found) {
    const std::size_t depth = state.depth();
    const double before_us = state.cost_model().latency_us();
    const bool moved = run.try_held([&] { state.apply(candidate.match); });
    if (moved && !env::cheaper(state.cost_model().latency_us(), before_us)) {
      state.rewind_to(depth);
      gains.set(candidate.match, Gains::kRefused);
    }
    if (!run.goes_on()) break;
  }
  if (state.depth() == bottom) return false;
  gains.touch(state.graph(), state.touched_since(bottom));
  return true;
}

bool descend(SearchRun& run, env::RewriteState& state, Gains& gains, bool looks_again) {
  while (run.begin_expansion()) {
    const auto take = [&] {
      const bool large = state.graph().operation_count() > kLargeGraph;
      return large ? take_all_cheaper(run, state, gains) : take_steepest(run, state, gains);
    };
    if (!take()) {
      if (!looks_again || gains.are_certain() || !run.goes_on()) return true;
      gains.forget();
      if (!take()) return true;
    }
    run.visit(graph::structural_hash(state.graph()));
    run.offer(state.cost_model(), state.path());
  }
  return false;
}

}  // namespace

bool descend(SearchRun& run, env::RewriteState& state, Gains& gains) {
  return descend(run, state, gains, true);
}

bool descend(SearchRun& run, env::RewriteState& state) {
  Gains gains;
  return descend(run, state, gains);
}

bool descend_by_known(SearchRun& run, env::RewriteState& state, Gains& gains) {
  return descend(run, state, gains, false);
}

}  // namespace regraft::search
