#include "core/search/search_run.h"

#include <utility>

#include "core/graph/order.h"
#include "core/rules/lang/rule_error.h"

namespace regraft::search {

std::string_view stopped_by_name(StoppedBy stopped_by) {
  switch (stopped_by) {
    case StoppedBy::exhausted:
      return "exhausted";
    case StoppedBy::seconds:
      return "seconds";
    case StoppedBy::expansions:
      return "expansions";
    case StoppedBy::candidates:
      return "candidates";
    case StoppedBy::cancelled:
      return "cancelled";
  }
  return "unknown";
}

SearchRun::SearchRun(std::string name, const SearchLimits& limits, const SearchContext& context,
                     env::RewriteState& state)
    : name_(std::move(name)),
      limits_(limits),
      context_(context),
      start_ns_(context.clock.steady_ns()),
      state_(state) {
  result_.initial = result_.best = state.cost();
  visit(graph::structural_hash(state.graph()));
}

SearchRun::SearchRun(Part, const SearchRun& whole, const SearchContext& context, env::RewriteState& state)
    : name_(whole.name_),
      limits_(whole.limits_),
      context_(context),
      start_ns_(whole.start_ns_),
      state_(state) {
  limits_.expansions -= whole.result_.expansions;
  limits_.candidates -= whole.result_.candidates_costed;
  result_.initial = whole.result_.initial;
  result_.best = whole.result_.best;
}

SearchRun SearchRun::part(const SearchContext& context, env::RewriteState& state) const {
  return {Part(), *this, context, state};
}

bool SearchRun::has_room_for(const SearchRun& part) const {
  return result_.expansions + part.result_.expansions <= limits_.expansions &&
         result_.candidates_costed + part.result_.candidates_costed < limits_.candidates;
}

void SearchRun::absorb(SearchRun part) {
  part.visited_.for_each([&](const Hash128& hash) { visit(hash); });
  SearchResult& other = part.result_;
  for (Improvement step : other.improvements) {
    step.expansions += result_.expansions;
    step.candidates_costed += result_.candidates_costed;
    result_.improvements.push_back(step);
  }
  if (!other.improvements.empty()) {
    result_.best = other.best;
    result_.path = std::move(other.path);
  }
  if (result_.refused == 0) result_.first_refusal = std::move(other.first_refusal);
  result_.refused += other.refused;
  result_.expansions += other.expansions;
  result_.candidates_costed += other.candidates_costed;
  if (other.stopped_by != StoppedBy::exhausted) result_.stopped_by = other.stopped_by;
  report();
}

double SearchRun::elapsed_seconds() const {
  return static_cast<double>(context_.clock.steady_ns() - start_ns_) /
         static_cast<double>(nanoseconds_per_second);
}

bool SearchRun::goes_on() {
  if (context_.stop.stop_requested()) {
    result_.stopped_by = StoppedBy::cancelled;
    return false;
  }
  if (elapsed_seconds() >= limits_.seconds) {
    result_.stopped_by = StoppedBy::seconds;
    return false;
  }
  if (result_.candidates_costed >= limits_.candidates) {
    result_.stopped_by = StoppedBy::candidates;
    return false;
  }
  return true;
}

bool SearchRun::begin_expansion() {
  if (!goes_on()) return false;
  if (result_.expansions >= limits_.expansions) {
    result_.stopped_by = StoppedBy::expansions;
    return false;
  }
  ++result_.expansions;
  state_.forget_the_past();
  report();
  return true;
}

void SearchRun::report() const {
  if (context_.progress) {
    context_.progress({name_, elapsed_seconds(), result_.expansions, result_.candidates_costed,
                       result_.initial.latency_us, result_.best.latency_us});
  }
}

void SearchRun::refuse(const rules::RuleError& error) {
  if (result_.refused++ == 0) result_.first_refusal = error.what();
}

void SearchRun::offer(cost::CostModel& cost, std::span<const rules::Match> path, const rules::Match* last) {
  if (!env::cheaper(cost.latency_us(), result_.best.latency_us)) return;
  result_.best = cost.cost();
  result_.path.assign(path.begin(), path.end());
  if (last) result_.path.push_back(*last);
  result_.improvements.push_back(
      {result_.best.latency_us, elapsed_seconds(), result_.expansions, result_.candidates_costed});
}

SearchResult SearchRun::finish() {
  result_.visited = visited_.inserted();
  result_.seconds = elapsed_seconds();
  return std::move(result_);
}

}
