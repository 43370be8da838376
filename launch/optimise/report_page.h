#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/cost/measured_kernels.h"
#include "core/rules/rewrite/rewrite_log.h"
#include "core/rules/set/rule_set.h"
#include "launch/graphs/model_graphs.h"
#include "launch/optimise/changed_parts.h"
#include "launch/optimise/optimise_report.h"

namespace regraft::launch {

/// One HTML page without scripts or outside files: what `optimise` did, for people. The report as text,
/// latencies by size, rules with what they were predicted to save, trials, kernels of input and result, and
/// pictures of the graph where it changed.
class ReportPage {
 public:
  /// What the search found, be it emitted or not. Rules in the log stand in `rules`.
  void note_changes(const ModelGraphs& before, const ModelGraphs& after, const rules::RewriteLog& log,
                    const rules::RuleSet& rules);
  /// Kernels as they were measured in the input or, `after`, in the result.
  void note_kernels(const std::vector<cost::KernelSample>& samples, bool after);

  std::string html(const std::string& model, const OptimiseReport& report) const;

 private:
  struct Rule {
    std::string text;  // the rule itself
    int count = 0;
    double saved_us = 0;  // predicted
  };
  struct Kernels {
    int count = 0;
    double measured_us = 0;
  };

  std::string rules_table() const;
  std::string kernels_table() const;
  std::string pictures() const;

  std::map<std::string, Rule> rules_;
  std::vector<std::pair<std::string, std::vector<ChangedPart>>> graphs_;  // by path, those that changed
  std::map<std::string, std::pair<Kernels, Kernels>> kernels_;            // by kind: before, after
};

}
