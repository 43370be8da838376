#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/exec/site/site_memo.h"
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

  /// `start`: the graphs from which all paths lead.
  CheckedSearch(const OptimiseOptions& options, rules::RuleSet& rules, const PointCosts& costs,
                const ProfileSummary& profile, const ModelGraphs& start, TimedStep timed_step,
                OptimiseReport& report, rules::RewriteLog& log)
      : options_(options),
        rules_(rules),
        costs_(costs),
        profile_(profile),
        start_(start),
        timed_step_(std::move(timed_step)),
        report_(report),
        log_(log) {}

  /// The paths to the cheapest graphs found, not checked yet.
  struct Proposal {
    Paths paths;
    std::set<std::string> found_by = {};  // the search, or its parts that found something
    double seconds = 0;                   // that it took

    /// Puts the one before that this one went on from.
    void follow(const Proposal& first);
  };
  /// What the script makes, or else what a search finds in all of its time.
  Proposal propose();
  Proposal propose(const ModelGraphs& from, double seconds);

  /// What passes its checks, and the graphs to which it leads.
  struct Result : Proposal {
    ModelGraphs graphs;
  };
  /// A rewrite that a check refuses is left out; where that is not enough, its rule is, and the search is
  /// made again. Throws NotEquivalentError for a script.
  Result check(Proposal proposal);
  /// The same without the rewrite that the whole model's check blames. `culprit` counts over all paths,
  /// `what` says what it did.
  Result check_without(Proposal proposal, std::size_t culprit, const std::string& what);
  /// The first `count` rewrites alone, counted the same, where there was no time to find the one to blame.
  /// None where they make nothing cheaper.
  Result check_first(Proposal proposal, std::size_t count, const std::string& what);

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
  Proposal without(Proposal proposal, const Refused& refused, Blame& blame);
  Proposal propose_without_rule();
  search::SearchResult search_one(const graph::Graph& start, const cost::CostFactory& costs,
                                  const search::SearchLimits& budget);
  std::optional<Refused> apply_checked(Result& result, std::size_t at);

  const OptimiseOptions& options_;
  rules::RuleSet& rules_;
  const PointCosts& costs_;
  const ProfileSummary& profile_;
  const ModelGraphs& start_;
  TimedStep timed_step_;
  OptimiseReport& report_;
  rules::RewriteLog& log_;
  SystemClock clock_;
  exec::SiteMemo sites_;
  Blame blame_;  // of the whole model's checks
  Blame refused_at_sites_{Blame::kAsManyAsThereAre};
  std::vector<RefusedRule> left_out_;  // rewrites of which it is open whether the rest does without them
  int searches_again_ = 0;
  bool looks_first_ = true;  // whether anything is promised
};

}
