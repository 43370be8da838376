#include "launch/optimise/optimise.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <tuple>

#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/resource_usage.h"
#include "core/base/text.h"
#include "core/base/version.h"
#include "core/exec/latency/compare_latency.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/ort_session.h"
#include "core/exec/site/site_check.h"
#include "core/nn/inference/device.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/task/bindings.h"
#include "core/task/load_rule_set.h"
#include "launch/call/not_equivalent_error.h"
#include "launch/call/subprocess_checks.h"
#include "launch/graphs/log_replay.h"
#include "launch/graphs/model_graphs.h"
#include "launch/optimise/bisect.h"
#include "launch/optimise/blame.h"
#include "launch/optimise/checked_search.h"
#include "launch/optimise/measured_costs.h"
#include "launch/optimise/output_files.h"
#include "launch/optimise/point_costs.h"
#include "launch/optimise/report_page.h"
#include "launch/optimise/rewrite_trials.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

/// One run of the pipeline; its members are its state between phases.
class Pipeline {
 public:
  Pipeline(const OptimiseOptions& options, const CallFiles& files)
      : options_(options), files_(files), output_(options.output) {
    report_.seed = options.seed;
    report_.search = options.script ? "script" : options.search;
    report_.runtime = options.runtime;
    report_.output = options.output.string();
    report_.threads = options_.threads = exec::session_threads(options.threads);
    options_.fewer_threads = options.threads == exec::kThreadsOfRuntime;
    options.check();
    log_.fixed = task::parse_bindings(options.fixed, "--fix");
    std::ranges::copy(options.fixed, std::back_inserter(options_.feed.bindings));
  }

  OptimiseReport run() {
    nn::set_torch_threads(1);
    exec::set_oracle_threads(1);
    import();
    find_feed();
    try {
      if (!feed_.runs())
        keep_input(feed_.problem + " (" + feed_.remedy + ")");
      else if (options_.re_exports())
        re_export();
      else
        rewrite();
    } catch (const graph::GraphError& error) {
      keep_input(std::string(error.what()) + "; please report this");
    }
    if (runtimes_) report_.runtimes = runtimes_->times();
    report_.peak_rss_bytes = peak_rss_bytes_with_children();
    // The model last: when one of these cannot be written there is no output.
    if (options_.log) write_file_atomic(*options_.log, log_.to_text());
    if (options_.json) write_file_atomic(*options_.json, report_.to_json());
    if (options_.page)
      write_file_atomic(*options_.page, page_.html(options_.input.filename().string(), report_));
    if (options_.settings) write_file_atomic(options_.session_file(), report_.settings.file());
    bool is_new = false;
    output_.name_errors([&] { is_new = output_.commit(); });
    if (is_new && !options_.settings) remove_stale_settings(options_);
    return report_;
  }

 private:
  void timed_step(const char* name, const std::function<void()>& work) {
    const std::int64_t start = clock_.steady_ns();
    output_.name_errors(work);
    const double seconds = static_cast<double>(clock_.steady_ns() - start) / nanoseconds_per_second;
    report_.spend(name, seconds);
    char text[32];
    std::snprintf(text, sizeof text, " %.1f s", seconds);
    options_.say(name + std::string(text));
  }

  void import() {
    onnx::ImportOptions import;
    if (!options_.re_exports()) import.inlined_calls = SIZE_MAX;
    import.fixed = log_.fixed;
    timed_step("import", [&] { model_.emplace(onnx::import_model(options_.input, import)); });
    output_.expect(*model_);
    files_.spares(fs::absolute(options_.input).parent_path(), model_->external_locations());
    report_.nodes_before = report_.nodes_after = ModelGraphs(*model_).operation_count();
    log_.version = kVersion;
    log_.domains = options_.domains;
    log_.input_sha256 = model_sha256(*model_);
  }

  void find_feed() {
    timed_step("sizes", [&] { feed_ = feed_in_child(options_.input, options_.feed, options_.seed); });
    feed_file_.emplace(feed_);
    report_.dims = feed_.taken;
    for (exec::TakenSize& one : report_.dims)
      if (log_.fixed.contains(one.dim)) one.why = "fixed";
    for (const exec::FeedPoint& point : feed_.points)
      report_.points.push_back({point.sizes, 0, 0, {}, {}, {}, {}, {}});
    if (const std::string sizes = describe_sizes(feed_); !sizes.empty()) options_.say(sizes);
  }

