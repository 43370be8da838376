#pragma once

#include <functional>
#include <set>
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
#include "launch/optimise/rewrite_groups.h"

namespace regraft::launch {

/// Searches a model's graphs and keeps what passes. Each rewrite is checked in fp64 at its site while it is
/// applied. What is refused or blamed is left out. Notes what it did in report and log. All arguments outlive
/// it.
class CheckedSearch {
 public:
  /// Runs work and notes its time under a name.
  using TimedStep = std::function<void(const char* name, const std::function<void()>& work)>;

  CheckedSearch(const OptimiseOptions& options, rules::RuleSet& rules, const PointCosts& costs,
                const ProfileSummary& profile, TimedStep timed_step, OptimiseReport& report,
                rules::RewriteLog& log)
      : options_(options),
        rules_(rules),
        costs_(costs),
        profile_(profile),
        timed_step_(std::move(timed_step)),
        report_(report),
        log_(log) {}

  /// The paths to the cheapest graphs found whose sites all pass their checks, and these graphs. A rewrite
  /// that a check refuses is left out; where that is not enough, its rule is. Throws NotEquivalentError for a
  /// script.
  Paths find(const ModelGraphs& start, ModelGraphs& best);
  /// The paths to the cheapest graphs found, not checked yet.
  struct Proposal {
    Paths paths;
    std::set<std::string> found_by = {};  // the search, or its parts that found something
    double seconds = 0;                   // that it took

    /// Puts the one before that this one went on from.
    void follow(const Proposal& first);
  };
  Proposal propose(const ModelGraphs& start, double seconds);
  /// The paths without the rewrite that is to blame, and the graphs they lead to. `culprit` counts over all
  /// paths. Where leaving it out is not enough, searches again without its rule. `what` says what it did.
  Paths after_blame(const ModelGraphs& start, const Paths& paths, std::size_t culprit,
                    const std::string& what, ModelGraphs& best);
  /// Paths in place of those found: checks, notes and returns them, as find does.
  Paths replace_by(const ModelGraphs& start, const Paths& paths, ModelGraphs& best);
  Paths replace_by(const ModelGraphs& start, const Proposal& proposal, ModelGraphs& best);

 private:
  /// A rewrite that a check does not let pass.
  struct Refused {
    struct Place {
      std::size_t graph, rewrite;
    } place;
    std::string reason;
  };

  void forget_rewrites();
  void refuse(RefusedRule refused);
  Proposal proposal_of(std::vector<search::SearchResult> found);
  std::vector<search::SearchResult> scripted(const ModelGraphs& start);
  search::SearchResult search_one(const std::string& name, const graph::Graph& start,
                                  const cost::CostFactory& costs, const search::SearchLimits& budget);
  search::SearchResult search_by(const std::string& name, const graph::Graph& start,
                                 const cost::CostFactory& costs, const search::SearchLimits& budget);
  Paths checked(const ModelGraphs& start, const Paths& paths, ModelGraphs& best);
  Paths without(const ModelGraphs& start, const Paths& paths, const Refused& refused, Blame& blame,
                ModelGraphs& best);
  std::optional<Refused> apply_checked(const Paths& paths, ModelGraphs& graphs);
  std::optional<Refused> apply_checked(const std::vector<rules::Match>& path, ModelGraphs& graphs,
                                       std::size_t at);

  const OptimiseOptions& options_;
  rules::RuleSet& rules_;
  const PointCosts& costs_;
  const ProfileSummary& profile_;
  TimedStep timed_step_;
  OptimiseReport& report_;
  rules::RewriteLog& log_;
  SystemClock clock_;
  Blame blame_;  // of the whole model's checks
  Blame refused_at_sites_{Blame::kAsManyAsThereAre};
  int searches_ = 0;
  bool looks_first_ = true;  // whether anything is promised
};

}  // namespace regraft::launch
