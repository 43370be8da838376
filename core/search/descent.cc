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

/// What makes the graph cheaper, by what is known and seen, cheapest first, the first of equals first; less
/// where the run ends.
std::vector<Candidate> cheaper_ones(SearchRun& run, env::RewriteState& state, Gains& gains) {
  std::vector<Candidate> found;
  const double now_us = state.cost_model().latency_us();
  const rules::MatchIndex& index = state.index();
  bool goes_on = true;
  for (std::uint32_t rule = 0; goes_on && rule < state.rules().size(); ++rule) {
    for (const rules::Match& match : index.matches(rule)) {
      const std::optional<double> known_us = gains.of(match);
      const std::optional<double> latency_us = known_us ? now_us - *known_us : look(run, state, match, gains);
      goes_on = latency_us.has_value();
      if (!goes_on) break;
      if (env::cheaper(*latency_us, now_us)) found.push_back({*latency_us, match, !known_us});
    }
  }
  std::ranges::stable_sort(found, {}, &Candidate::latency_us);
  return found;
}

/// The cheapest rewrite, the first of equals, seen on the present graph.
std::optional<rules::Match> steepest(SearchRun& run, env::RewriteState& state, Gains& gains) {
  double least_us = state.cost_model().latency_us();
  std::optional<rules::Match> choice;
  for (const Candidate& candidate : cheaper_ones(run, state, gains)) {
    if (!env::cheaper(candidate.latency_us, least_us)) break;  // nor is any behind it
    const std::optional<double> latency_us =
        candidate.seen ? candidate.latency_us : look(run, state, candidate.match, gains);
    if (!latency_us) break;
    if (!env::cheaper(*latency_us, least_us)) continue;
    least_us = *latency_us;
    choice = candidate.match;
  }
  return choice;
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
  for (const Candidate& candidate : cheaper_ones(run, state, gains)) {
    const std::size_t depth = state.depth();
    const double before_us = state.cost_model().latency_us();
    const bool moved = run.try_held([&] { state.apply(candidate.match); });
    if (const double after_us = state.cost_model().latency_us();
        moved && !env::cheaper(after_us, before_us)) {
      state.rewind_to(depth);
      gains.set(candidate.match, before_us - after_us);
    }
    if (!run.goes_on()) break;
  }
  if (state.depth() == bottom) return false;
  gains.touch(state.graph(), state.touched_since(bottom));
  return true;
}

}  // namespace

bool descend(SearchRun& run, env::RewriteState& state, Gains& gains, LocalMinimum minimum) {
  const auto take = [&] {
    const bool large = state.graph().operation_count() > kLargeGraph;
    return large ? take_all_cheaper(run, state, gains) : take_steepest(run, state, gains);
  };
  while (run.begin_expansion()) {
    if (!take()) {
      if (minimum == LocalMinimum::known || gains.are_certain() || !run.goes_on()) return true;
      gains.forget();
      if (!take()) return true;
    }
    run.visit(graph::structural_hash(state.graph()));
    run.offer(state.cost_model(), state.path());
  }
  return false;
}

bool descend(SearchRun& run, env::RewriteState& state) {
  Gains gains;
  return descend(run, state, gains);
}

}
