#pragma once

// Internal to launch/optimise.

#include <functional>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/exec/equivalence/equivalence_report.h"
#include "core/exec/inputs/feed.h"
#include "core/exec/latency/compare_latency.h"
#include "core/onnx/import.h"
#include "core/rules/rewrite/rewrite_log.h"
#include "core/rules/set/rule_set.h"
#include "launch/call/call_files.h"
#include "launch/call/subprocess_checks.h"
#include "launch/graphs/model_graphs.h"
#include "launch/optimise/bisect.h"
#include "launch/optimise/checked_search.h"
#include "launch/optimise/measured_costs.h"
#include "launch/optimise/optimise_options.h"
#include "launch/optimise/optimise_report.h"
#include "launch/optimise/output_files.h"
#include "launch/optimise/point_costs.h"
#include "launch/optimise/report_page.h"
#include "launch/optimise/result_check.h"
#include "launch/optimise/runtime_choice.h"
#include "launch/optimise/session_tuning.h"

namespace regraft::launch {

/// One run of all steps; its members are its state between them.
class Pipeline {
 public:
  Pipeline(const OptimiseOptions& options, const CallFiles& files);
  Pipeline(const Pipeline&) = delete;

  OptimiseReport run();

 private:
  /// What the steps made for one runtime.
  struct Turn {
    OptimiseReport report;
    rules::RewriteLog log;
    ReportPage page;
    std::optional<ModelGraphs> result = {};
  };

  void timed_step(const char* name, const std::function<void()>& work);
  void import();
  void find_feed();
  void re_export();

  /// From here on options_ name one runtime.
  void choose_runtime();
  /// For each runtime that was asked for and may make the fastest model.
  void rewrite();
  /// For the next runtime, in which a result has to be faster than the best so far.
  void begin_turn(const Turn& blank, const std::optional<Turn>& best);
  /// What the best turn made, as it stood aside.
  void restore(Turn best);
  void rewrite_for_runtime();

  /// Says why the runtime cannot run the model with all of its optimisation, though it runs it without.
  std::string profile();

  /// The cheapest graphs, or what measures fastest from them on, as far as each site passes its check.
  CheckedSearch::Result find(CheckedSearch& search);

  /// Seconds of this turn that were spent.
  double spent_s() const { return report_.spent_s() - before_turns_s_; }
  /// Seconds for checks and measurement; where nothing is known of that, a third.
  double needed_s() const;

  /// For searches that go on after trials, so that other trials of half their time can follow.
  double further_s(double trials_s) const;

  /// Writes what was found aside, without what makes it another model than the input; says why where nothing
  /// is left.
  std::string write_equivalent(CheckedSearch& search, CheckedSearch::Result found);
  bool changes_input(const CheckedSearch::Result& found) const;
  void predict(const ModelGraphs& after);

  void begin_checks();
  exec::EquivalenceReport verify(bool bit_equal);
  void accept();
  void measure_all();

  /// Why the result is not for the runtime. In ONNX Runtime it was checked already.
  std::string refused_by_runtime();

  /// At the first sizes a gain is asked for, at the others only that nothing is lost.
  exec::LatencyReport measure(std::size_t point);
  void keep_input(const std::string& reason);

  const CheckedSearch::TimedStep timed_ = std::bind_front(&Pipeline::timed_step, this);
  OptimiseOptions options_;
  const CallFiles& files_;
  OutputFiles output_;
  SystemClock clock_;
  std::optional<onnx::ImportedModel> model_;
  exec::Feed feed_;
  std::optional<FeedFile> feed_file_;
  std::optional<RuntimeChoice> runtimes_;
  double before_turns_s_ = 0;
  double best_speedup_ = 1;  // of the turns before, against the input
  std::optional<rules::RuleSet> rules_;
  std::optional<ModelGraphs> start_;  // behind clean-up
  std::optional<SessionTuning> tuning_;
  std::optional<PointCosts> costs_;
  ProfileSummary profile_;
  std::optional<MeasuredCosts> learned_;  // corrects costs_
  std::optional<ResultCheck> check_;
  rules::RewriteLog log_;
  OptimiseReport report_;
  ReportPage page_;
  std::optional<ModelGraphs> result_;  // that stands aside, verified
};

}
