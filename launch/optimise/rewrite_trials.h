#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "launch/optimise/checked_search.h"
#include "launch/optimise/measured_choice.h"

namespace regraft::launch {

/// Lets the machine choose among the rewrites that were found, in each of some session settings. Where it
/// takes some in, the search goes on from there, and what that finds is tried in half of the time.
class RewriteTrials {
 public:
  /// How a search goes on from what was taken in; empty where it does not.
  using GoOn = std::function<CheckedSearch::Proposal(const CheckedSearch::Result&)>;
  struct Parts {
    const OptimiseOptions& options;
    const onnx::ImportedModel& model;
    const ModelGraphs& start;  // from which all paths lead
    const rules::RuleSet& rules;
    const PointCosts& costs;
    CheckedSearch& search;
    OptimiseReport& report;
    const rules::RewriteLog& log;
    const Clock& clock;
  };

  /// trials.budget_s is for the first trials in each of the settings. All references outlive it.
  RewriteTrials(exec::Launcher& launcher, const exec::TrialOptions& trials, const Parts& parts,
                CheckedSearch::TimedStep timed_step, GoOn go_on)
      : launcher_(launcher),
        trials_(trials),
        parts_(parts),
        timed_step_(std::move(timed_step)),
        go_on_(std::move(go_on)) {}

  /// What measures fastest, from the rewrites that the log holds on. Of several settings, each set of
  /// rewrites is then tried in each of them. The settings of the fastest pair become those of the output.
  CheckedSearch::Result choose(const CheckedSearch::Result& found,
                               std::span<const exec::SessionSettings> settings);

 private:
  struct Chosen {
    CheckedSearch::Result result;
    MeasuredChanges changes;
  };
  using Saved = std::vector<double>;  // us that each rewrite of the log is predicted to save

  Saved saved_us() const;
  CheckedSearch::Result choose_in(const exec::SessionSettings& settings, CheckedSearch::Result found,
                                  const Saved& saved);
  /// Whether rewrites were taken in.
  bool try_out(const exec::SessionSettings& settings, CheckedSearch::Result& found, const Saved& saved,
               double seconds);
  /// The places of the fastest pair. The first one is, unless another is faster for sure.
  std::pair<std::size_t, std::size_t> fastest(std::span<const Chosen> all,
                                              std::span<const exec::SessionSettings> settings);
  /// A trial as the step of that name: where a model cannot be run, the whole-model check says what is to
  /// blame.
  void timed_trial(const std::function<void()>& work) const;

  exec::Launcher& launcher_;
  exec::TrialOptions trials_;
  Parts parts_;
  CheckedSearch::TimedStep timed_step_;
  GoOn go_on_;
};

}
