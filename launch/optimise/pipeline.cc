#include "launch/optimise/pipeline.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/atomic_file.h"
#include "core/base/error.h"
#include "core/base/resource_usage.h"
#include "core/base/text.h"
#include "core/base/version.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/ort_session.h"
#include "core/onnx/export.h"
#include "core/task/bindings.h"
#include "core/task/load_rule_set.h"
#include "launch/call/not_equivalent_error.h"
#include "launch/graphs/log_replay.h"
#include "launch/optimise/blame.h"
#include "launch/optimise/rewrite_trials.h"

namespace regraft::launch {

namespace fs = std::filesystem;

Pipeline::Pipeline(const OptimiseOptions& options, const CallFiles& files)
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

OptimiseReport Pipeline::run() {
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

void Pipeline::timed_step(const char* name, const std::function<void()>& work) {
  const std::int64_t start = clock_.steady_ns();
  double seconds = 0;
  const auto spend = [&] {
    seconds = static_cast<double>(clock_.steady_ns() - start) / nanoseconds_per_second;
    report_.spend(name, seconds);
  };
  try {
    output_.name_errors(work);
  } catch (...) {
    spend();
    throw;
  }
  spend();
  char text[32];
  std::snprintf(text, sizeof text, " %.1f s", seconds);
  options_.say(name + std::string(text));
}

void Pipeline::import() {
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

void Pipeline::find_feed() {
  timed_step("sizes", [&] { feed_ = feed_in_child(options_.input, options_.feed, options_.seed); });
  feed_file_.emplace(feed_);
  report_.dims = feed_.taken;
  for (exec::TakenSize& one : report_.dims)
    if (log_.fixed.contains(one.dim)) one.why = "fixed";
  for (const exec::FeedPoint& point : feed_.points)
    report_.points.push_back({point.sizes, 0, 0, {}, {}, {}, {}, {}});
  if (const std::string sizes = describe_sizes(feed_); !sizes.empty()) options_.say(sizes);
}

void Pipeline::re_export() {
  log_.rule_set = task::load_rule_set(options_.rules, options_.domains).hash().hex();
  timed_step("export", [&] { onnx::export_model(*model_, model_->graph(), output_.aside()); });
  begin_checks();
  const exec::EquivalenceReport equivalence = verify(true);
  if (!equivalence.repeatable) return keep_input(equivalence.reason);
  if (!equivalence.equivalent)
    throw NotEquivalentError("the re-exported model differs: " + equivalence.reason, options_.input.string(),
                             "nothing was emitted; please report this");
  log_.result = "re-export";
  report_.accepted = true;
  report_.reason = "re-exported without rewriting; outputs are equal to the bit";
}

void Pipeline::choose_runtime() {
  exec::LatencyOptions latency;
  latency.threads = options_.threads;
  latency.budget_s = options_.time.measure_s(0);
  latency.until_clear = true;
  latency.feed = feed_file_->path();
  latency.seed = options_.seed;
  latency.least_speedup = 1 + options_.least_gain / 100;
  runtimes_.emplace(runtimes_named(options_.runtime), latency);
  if (options_.runtime != Runtime::kDefault)
    timed_step("runtimes", [&] { runtimes_->choose(options_.input); });
  options_.runtime = runtimes_->chosen().origin();
  report_.runtime = runtimes_->chosen().name();
}

void Pipeline::rewrite() {
  choose_runtime();
  const Turn blank{report_, log_, page_};
  const std::size_t turns = options_.script ? 1 : runtimes_->worth_trying();
  before_turns_s_ = report_.spent_s();
  const double all_s = options_.time.turns_s(before_turns_s_);
  double turns_s = 0;
  std::optional<Turn> best;
  std::map<std::string, double> turn_s;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const double share_s = share_of_turn(all_s, turns_s, turn, turns);
    options_.time.seconds = share_s > 0 ? share_s : all_s / static_cast<double>(turns);
    if (best && share_s <= 0) {
      options_.warn("no time is left to search for other runtimes: give more --seconds");
      break;
    }
    if (turn > 0) begin_turn(blank, best);
    try {
      rewrite_for_runtime();
      if (!best || report_.accepted) best = Turn{report_, log_, page_, std::move(result_)};
    } catch (const Error& error) {  // costs no result that another runtime gives
      if (!best && turn + 1 == turns) throw;
      options_.warn("nothing was found for " + report_.runtime + ": " + error.what());
    }
    turn_s[report_.runtime] = spent_s();
    turns_s +=
        options_.time.seconds - options_.time.left_s(spent_s());  // without what parts have of their own
  }
  if (turns > 1) restore(std::move(*best));
  for (const auto& [runtime, seconds] : turn_s)
    if (runtime != report_.runtime) report_.spend("for " + runtime, seconds);
  if (!report_.accepted || !report_.points[0].speedup) return;
  runtimes_->note_result(*report_.points[0].speedup);
  if (runtimes_->times().size() > 1)
    timed_step("runtimes", [&] { runtimes_->measure_elsewhere(options_.input, output_.aside()); });
}

void Pipeline::begin_turn(const Turn& blank, const std::optional<Turn>& best) {
  runtimes_->choose_next();
  std::tie(report_, log_, page_) = std::tie(blank.report, blank.log, blank.page);
  result_.reset();
  profile_ = {};
  output_.clear();
  report_.runtime = runtimes_->chosen().name();
  options_.runtime = runtimes_->chosen().origin();
  if (best && best->report.accepted) best_speedup_ = *best->report.points[0].speedup;
  const double needed = runtimes_->options().least_speedup * best_speedup_ * runtimes_->slower();
  options_.least_gain = (needed - 1) * 100;
  char text[60];
  std::snprintf(text, sizeof text, ", where %.3fx as fast as the input is needed", needed);
  options_.say("goes on for " + report_.runtime + text);
}

void Pipeline::restore(Turn best) {
  std::tie(report_, log_, page_) = std::tie(best.report, best.log, best.page);
  runtimes_->go_back_to(report_.runtime);
  output_.name_errors([&] {
    if (!report_.accepted) return output_.copy_of(*model_);
    output_.clear();
    onnx::export_model(*model_, best.result.value(), output_.aside());
  });
}

void Pipeline::rewrite_for_runtime() {
  rules_.emplace(task::load_rule_set(options_.rules, options_.domains));
  log_.rule_set = rules_->hash().hex();
  if (options_.strict) rules_->exclude_marked();
  start_.emplace(*model_);
  timed_step("clean-up", [&] { start_->clean_up(*rules_, log_); });
  costs_.emplace(*model_, feed_, options_.device_profile(), *start_);
  learned_.emplace(options_, feed_file_->path(), *start_, *costs_);
  begin_checks();
  if (runtimes_->chosen().is_default() || learned_->corrects())
    if (const std::string why_not = profile(); !why_not.empty()) return keep_input(why_not);
  if (options_.settings) {
    tuning_.emplace(
        options_, *runtimes_, [this] { return check_->options(false); }, report_.settings);
    timed_step("settings", [&] { tuning_->tune_input(); });
  }
  CheckedSearch search(options_, *rules_, *costs_, profile_, *start_, timed_, report_, log_);
  if (const std::string why_not = write_equivalent(search, find(search)); !why_not.empty())
    return keep_input(why_not);
  timed_step("replay", [&] { check_->replay_log(); });
  if (options_.page && is_profiled(options_.runtime))
    timed_step("profile", [&] { page_.note_kernels(learned_->kernels_of(output_.aside()), true); });
  accept();
}

std::string Pipeline::profile() {
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

CheckedSearch::Result Pipeline::find(CheckedSearch& search) {
  const bool learns = learned_->corrects() && !options_.script;
  const auto search_from = [&](const std::optional<CheckedSearch::Proposal>& from, double all_s) {
    return learned_->search(search, *model_, *rules_, timed_, all_s, from);
  };
  CheckedSearch::Result found =
      search.check(learns ? search_from({}, options_.time.search_s()) : search.propose());
  const double trials_s = options_.time.trials_s(spent_s(), needed_s());
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

void Pipeline::begin_checks() {
  const auto probe_s = [this] { return options_.time.probes_s(spent_s(), needed_s()); };
  check_.emplace(options_, feed_file_->path(), output_, log_, report_, probe_s);
}

double Pipeline::needed_s() const {
  std::vector<double> run_s = costs_->latencies_us(*start_);
  for (const double scale = options_.run_us(profile_.measured_us) / 1e6 / run_s[0]; double& run : run_s)
    run *= scale;
  return run_s[0] > 0 ? seconds_to_confirm(run_s, options_.threads) : options_.time.seconds / 3;
}

double Pipeline::further_s(double trials_s) const {
  if (options_.time.trials) return options_.time.search_s();
  const double left_s = options_.time.trials_s(spent_s(), needed_s());
  return std::min(options_.time.search_s(), 2 * (left_s - trials_s / 2));
}

std::string Pipeline::write_equivalent(CheckedSearch& search, CheckedSearch::Result found) {
  for (predict(found.graphs); changes_input(found); predict(found.graphs)) {
    try {
      timed_step("export", [&] { onnx::export_model(*model_, found.graphs, output_.aside()); });
    } catch (const onnx::OnnxError& error) {  // as of contents that no file may hold
      if (options_.script) throw;
      return "the result cannot be written: " + std::string(error.what());
    }
    const exec::EquivalenceReport equivalence = verify(false);
    if (!equivalence.repeatable) return equivalence.reason;
    if (equivalence.equivalent) {
      result_ = std::move(found.graphs);
      return "";
    }
    std::optional<Bisection> entries;
    const double left_s = options_.time.left_s(spent_s()) + options_.time.seconds;
    timed_step("blame", [&] { entries = check_->bisect_entries(left_s); });
    const std::string what = "after " + entry_name(log_, entries) + ": " + equivalence.reason;
    if (options_.script)
      throw NotEquivalentError(what, options_.input.string(),
                               "nothing was emitted; take it out of the script");
    if (!entries && !options_.fixed.empty())
      return "a branch may not run at " + join(options_.fixed, ", ") + ": " + equivalence.reason;
    if (!entries || entries->bad <= cleaned(log_)) return what + "; please report this";
    const std::size_t good = std::max(entries->good, cleaned(log_)) - cleaned(log_);
    found = entries->culprit() ? search.check_without(std::move(found), good, what)
                               : search.check_first(std::move(found), good, what);
  }
  return options_.script ? "the script changes nothing" : report_.why_nothing();
}

bool Pipeline::changes_input(const CheckedSearch::Result& found) const {
  return rewrites(found.paths) || found.graphs.operation_count() < report_.nodes_before;
}

void Pipeline::predict(const ModelGraphs& after) {
  ModelGraphs before(*model_), found = after;
  for (ModelGraphs* graphs : {&before, &found}) graphs->clean_up_as_runtimes();
  const std::vector<double> from_us = costs_->latencies_us(before), to_us = costs_->latencies_us(found);
  for (std::size_t i = 0; i < from_us.size(); ++i)
    std::tie(report_.points[i].cost_before, report_.points[i].cost_after) = std::pair(from_us[i], to_us[i]);
  std::tie(report_.cost_before, report_.cost_after) = std::pair(from_us[0], to_us[0]);
  report_.slower_at = costs_->slower_sizes(before[0], found[0]);
  report_.nodes_after = after.operation_count();
  if (options_.page) page_.note_changes(ModelGraphs(*model_), after, log_, *rules_);
}

exec::EquivalenceReport Pipeline::verify(bool bit_equal) {
  exec::EquivalenceReport equivalence;
  timed_step("verify", [&] { equivalence = check_->whole_model(bit_equal); });
  report_.check_notes = equivalence.notes;
  report_.verified = equivalence.equivalent;
  report_.max_relative_error = equivalence.max_relative_error;
  return equivalence;
}

void Pipeline::accept() {
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
  try {
    measure_all();
  } catch (const exec::ExecError& error) {
    if (!runtimes_->chosen().is_default()) throw;  // another may be gone
    keep_input("it could not be measured: " + std::string(error.what()));
  }
}

void Pipeline::measure_all() {
  const exec::LatencyReport latency = measure(0);
  runtimes_->note_input(latency.before.latency_ms);
  if (!latency.accepted) return keep_input(latency.reason);
  for (std::size_t i = 1; i < feed_.points.size(); ++i)
    if (exec::verdict_name(measure(i)) == "slower")
      return keep_input("it is faster at " + feed_.points[0].describe() + ", but slower at " +
                        feed_.points[i].describe());
  report_.accepted = true;
  report_.reason = latency.reason;
}

std::string Pipeline::refused_by_runtime() {
  std::string why_not;
  if (!runtimes_->chosen().is_default())
    timed_step("verify", [&] { why_not = runtimes_->difference(options_.input, output_.aside()); });
  return output_.spoken(why_not);
}

exec::LatencyReport Pipeline::measure(std::size_t point) {
  exec::LatencyOptions latency = runtimes_->options();
  latency.point = point;
  latency.budget_s = options_.time.measure_s(spent_s(), point, feed_.points.size());
  latency.one_series = point != 0;
  latency.least_speedup = point != 0 ? 1 : latency.least_speedup * best_speedup_;
  latency.beaten = point != 0 ? 1 : best_speedup_;
  const auto& [before, after] = std::tie(report_.settings.input, report_.settings.output);
  exec::LatencyReport measured;
  timed_step("measure", [&] {
    measured = runtimes_->compare({options_.input, before}, {output_.aside(), after}, latency);
  });
  report_.points[point].note(measured);
  return measured;
}

void Pipeline::keep_input(const std::string& reason) {
  report_.keep_input(reason);
  log_.entries.clear();
  log_.result = "input";
  output_.name_errors([&] { output_.copy_of(*model_); });
}

}