  void re_export() {
    log_.rule_set = task::load_rule_set(options_.rules, options_.domains).hash().hex();
    timed_step("export", [&] { onnx::export_model(*model_, model_->graph(), output_.aside()); });
    const exec::EquivalenceReport equivalence = verify(true);
    if (!equivalence.repeatable) return keep_input(equivalence.reason);
    if (!equivalence.equivalent)
      throw NotEquivalentError("the re-exported model differs: " + equivalence.reason,
                               options_.input.string(), "nothing was emitted; please report this");
    log_.result = "re-export";
    report_.accepted = true;
    report_.reason = "re-exported without rewriting; outputs are equal to the bit";
  }

  /// From here on options_ name one runtime.
  void choose_runtime() {
    exec::LatencyOptions latency;
    latency.threads = options_.threads;
    latency.budget_s = options_.time.measure_s(0);
    latency.until_clear = true;
    latency.feed = feed_file_->path();
    latency.seed = options_.seed;
    latency.least_speedup = 1 + options_.least_gain / 100;
    runtimes_.emplace(options_.runtime, latency);
    if (options_.runtime != Runtime::kDefault)
      timed_step("runtimes", [&] { runtimes_->choose(options_.input); });
    options_.runtime = runtimes_->chosen().origin();
    report_.runtime = runtimes_->chosen().name();
  }

  void rewrite() {
    choose_runtime();
    rules_.emplace(task::load_rule_set(options_.rules, options_.domains));
    log_.rule_set = rules_->hash().hex();
    if (options_.strict) rules_->exclude_marked();
    start_.emplace(*model_);
    timed_step("clean-up", [&] { start_->clean_up(*rules_, log_); });
    costs_.emplace(*model_, feed_, options_.device_profile(), *start_);
    learned_.emplace(options_, feed_file_->path(), *start_, *costs_);
    if (runtimes_->chosen().is_default() || learned_->corrects())
      if (const std::string why_not = profile(); !why_not.empty()) return keep_input(why_not);
    if (options_.settings) {
      tuning_.emplace(
          options_, *runtimes_, [this] { return check_options(false); }, report_.settings);
      timed_step("settings", [&] { tuning_->tune_input(); });
    }
    CheckedSearch search(options_, *rules_, *costs_, profile_, *start_, timed_, report_, log_);
    if (const std::string why_not = write_equivalent(search, find(search)); !why_not.empty())
      return keep_input(why_not);
    timed_step("replay", [&] { check_log(); });
    if (options_.page && is_profiled(options_.runtime))
      timed_step("profile", [&] { page_.note_kernels(learned_->kernels_of(output_.aside()), true); });
    accept();
  }

  /// Says why the runtime cannot run the model with all of its optimisation, though it runs it without.
  std::string profile() {
    try {
      timed_step("profile", [&] { profile_ = learned_->learn_from(options_.input); });
    } catch (const exec::ExecError& error) {
      if (runtimes_->chosen().is_default()) return error.problem();
      options_.warn("the search goes by the device's rates: " + error.problem());  // others have run it
      return "";
    }
    if (options_.fixed.empty()) costs_->observe(profile_.graph_runs);  // else a branch may be gone
    report_.note(profile_);
    options_.warn_of_fusions(profile_.agreed_share);
    page_.note_kernels(profile_.samples, false);
    options_.say(profile_.text);
    return "";
  }

  /// The cheapest graphs, or what measures fastest from them on, as far as each site passes its check.
  CheckedSearch::Result find(CheckedSearch& search) {
    const bool learns = learned_->corrects() && !options_.script;
    const auto search_from = [&](const std::optional<CheckedSearch::Proposal>& from, double all_s) {
      return learned_->search(search, *model_, *rules_, timed_, all_s, from);
    };
    CheckedSearch::Result found =
        search.check(learns ? search_from({}, options_.time.search_s()) : search.propose());
    const double trials_s = this->trials_s();
    if (options_.accept != "measured" || options_.script || trials_s <= 0 ||
        profile_.ceiling() < 1 + options_.least_gain / 100)  // all that is not dense gives less
      return found;
    const RewriteTrials::Parts parts{options_, *model_, *start_, *rules_, *costs_,
                                     search,   report_, log_,    clock_};
    RewriteTrials::GoOn go_on;
    if (learns) go_on = [&](const auto& from) { return search_from(from, further_s(trials_s)); };
    return RewriteTrials(runtimes_->sessions(), runtimes_->trials(trials_s), parts, timed_, go_on)
        .choose(found, tuning_ ? tuning_->to_try() : std::vector<exec::SessionSettings>(1));
  }

