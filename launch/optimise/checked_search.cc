#include "launch/optimise/checked_search.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "core/base/process.h"
#include "core/base/processors.h"
#include "core/base/progress.h"
#include "core/base/text.h"
#include "core/exec/latency/speedup_estimate.h"
#include "core/exec/site/site_check.h"
#include "core/nn/policy_file.h"
#include "core/rules/rewrite/script.h"
#include "launch/optimise/not_equivalent_error.h"
#include "launch/optimise/searches.h"
#include "launch/policy/controller_bundle.h"
#include "launch/policy/controller_prior.h"
#include "launch/policy/policy_prior.h"

namespace regraft::launch {

void CheckedSearch::forget_rewrites() {
  log_.entries.resize(cleaned(log_));
  report_.rules.clear();
  report_.marks.clear();
}

Paths CheckedSearch::after_blame(const ModelGraphs& start, const Paths& paths, std::size_t culprit,
                                 const std::string& what, ModelGraphs& best) {
  std::size_t at = 0;
  for (; culprit >= paths[at].size(); ++at) culprit -= paths[at].size();
  return without(start, paths, {{at, culprit}, what}, blame_, best);
}

Paths CheckedSearch::without(const ModelGraphs& start, const Paths& paths, const Refused& refused,
                             Blame& blame, ModelGraphs& best) {
  const auto [at, culprit] = refused.place;
  const std::string rule = rules_.info(paths[at][culprit].rule).name;
  const Without without = blame.after(rule);
  forget_rewrites();
  best = start;
  if (without == Without::everything) return Paths(start.size());
  Paths rest = paths;
  rest[at] = path_without(start[at], rules_, paths[at], rewrites_to_leave(paths[at], culprit, without));
  if (without != Without::rule && rewrites(rest)) {
    rest = checked(start, rest, best);
    if (costs_.latencies_us(best)[0] < costs_.latencies_us(start)[0]) {
      refuse({rule, refused.reason, "rewrite"});
      return rest;
    }
  }
  refuse({rule, refused.reason});
  rules_.exclude(rule);
  forget_rewrites();
  report_.changes = {};
  return find(start, best);
}

void CheckedSearch::refuse(RefusedRule refused) {
  options_.say("warning: " + refused.text());
  report_.refused_rules.push_back(std::move(refused));
}

Paths CheckedSearch::find(const ModelGraphs& start, ModelGraphs& best) {
  if (!options_.script)  // each search anew has half of the time of the one before
    return replace_by(start, propose(start, std::ldexp(options_.budget_s, -searches_++)), best);
  std::vector<search::SearchResult> made;
  timed_step_("script", [&] { made = scripted(start); });
  return replace_by(start, proposal_of(std::move(made)), best);
}

CheckedSearch::Proposal CheckedSearch::propose(const ModelGraphs& start, double seconds) {
  std::vector<search::SearchResult> found;
  search::SearchLimits limits;
  limits.seconds = seconds;
  if (options_.expansions > 0) limits.expansions = options_.expansions;
  const std::int64_t start_ns = clock_.steady_ns();
  timed_step_("search", [&] {
    found = search_each(start, costs_.runs(), rules_, costs_.factories(), limits,
                        [&](std::size_t at, const auto& part) {
                          return search_one(options_.search, start[at], costs_.factories()[at], part);
                        });
  });
  looks_first_ = false;
  Proposal proposal = proposal_of(std::move(found));
  proposal.seconds = static_cast<double>(clock_.steady_ns() - start_ns) / nanoseconds_per_second;
  return proposal;
}

void CheckedSearch::Proposal::follow(const Proposal& first) {
  for (std::size_t at = 0; at < paths.size(); ++at)
    paths[at].insert(paths[at].begin(), first.paths[at].begin(), first.paths[at].end());
  found_by.insert(first.found_by.begin(), first.found_by.end());
  seconds += first.seconds;
}

Paths CheckedSearch::replace_by(const ModelGraphs& start, const Proposal& proposal, ModelGraphs& best) {
  report_.found_by = join(std::vector<std::string>(proposal.found_by.begin(), proposal.found_by.end()), ", ");
  searches_ = std::max(searches_, 1);
  return replace_by(start, proposal.paths, best);
}

Paths CheckedSearch::replace_by(const ModelGraphs& start, const Paths& paths, ModelGraphs& best) {
  forget_rewrites();
  return checked(start, paths, best);
}

Paths CheckedSearch::checked(const ModelGraphs& start, const Paths& paths, ModelGraphs& best) {
  best = start;
  std::optional<Refused> refused;
  if (rewrites(paths)) timed_step_("check sites", [&] { refused = apply_checked(paths, best); });
  if (!refused) {
    report_.changes.keep_taken_in(report_.rules);
    return paths;
  }
  if (options_.script)
    throw NotEquivalentError("rule " +
                                 rules_.info(paths[refused->place.graph][refused->place.rewrite].rule).name +
                                 " is refused: " + refused->reason,
                             options_.script->string(), "nothing was emitted; take it out of the script");
  return without(start, paths, *refused, refused_at_sites_, best);
}

CheckedSearch::Proposal CheckedSearch::proposal_of(std::vector<search::SearchResult> found) {
  Proposal proposal;
  for (search::SearchResult& part : found) {
    report_.candidates_costed += part.candidates_costed;
    report_.out_of_time |= part.stopped_by == search::StoppedBy::seconds;
    if (!part.path.empty()) proposal.found_by.merge(part.found_by);
    proposal.paths.push_back(std::move(part.path));
  }
  return proposal;
}

/// A script names places of the main graph.
std::vector<search::SearchResult> CheckedSearch::scripted(const ModelGraphs& start) {
  std::vector<search::SearchResult> results(start.size());
  for (std::size_t at = 0; at < start.size(); ++at) {
    graph::Graph graph = start[at];
    search::SearchResult& result = results[at];
    result.initial = costs_.factories()[at].make(graph)->cost();
    if (at == 0) result.path = rules::run_script(rules::Script::load(*options_.script), graph, rules_);
    result.best = costs_.factories()[at].make(graph)->cost();
  }
  return results;
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
search::SearchResult CheckedSearch::search_one(const std::string& name, const graph::Graph& start,
                                               const cost::CostFactory& costs,
                                               const search::SearchLimits& budget) {
  if (looks_first_ && options_.accept == "measured" && profile_.ceiling() < 1 + options_.least_gain / 100) {
    const search::SearchResult greedy = search_by("greedy", start, costs, budget);
    const double gain = greedy.initial.latency_us / greedy.best.latency_us - 1;
    if (gain < options_.least_gain / 100) return nothing_found(greedy);
  }
  return search_by(name, start, costs, budget);
}

search::SearchResult CheckedSearch::search_by(const std::string& name, const graph::Graph& start,
                                              const cost::CostFactory& costs,
                                              const search::SearchLimits& budget) {
  std::unique_ptr<search::Prior> prior;
  env::EpisodeLimits limits;
  env::ActionMode mode = env::ActionMode::one_site;
  const bool guided = wants_policy(name, options_.policy.has_value());
  const std::filesystem::path path = guided ? policy_path(options_.policy) : std::filesystem::path();
  if (guided && is_bundle(path)) {
    auto controller = std::make_unique<ControllerPrior>(path, rules_);
    limits = controller->limits();
    mode = controller->action_mode();
    prior = std::move(controller);
  } else if (guided) {
    const nn::PolicyFile policy = nn::load_policy(path);
    limits = policy.limits;
    prior = std::make_unique<PolicyPrior>(policy, rules_);
    mode = policy.network.action_mode;
    if (const std::string note = unseen_note(policy, rules_); !note.empty()) options_.say(note);
  }
  const search::ObservationOptions observation{limits.horizon, limits.location_limit, costs_.bindings(),
                                               mode};
  const auto searcher = make_search(name, prior.get(), observation);
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
  search::SearchResult found = searcher->run({start, rules_, costs}, budget, rng, context);
  if (found.found_by.empty()) found.found_by = {searcher->name()};
  return found;
}

/// Applies the paths, checking each site in fp64 as it goes; ends at the first rewrite that is refused.
std::optional<CheckedSearch::Refused> CheckedSearch::apply_checked(const Paths& paths, ModelGraphs& graphs) {
  for (std::size_t at = 0; at < graphs.size(); ++at)
    if (auto refused = apply_checked(paths[at], graphs, at)) return refused;
  return std::nullopt;
}

std::optional<CheckedSearch::Refused> CheckedSearch::apply_checked(const std::vector<rules::Match>& path,
                                                                   ModelGraphs& graphs, std::size_t at) {
  graph::Graph& graph = graphs[at];
  const std::string graph_path = graphs.path(at);
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
        exec::check_site(before, graph, rewrite, {.seed = options_.seed, .bindings = costs_.bindings()});
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

}  // namespace regraft::launch
