#include "launch/optimise/checked_search.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "core/base/processors.h"
#include "core/base/progress.h"
#include "core/base/text.h"
#include "core/rules/rewrite/script.h"
#include "core/search/greedy.h"
#include "launch/call/not_equivalent_error.h"
#include "launch/optimise/search_each.h"
#include "launch/optimise/searches.h"
#include "launch/policy/trained_prior.h"

namespace regraft::launch {

void CheckedSearch::forget_rewrites() {
  log_.entries.resize(cleaned(log_));
  report_.rules.clear();
  report_.marks.clear();
}

void CheckedSearch::refuse(RefusedRule refused) {
  options_.say("warning: " + refused.text());
  report_.refused_rules.push_back(std::move(refused));
}

CheckedSearch::Result CheckedSearch::check(Proposal proposal) {
  for (;;) {
    forget_rewrites();
    report_.found_by =
        join(std::vector<std::string>(proposal.found_by.begin(), proposal.found_by.end()), ", ");
    Result result{proposal, start_};
    std::optional<Refused> refused;
    if (rewrites(result.paths))
      timed_step_("check sites", [&] {
        for (std::size_t at = 0; at < start_.size() && !refused; ++at) refused = apply_checked(result, at);
      });
    if (refused) {
      proposal = without(std::move(proposal), *refused, refused_at_sites_);
    } else if (left_out_.empty() || costs_.latencies_us(result.graphs)[0] < costs_.latencies_us(start_)[0]) {
      for (; !left_out_.empty(); left_out_.pop_back()) refuse(std::move(left_out_.back()));
      report_.changes.keep_taken_in(report_.rules);
      return result;
    } else {
      proposal = propose_without_rule();
    }
  }
}

CheckedSearch::Result CheckedSearch::check_without(Proposal proposal, std::size_t culprit,
                                                   const std::string& what) {
  std::size_t at = 0;
  for (; culprit >= proposal.paths[at].size(); ++at) culprit -= proposal.paths[at].size();
  return check(without(std::move(proposal), {{at, culprit}, what}, blame_));
}

CheckedSearch::Result CheckedSearch::check_first(Proposal proposal, std::size_t count,
                                                 const std::string& what) {
  bool is_first = true;
  for (std::vector<rules::Match>& path : proposal.paths) {
    const std::size_t kept = std::min(count, path.size());
    if (kept < path.size() && is_first) refuse({rules_.info(path[kept].rule).name, what, "rest"});
    is_first = is_first && kept == path.size();
    path.resize(kept);
    count -= kept;
  }
  Result first = check(std::move(proposal));
  if (costs_.latencies_us(first.graphs)[0] < costs_.latencies_us(start_)[0]) return first;
  return check({Paths(start_.size())});
}

/// The rest of the paths; where that is not enough, those found without the rule.
CheckedSearch::Proposal CheckedSearch::without(Proposal proposal, const Refused& refused, Blame& blame) {
  std::vector<rules::Match>& path = proposal.paths[refused.place.graph];
  const std::string rule = rules_.info(path[refused.place.rewrite].rule).name;
  if (options_.script)
    throw NotEquivalentError("rule " + rule + " is refused: " + refused.reason, options_.script->string(),
                             "nothing was emitted; take it out of the script");
  const Without without = blame.after(rule);
  if (without == Without::everything) {
    left_out_.clear();
    proposal.paths = Paths(start_.size());
    return proposal;
  }
  left_out_.push_back({rule, refused.reason, "rewrite"});
  path = path_without(start_[refused.place.graph], rules_, path,
                      rewrites_to_leave(path, refused.place.rewrite, without));
  return without != Without::rule && rewrites(proposal.paths) ? proposal : propose_without_rule();
}

/// Without the rule of the rewrite that was left out last. Each such search has half of the time of the one
/// before.
CheckedSearch::Proposal CheckedSearch::propose_without_rule() {
  rules_.exclude(left_out_.back().rule);
  left_out_.back().left_out = "rule";
  refuse(std::move(left_out_.back()));
  left_out_.pop_back();
  report_.changes = {};
  return propose(start_, std::ldexp(options_.time.search_s(), -++searches_again_));
}

CheckedSearch::Proposal CheckedSearch::propose() {
  if (!options_.script) return propose(start_, options_.time.search_s());
  Proposal made{Paths(start_.size())};
  graph::Graph graph = start_[0];  // a script names places of the main graph
  timed_step_("script", [&] {
    made.paths[0] = rules::run_script(rules::Script::load(*options_.script), graph, rules_);
  });
  return made;
}

CheckedSearch::Proposal CheckedSearch::propose(const ModelGraphs& from, double seconds) {
  std::vector<search::SearchResult> found;
  search::SearchLimits limits;
  limits.seconds = seconds;
  if (options_.expansions > 0) limits.expansions = options_.expansions;
  const std::int64_t start_ns = clock_.steady_ns();
  timed_step_("search", [&] {
    found = search_each(
        from, costs_.runs(), rules_, costs_.factories(), limits,
        [&](std::size_t at, const auto& part) { return search_one(from[at], costs_.factories()[at], part); });
  });
  looks_first_ = false;
  Proposal proposal;
  proposal.seconds = static_cast<double>(clock_.steady_ns() - start_ns) / nanoseconds_per_second;
  for (search::SearchResult& part : found) {
    report_.candidates_costed += part.candidates_costed;
    report_.out_of_time |= part.stopped_by == search::StoppedBy::seconds;
    if (!part.path.empty()) proposal.found_by.merge(part.found_by);
    proposal.paths.push_back(std::move(part.path));
  }
  return proposal;
}

void CheckedSearch::Proposal::follow(const Proposal& first) {
  for (std::size_t at = 0; at < paths.size(); ++at)
    paths[at].insert(paths[at].begin(), first.paths[at].begin(), first.paths[at].end());
  found_by.insert(first.found_by.begin(), first.found_by.end());
  seconds += first.seconds;
}

namespace {

/// What a search costed, without what it found.
search::SearchResult nothing_found(const search::SearchResult& found) {
  search::SearchResult nothing;
  nothing.initial = nothing.best = found.initial;
  nothing.candidates_costed = found.candidates_costed;
  return nothing;
}

}  // namespace

/// Where the other kernels leave less to gain than acceptance asks for, only cheaper dense kernels can help.
/// A greedy search then looks how much all of its rewrites together promise. If that is less too, nothing
/// else is tried. Searches that go on from what one found need not ask again.
search::SearchResult CheckedSearch::search_one(const graph::Graph& start, const cost::CostFactory& costs,
                                               const search::SearchLimits& budget) {
  const auto found_by = [&](search::Search& searcher) {
    Rng rng(options_.seed, "search");
    Progress progress({.label = "searching", .unit = "expansions", .terminal = is_terminal(2)}, clock_,
                      std::cerr);
    search::SearchContext context{clock_};
    context.threads = options_.search_threads > 0 ? options_.search_threads : own_processors().size();
    context.progress = [&](const search::SearchProgress& at) {
      char note[80];
      std::snprintf(note, sizeof note, "best %.4f of the initial cost",
                    at.best_latency_us / at.initial_latency_us);
      if (!options_.quiet) progress.update(at.expansions, note);
    };
    search::SearchResult found = searcher.run({start, rules_, costs}, budget, rng, context);
    if (found.found_by.empty()) found.found_by = {searcher.name()};
    return found;
  };
  if (looks_first_ && options_.accept == "measured" && profile_.ceiling() < 1 + options_.least_gain / 100) {
    const search::SearchResult greedy = found_by(*search::make_greedy());
    const double gain = greedy.initial.latency_us / greedy.best.latency_us - 1;
    if (gain < options_.least_gain / 100) return nothing_found(greedy);
  }
  TrainedPrior guide;
  if (wants_policy(options_.search, options_.policy.has_value()))
    guide = load_trained_prior(policy_path(options_.policy), rules_);
  if (!guide.note.empty()) options_.say(guide.note);
  return found_by(*make_search(
      options_.search, guide.prior.get(),
      {guide.limits.horizon, guide.limits.location_limit, costs_.bindings(), guide.action_mode}));
}

/// Applies a path, checking each site in fp64 as it goes; ends at the first rewrite that is refused.
std::optional<CheckedSearch::Refused> CheckedSearch::apply_checked(Result& result, std::size_t at) {
  const std::vector<rules::Match>& path = result.paths[at];
  graph::Graph& graph = result.graphs[at];
  const std::string graph_path = result.graphs.path(at);
  const double runs = costs_.runs()[at];
  const auto costs = costs_.factories()[at].make(graph);
  double before_us = runs * costs->cost().latency_us;
  graph::Graph before = graph;  // one rewrite behind
  rules::Rewriter rewriter(graph, rules_), follower(before, rules_);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::string& name = rules_.info(path[i].rule).name;
    const graph::Graph::Mark mark = graph.mark();
    const rules::Rewrite& rewrite = rewriter.apply(path[i]);
    const exec::SiteReport site =
        sites_.check(before, graph, rewrite, {.seed = options_.seed, .bindings = costs_.bindings()});
    if (!site.passes)
      return Refused{{at, i},
                     (graph_path.empty() ? "" : graph_path + ", ") + "rewrite " + std::to_string(i) + ": " +
                         site.reason};
    const std::vector<rules::RuleMark>& marks = rules_.info(path[i].rule).marks;
    for (const rules::RuleMark asked : marks)
      report_.marks[std::string(rules::mark_name(asked))].insert(name);
    costs->update(graph.touched_since(mark));
    const double after_us = runs * costs->cost().latency_us;
    log_.entries.push_back(
        {name, {path[i].nodes.begin(), path[i].nodes.end()}, before_us, after_us, graph_path, marks});
    before_us = after_us;
    ++report_.rules[name];
    follower.apply(path[i]);
  }
  return std::nullopt;
}

}