  /// What checks and measurement need is kept for them; where nothing is known of that, a third.
  double trials_s() const {
    std::vector<double> run_s = costs_->latencies_us(*start_);
    for (const double scale = options_.run_us(profile_.measured_us) / 1e6 / run_s[0]; double& run : run_s)
      run *= scale;
    const double needed = run_s[0] > 0 ? seconds_to_confirm(run_s) : options_.time.seconds / 3;
    return options_.time.trials_s(report_.spent_s(), needed);
  }

  /// For searches that go on after trials, so that other trials of half their time can follow.
  double further_s(double trials_s) const {
    if (options_.time.trials) return options_.time.search_s();
    return std::min(options_.time.search_s(), 2 * (this->trials_s() - trials_s / 2));
  }

  /// Writes what was found aside, without what makes it another model than the input; says why where nothing
  /// is left.
  std::string write_equivalent(CheckedSearch& search, CheckedSearch::Result found) {
    for (predict(found.graphs); changes_input(found); predict(found.graphs)) {
      timed_step("export", [&] { onnx::export_model(*model_, found.graphs, output_.aside()); });
      const exec::EquivalenceReport equivalence = verify(false);
      if (!equivalence.repeatable) return equivalence.reason;
      if (equivalence.equivalent) return "";
      std::optional<std::size_t> entry;
      timed_step("blame", [&] { entry = first_bad_entry(); });
      const std::string what = "after " + entry_name(log_, entry) + ": " + equivalence.reason;
      if (options_.script)
        throw NotEquivalentError(what, options_.input.string(),
                                 "nothing was emitted; take it out of the script");
      if (!entry && !options_.fixed.empty())
        return "a branch may not run at " + join(options_.fixed, ", ") + ": " + equivalence.reason;
      if (!entry || *entry < cleaned(log_)) return what + "; please report this";
      found = search.check_without(std::move(found), *entry - cleaned(log_), what);
    }
    return options_.script ? "the script changes nothing" : report_.why_nothing();
  }

  bool changes_input(const CheckedSearch::Result& found) const {
    return rewrites(found.paths) || found.graphs.operation_count() < report_.nodes_before;
  }

  void predict(const ModelGraphs& after) {
    const ModelGraphs before(*model_);
    const std::vector<double> before_us = costs_->latencies_us(before),
                              after_us = costs_->latencies_us(after);
    for (std::size_t i = 0; i < before_us.size(); ++i)
      std::tie(report_.points[i].cost_before, report_.points[i].cost_after) =
          std::pair(before_us[i], after_us[i]);
    report_.cost_before = before_us[0];
    report_.cost_after = after_us[0];
    report_.slower_at = costs_->slower_sizes(before[0], after[0]);
    report_.nodes_after = after.operation_count();
    if (options_.page) page_.note_changes(before, after, log_, *rules_);
  }

  ChildCheck check_options(bool bit_equal) const {
    return {feed_file_->path(), options_.seed, bit_equal, options_.fixed,
            report_.marks.contains(std::string(rules::mark_name(rules::RuleMark::finite)))};
  }

  /// What is written aside.
  exec::EquivalenceReport verify(bool bit_equal) {
    exec::EquivalenceReport equivalence;
    timed_step("verify", [&] {
      equivalence = verify_in_child(options_.input, output_.aside(), check_options(bit_equal));
    });
    equivalence.reason = output_.spoken(equivalence.reason);
    report_.verified = equivalence.equivalent;
    report_.max_relative_error = equivalence.max_relative_error;
    return equivalence;
  }

  /// Bisects the log, clean-up included, for the first entry with which the whole model is no longer
  /// equivalent. Nothing where no entry can be told.
  std::optional<std::size_t> first_bad_entry() {
    const TempDir folder;
    const LogReplay replay(options_.input, write_log(folder.path()), options_.rules);
    const auto good_after = [&](std::size_t count) {
      const fs::path prefix = folder.path() / "prefix.onnx";
      replay.write_prefix(count, prefix);
      return verify_in_child(options_.input, prefix, check_options(false)).equivalent;
    };
    if (!good_after(0)) return std::nullopt;
    const std::size_t all = log_.entries.size();  // whose model was just refused
    const std::optional<std::size_t> bad = first_bad_step(
        all, [&](std::size_t count) { return count == 0 || (count < all && good_after(count)); });
    if (bad == all - 1 && good_after(all)) return std::nullopt;  // what was refused is not what the log makes
    return bad;
  }

