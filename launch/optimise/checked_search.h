#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/rules/rewrite/rewrite_log.h"
#include "core/search/search.h"
#include "launch/call/subprocess_checks.h"
#include "launch/optimise/blame.h"
#include "launch/optimise/optimise_options.h"
#include "launch/optimise/optimise_report.h"
#include "launch/optimise/point_costs.h"

namespace regraft::launch {

/// The rewrites of each graph of a model.
using Paths = std::vector<std::vector<rules::Match>>;
/// Whether there are any.
bool rewrites(const Paths& paths);

/// Searches a model's graphs and keeps what passes. Each rewrite is checked in fp64 at its site while it is
/// applied. What is refused or blamed is left out. Notes what it did in report and log. All arguments outlive
/// it.
class CheckedSearch {
 public:
  /// Runs work and notes its time under a name.
  using Phase = std::function<void(const char* name, const std::function<void()>& work)>;

  CheckedSearch(const OptimiseOptions& options, rules::RuleSet& rules, const PointCosts& costs,
                const ProfileSummary& profile, Phase phase, OptimiseReport& report, rules::RewriteLog& log)
      : options_(options),
        rules_(rules),
        costs_(costs),
        profile_(profile),
        phase_(std::move(phase)),
        report_(report),
        log_(log) {}

  /// The paths to the cheapest graphs found whose sites all pass their checks, and these graphs. Each rule
  /// that a check refuses is left out and the search made again. Throws NotEquivalentError for a script.
  Paths find(const ModelGraphs& start, ModelGraphs& best);
  /// The paths without the rewrite that is to blame, and the graphs they lead to. `culprit` counts over all
  /// paths. Where leaving it out is not enough, searches again without its rule. `what` says what it did.
  Paths after_blame(const ModelGraphs& start, const Paths& paths, std::size_t culprit,
                    const std::string& what, ModelGraphs& best);

 private:
  void forget_rewrites();
  void refuse(RefusedRule refused);
  void report_search(const std::vector<search::SearchResult>& found);
  std::vector<search::SearchResult> scripted(const ModelGraphs& start);
  std::vector<search::SearchResult> search(const ModelGraphs& start);
  search::SearchResult search(const graph::Graph& start, const cost::CostFactory& costs,
                              const search::SearchLimits& budget);
  search::SearchResult search_by(const std::string& name, const graph::Graph& start,
                                 const cost::CostFactory& costs, const search::SearchLimits& budget);
  std::optional<RefusedRule> apply_checked(const Paths& paths, ModelGraphs& graphs);
  std::optional<RefusedRule> apply_checked(const std::vector<rules::Match>& path, graph::Graph& graph,
                                           const cost::CostFactory& factory, const std::string& graph_path,
                                           double runs);

  const OptimiseOptions& options_;
  rules::RuleSet& rules_;
  const PointCosts& costs_;
  const ProfileSummary& profile_;
  Phase phase_;
  OptimiseReport& report_;
  rules::RewriteLog& log_;
  SystemClock clock_;
  Blame blame_;
  int searches_ = 0;
};

}  // namespace regraft::launch