  fs::path write_log(const fs::path& folder) const {
    const fs::path log = folder / "rewrites.log";
    write_file_atomic(log, log_.to_text());
    return log;
  }

  void check_log() {
    const TempDir folder;
    const fs::path log = write_log(folder.path());
    if (!check_replay(options_.input, output_.aside(), log, options_.rules).identical)
      throw NotEquivalentError("the rewrite log does not replay to the same bytes", options_.input.string(),
                               "nothing was emitted; please report this");
  }

  void accept() {
    report_.found = FoundReport{report_.nodes_after, report_.cost_after, report_.rules};
    if (options_.accept == "cost") {
      report_.accepted = true;
      report_.reason = options_.script         ? "what the script made, verified; not measured"
                       : report_.rules.empty() ? "clean-up made it smaller; not measured"
                                               : "the cost model calls it cheaper; not measured";
      return;
    }
    if (const std::string why_not = refused_by_runtime(); !why_not.empty()) return keep_input(why_not);
    if (tuning_) timed_step("settings", [&] { tuning_->tune_output(output_.aside()); });
    const exec::LatencyReport latency = measure(0);
    runtimes_->note_input(latency.before.latency_ms);
    if (!latency.accepted) return keep_input(latency.reason);
    for (std::size_t i = 1; i < feed_.points.size(); ++i)
      if (exec::verdict_name(measure(i)) == "slower")
        return keep_input("it is faster at " + feed_.points[0].describe() + ", but slower at " +
                          feed_.points[i].describe());
    report_.accepted = true;
    report_.reason = latency.reason;
    runtimes_->note_result(latency.estimate.speedup);
    if (runtimes_->times().size() > 1)
      timed_step("runtimes", [&] { runtimes_->measure_elsewhere(options_.input, output_.aside()); });
  }

  /// Why the result is not for the runtime. In ONNX Runtime it was checked already.
  std::string refused_by_runtime() {
    std::string why_not;
    if (!runtimes_->chosen().is_default())
      timed_step("verify", [&] { why_not = runtimes_->difference(options_.input, output_.aside()); });
    return output_.spoken(why_not);
  }

  /// At the first sizes a gain is asked for, at the others only that nothing is lost.
  exec::LatencyReport measure(std::size_t point) {
    exec::LatencyOptions latency = runtimes_->options();
    latency.point = point;
    latency.budget_s = options_.time.measure_s(report_.spent_s(), point, feed_.points.size());
    latency.one_series = point != 0;
    if (point != 0) latency.least_speedup = 1;
    const auto& [before, after] = std::tie(report_.settings.input, report_.settings.output);
    exec::LatencyReport measured;
    timed_step("measure", [&] {
      measured = exec::compare_latency(runtimes_->sessions(), {options_.input, before},
                                       {output_.aside(), after}, latency);
    });
    report_.points[point].note(measured);
    return measured;
  }

  void keep_input(const std::string& reason) {
    report_.keep_input(reason);
    log_.entries.clear();
    log_.result = "input";
    output_.name_errors([&] { output_.copy_of(*model_); });
  }

  const CheckedSearch::TimedStep timed_ = std::bind_front(&Pipeline::timed_step, this);
  OptimiseOptions options_;
  const CallFiles& files_;
  OutputFiles output_;
  SystemClock clock_;
  std::optional<onnx::ImportedModel> model_;
  exec::Feed feed_;
  std::optional<FeedFile> feed_file_;
  std::optional<RuntimeChoice> runtimes_;
  std::optional<rules::RuleSet> rules_;
  std::optional<ModelGraphs> start_;  // behind clean-up
  std::optional<SessionTuning> tuning_;
  std::optional<PointCosts> costs_;
  ProfileSummary profile_;
  std::optional<MeasuredCosts> learned_;  // corrects costs_
  rules::RewriteLog log_;
  OptimiseReport report_;
  ReportPage page_;
};

}  // namespace

OptimiseReport optimise(const OptimiseOptions& options, const CallFiles& files) {
  return Pipeline(options, files).run();
}

}
