#include "launch/optimise.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>
#include <tuple>

#include "actors/config_files.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/process.h"
#include "core/base/progress.h"
#include "core/base/text.h"
#include "core/cost/analytic.h"
#include "core/cost/several_sizes.h"
#include "core/exec/exec_error.h"
#include "core/exec/latency.h"
#include "core/exec/oracle.h"
#include "core/exec/paired.h"
#include "core/exec/site_check.h"
#include "core/nn/device.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/rules/script.h"
#include "launch/bisect.h"
#include "launch/blame.h"
#include "launch/controller_evaluation.h"
#include "launch/model_graphs.h"
#include "launch/output_files.h"
#include "launch/own_commands.h"
#include "launch/replay_log.h"
#include "launch/searches.h"
#include "launch/version.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

constexpr double kClearlySlower = 1.02;

/// The rewrites of each graph.
using Paths = std::vector<std::vector<rules::Match>>;

/// One run of the pipeline; its members are its state between phases.
class Pipeline {
 public:
  Pipeline(const OptimiseOptions& options, const CallFiles& files)
      : options_(options), files_(files), output_(options.output) {
    report_.seed = options.seed;
    report_.search = options.script ? "script" : options.search;
  }

  OptimiseReport run() {
    nn::set_torch_threads(1);
    exec::set_oracle_threads(1);
    import();
    find_feed();
    if (!feed_.runs())
      keep_input("it could not be run: " + feed_.problem + " (" + feed_.remedy + ")");
    else if (re_exports())
      re_export();
    else
      rewrite();
    report_.peak_rss_bytes = peak_rss_bytes_with_children();
    // The model last: when one of these cannot be written there is no output.
    if (options_.log) write_file_atomic(*options_.log, log_.to_text());
    if (options_.json) write_file_atomic(*options_.json, report_.to_json());
    output_.name_errors([&] { output_.commit(); });
    return report_;
  }

 private:
  bool re_exports() const { return options_.search == "none" && !options_.script; }

  template <typename Work>
  void phase(const char* name, Work work) {
    const std::int64_t start = clock_.steady_ns();
    output_.name_errors(work);
    const double seconds = static_cast<double>(clock_.steady_ns() - start) / nanoseconds_per_second;
    const auto held = std::ranges::find(report_.seconds, name, &std::pair<std::string, double>::first);
    if (held == report_.seconds.end())
      report_.seconds.emplace_back(name, seconds);
    else
      held->second += seconds;  // made again
    if (!options_.quiet)
      std::fprintf(stderr, "regraft: %s: %s %.1f s\n", options_.input.filename().c_str(), name, seconds);
  }

  void import() {
    onnx::ImportOptions import;
    if (!re_exports()) import.inlined_calls = SIZE_MAX;
    phase("import", [&] { model_.emplace(onnx::import_model(options_.input, import)); });
    output_.expect(*model_);
    files_.spares(fs::absolute(options_.input).parent_path(), model_->external_locations());
    report_.nodes_before = report_.nodes_after = ModelGraphs(*model_).operation_count();
    log_.version = kVersion;
    log_.domains = options_.domains;
    log_.input_sha256 = model_sha256(*model_);
  }

  void find_feed() {
    phase("sizes", [&] { feed_ = feed_in_child(options_.input, options_.feed, options_.seed); });
    feed_file_.emplace(feed_);
    report_.dims = feed_.taken;
    for (const exec::FeedPoint& point : feed_.points) {
      report_.points.push_back({point.sizes, 0, 0, {}, {}, {}, {}, {}});
      points_.emplace_back();
      for (const auto& [name, value] : point.all()) points_.back().bind(model_->tables().symbol(name), value);
    }
    if (const std::string sizes = describe_sizes(feed_); !options_.quiet && !sizes.empty())
      std::fprintf(stderr, "regraft: %s: %s\n", options_.input.filename().c_str(), sizes.c_str());
  }

  const graph::Bindings& bindings() const { return points_.front(); }

  void re_export() {
    log_.rule_set = actors::load_rule_set(options_.rules, options_.domains).hash().hex();
    phase("export", [&] { onnx::export_model(*model_, model_->graph(), output_.aside()); });
    exec::EquivalenceReport equivalence;
    phase("verify", [&] { equivalence = verify(output_.aside(), true); });
    if (!equivalence.repeatable) return keep_input(equivalence.reason);
    log_.result = "re-export";
    report_.accepted = true;
    report_.reason = "re-exported without rewriting; outputs are equal to the bit";
  }

  void rewrite() {
    rules_.emplace(actors::load_rule_set(options_.rules, options_.domains));
    log_.rule_set = rules_->hash().hex();
    if (options_.strict) rules_->exclude_marked();
    const ModelGraphs input(*model_);
    ModelGraphs start = input;
    phase("clean-up", [&] { start.clean_up(*rules_, log_); });
    const cost::DeviceProfile device = cost::load_device(actors::find_config(options_.device));
    for (std::size_t at = 0; at < start.size(); ++at) costs_.emplace_back(device, points_, start[at]);
    phase("profile", [&] {
      profile_ = profile_in_child(options_.input, feed_file_->path(), options_.threads, options_.seed);
    });
    report_.dense_share = profile_.dense_share;
    if (!options_.quiet)
      std::fprintf(stderr, "regraft: %s: %s\n", options_.input.filename().c_str(), profile_.text.c_str());
    runs_ = start.runs(bindings());
    if (const std::string why_not = write_equivalent(input, start); !why_not.empty())
      return keep_input(why_not);
    phase("replay", [&] { check_log(); });
    accept();
  }

  /// Predicted latencies at each of the points, of all graphs together.
  std::vector<double> latencies_us(const ModelGraphs& graphs) const {
    std::vector<double> sums(points_.size(), 0);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const std::vector<double> runs = graphs.runs(points_[i]);
      for (std::size_t at = 0; at < graphs.size(); ++at)
        sums[i] +=
            runs[at] * cost::AnalyticFactory(costs_[at].device(), points_[i]).make(graphs[at])->latency_us();
    }
    return sums;
  }

  void predict(const ModelGraphs& before, const ModelGraphs& after) {
    const std::vector<double> before_us = latencies_us(before), after_us = latencies_us(after);
    for (std::size_t i = 0; i < before_us.size(); ++i)
      std::tie(report_.points[i].cost_before, report_.points[i].cost_after) =
          std::pair(before_us[i], after_us[i]);
    report_.cost_before = before_us[0];
    report_.cost_after = after_us[0];
    report_.slower_at = slower_sizes(before[0], after[0]);
  }

  /// The first of ever larger sizes at which the main graph is predicted to be slower than it was.
  exec::SymbolSizes slower_sizes(const graph::Graph& before, const graph::Graph& after) const {
    constexpr int kSteps = 6;  // of a factor of 4
    exec::SymbolSizes sizes = feed_.points.front().sizes;
    const exec::SymbolSizes& other = feed_.points.back().sizes;
    for (int step = 0; step < kSteps && feed_.points.size() > 1; ++step) {
      graph::Bindings bound = bindings();
      for (auto& [name, size] : sizes) {
        if (other.at(name) != feed_.points.front().sizes.at(name)) size *= 4;
        bound.bind(model_->tables().symbol(name), size);
      }
      const cost::AnalyticFactory costs(costs_[0].device(), bound);
      if (costs.make(after)->latency_us() > kClearlySlower * costs.make(before)->latency_us()) return sizes;
    }
    return {};
  }

  /// Writes the cheapest graphs found aside, without what makes them another model than the input; says why
  /// where there are none.
  std::string write_equivalent(const ModelGraphs& input, const ModelGraphs& start) {
    ModelGraphs best = start;
    Blame blame;
    Paths paths = search_and_check(start, best);
    predict(input, best);
    while (rewrites(paths) || best.operation_count() < input.operation_count()) {
      report_.nodes_after = best.operation_count();
      phase("export", [&] { onnx::export_model(*model_, best, output_.aside()); });
      exec::EquivalenceReport equivalence;
      phase("verify", [&] { equivalence = verify(output_.aside(), false); });
      if (!equivalence.repeatable) return equivalence.reason;
      if (equivalence.equivalent) return "";
      std::optional<std::size_t> entry;
      phase("blame", [&] { entry = first_bad_entry(); });
      const std::string what = "output " + equivalence.worst_output + " differs after " +
                               entry_name(log_, entry) + ": " + equivalence.reason;
      if (options_.script)
        throw NotEquivalentError(what, options_.input.string(),
                                 "nothing was emitted; take it out of the script");
      if (!entry || *entry < cleaned(log_)) return what + "; please report this";
      paths = paths_after_blame(start, paths, *entry - cleaned(log_), what, blame, best);
      predict(input, best);
    }
    if (options_.script) return "the script changes nothing";
    return report_.refused_rules.empty()
               ? "no rewrite was found that the cost model calls cheaper; " + profile_.text
               : "no rewrite is left that keeps what the model computes and that the cost model calls "
                 "cheaper";
  }

  static bool rewrites(const Paths& paths) {
    return std::ranges::any_of(paths, [](const auto& path) { return !path.empty(); });
  }

  void forget_rewrites() {
    log_.entries.resize(cleaned(log_));
    report_.rules.clear();
    report_.marks.clear();
  }

  /// The paths without the rewrite that is to blame, counted over all of them, and the graphs they lead to;
  /// where that is not enough, what is found without its rule.
  Paths paths_after_blame(const ModelGraphs& start, const Paths& paths, std::size_t culprit,
                          const std::string& what, Blame& blame, ModelGraphs& best) {
    std::size_t at = 0;
    for (; culprit >= paths[at].size(); ++at) culprit -= paths[at].size();
    const std::string rule = rules_->info(paths[at][culprit].rule).name;
    const Without without = blame.after(rule);
    forget_rewrites();
    best = start;
    if (without == Without::everything) return Paths(start.size());
    Paths rest = paths;
    rest[at] = path_without(start[at], *rules_, paths[at], rewrites_to_leave(paths[at], culprit, without));
    const bool tried = without != Without::rule && rewrites(rest);
    if (tried && !apply_checked(rest, best) && latencies_us(best)[0] < latencies_us(start)[0]) {
      refuse({rule, what, "rewrite"});
      return rest;
    }
    refuse({rule, what});
    rules_->exclude(rule);
    forget_rewrites();
    return search_and_check(start, best);
  }

  void refuse(RefusedRule refused) {
    if (!options_.quiet)
      std::fprintf(stderr, "regraft: %s: %s\n", options_.input.filename().c_str(), refused.text().c_str());
    report_.refused_rules.push_back(std::move(refused));
  }

  /// The paths to the cheapest graphs found whose sites all pass their checks, and these graphs. Each rule
  /// that a check refuses is left out and the search made again.
  Paths search_and_check(const ModelGraphs& start, ModelGraphs& best) {
    for (;;) {
      best = start;
      std::vector<search::SearchResult> found;
      phase(options_.script ? "script" : "search",
            [&] { found = options_.script ? scripted(start) : search(start); });
      report_search(found);
      Paths paths;
      for (search::SearchResult& part : found) paths.push_back(std::move(part.path));
      std::optional<RefusedRule> refused;
      if (rewrites(paths)) phase("check sites", [&] { refused = apply_checked(paths, best); });
      if (!refused) return paths;
      if (options_.script)
        throw NotEquivalentError("rule " + refused->rule + " is refused: " + refused->reason,
                                 options_.script->string(), "nothing was emitted; take it out of the script");
      rules_->exclude(refused->rule);
      refuse(std::move(*refused));
      forget_rewrites();
    }
  }

  void report_search(const std::vector<search::SearchResult>& found) {
    std::set<std::string> found_by;
    for (const search::SearchResult& part : found) {
      report_.candidates_costed += part.candidates_costed;
      if (!part.found_by.empty() && !part.path.empty()) found_by.insert(part.found_by);
    }
    report_.found_by = join(std::vector<std::string>(found_by.begin(), found_by.end()), ", ");
  }

  /// A script names places of the main graph.
  std::vector<search::SearchResult> scripted(const ModelGraphs& start) {
    std::vector<search::SearchResult> results(start.size());
    for (std::size_t at = 0; at < start.size(); ++at) {
      graph::Graph graph = start[at];
      search::SearchResult& result = results[at];
      result.initial = costs_[at].make(graph)->cost();
      if (at == 0) result.path = rules::run_script(rules::Script::load(*options_.script), graph, *rules_);
      result.best = costs_[at].make(graph)->cost();
    }
    return results;
  }

  std::vector<search::SearchResult> search(const ModelGraphs& start) {
    search::SearchLimits budget;
    // Each search anew has half of the time of the one before: all together take less than twice the budget.
    budget.seconds = std::ldexp(options_.budget_s, -searches_++);
    if (options_.expansions > 0) budget.expansions = options_.expansions;
    return search_each(start, runs_, *rules_, costs_, budget, [&](std::size_t at, const auto& limits) {
      return search(start[at], costs_[at], limits);
    });
  }

  /// Where other kernels leave less to gain than acceptance asks for, only cheaper dense kernels can help: a
  /// greedy search looks whether any single rewrite promises that, and without one nothing else is tried.
  search::SearchResult search(const graph::Graph& start, const cost::CostFactory& costs,
                              const search::SearchLimits& budget) {
    if (options_.accept == "measured" && profile_.ceiling() < exec::kLeastSpeedup) {
      search::SearchResult greedy = search_by("greedy", start, costs, budget);
      if (greedy.path.empty()) return greedy;
    }
    return search_by(options_.search, start, costs, budget);
  }

  search::SearchResult search_by(const std::string& name, const graph::Graph& start,
                                 const cost::CostFactory& costs, const search::SearchLimits& budget) {
    std::unique_ptr<search::Prior> prior;
    env::EpisodeLimits limits;
    bool everywhere = false;
    const bool guided = wants_policy(name);
    const std::filesystem::path path = guided ? policy_path(options_.policy) : std::filesystem::path();
    if (guided && is_bundle(path)) {
      auto controller = std::make_unique<ControllerPrior>(path, *rules_);
      limits = controller->limits();
      everywhere = controller->everywhere();
      prior = std::move(controller);
    } else if (guided) {
      const nn::PolicyFile policy = nn::load_policy(path);
      limits = policy.limits;
      prior = std::make_unique<PolicyPrior>(policy, *rules_);
      everywhere = policy.network.everywhere;
      if (const std::string note = unseen_note(policy, *rules_); !note.empty() && !options_.quiet)
        std::fprintf(stderr, "regraft: %s: %s\n", options_.input.filename().c_str(), note.c_str());
    }
    const search::ObservationOptions observation{limits.horizon, limits.location_limit, bindings(),
                                                 everywhere};
    const auto searcher = make_search(name, prior.get(), observation);
    Rng rng(options_.seed, "search");
    Progress progress({.label = "searching", .unit = "expansions", .terminal = is_terminal(2)}, clock_,
                      std::cerr);
    search::SearchContext context{clock_};
    context.progress = [&](const search::SearchProgress& at) {
      char note[80];
      std::snprintf(note, sizeof note, "best %.4f of the initial cost",
                    at.best_latency_us / at.initial_latency_us);
      if (!options_.quiet) progress.update(at.expansions, note);
    };
    return searcher->run({start, *rules_, costs}, budget, rng, context);
  }

  /// Applies the paths, checking each site in fp64 as it goes; ends at the first rewrite that is refused.
  std::optional<RefusedRule> apply_checked(const Paths& paths, ModelGraphs& graphs) {
    for (std::size_t at = 0; at < graphs.size(); ++at)
      if (auto refused = apply_checked(paths[at], graphs[at], costs_[at], graphs.path(at), runs_[at]))
        return refused;
    return std::nullopt;
  }

  std::optional<RefusedRule> apply_checked(const std::vector<rules::Match>& path, graph::Graph& graph,
                                           const cost::CostFactory& factory, const std::string& graph_path,
                                           double runs) {
    const auto costs = factory.make(graph);
    double before_us = runs * costs->cost().latency_us;
    rules::Rewriter rewriter(graph, *rules_);
    for (std::size_t i = 0; i < path.size(); ++i) {
      const std::string& name = rules_->info(path[i].rule).name;
      const graph::Graph before = graph;
      const graph::Graph::Mark mark = graph.mark();
      const rules::Rewrite& rewrite = rewriter.apply(path[i]);
      const exec::SiteReport site =
          exec::check_site(before, graph, rewrite, {.seed = options_.seed, .bindings = bindings()});
      if (!site.passes)
        return RefusedRule{name, (graph_path.empty() ? "" : graph_path + ", ") + "rewrite " +
                                     std::to_string(i) + ": " + site.reason};
      const std::vector<rules::RuleMark>& marks = rules_->info(path[i].rule).marks;
      for (const rules::RuleMark asked : marks)
        report_.marks[std::string(rules::mark_name(asked))].insert(name);
      costs->update(graph.touched_since(mark));
      const double after_us = runs * costs->cost().latency_us;
      log_.entries.push_back(
          {name, {path[i].nodes.begin(), path[i].nodes.end()}, before_us, after_us, graph_path, marks});
      before_us = after_us;
      ++report_.rules[name];
    }
    return std::nullopt;
  }

  ChildCheck check_options(bool bit_equal) const {
    return {feed_file_->path(), options_.seed, bit_equal,
            report_.marks.contains(std::string(rules::mark_name(rules::RuleMark::finite)))};
  }

  exec::EquivalenceReport verify(const fs::path& candidate, bool bit_equal) {
    exec::EquivalenceReport equivalence =
        verify_in_child(options_.input, candidate, check_options(bit_equal));
    equivalence.reason = output_.spoken(equivalence.reason);
    report_.verified = equivalence.equivalent;
    report_.max_relative_error = equivalence.max_relative_error;
    if (!equivalence.equivalent && equivalence.repeatable && bit_equal)
      throw NotEquivalentError("the re-exported model differs: " + equivalence.reason,
                               options_.input.string(), "nothing was emitted; please report this");
    return equivalence;
  }

  /// Bisects the log, clean-up included, for the first entry with which the whole model is no longer
  /// equivalent. Nothing where no entry can be told.
  std::optional<std::size_t> first_bad_entry() {
    const TempDir folder;
    const LogReplay replay(options_.input, write_log(folder.path()), options_.rules);
    const auto good_after = [&](std::size_t count) {
      const fs::path candidate = folder.path() / "prefix.onnx";
      replay.write_prefix(count, candidate);
      return verify_in_child(options_.input, candidate, check_options(false)).equivalent;
    };
    if (!good_after(0)) return std::nullopt;
    return first_bad_step(log_.entries.size(), good_after);
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
    if (options_.accept == "cost") {
      report_.accepted = true;
      report_.reason = options_.script         ? "what the script made, verified; not measured"
                       : report_.rules.empty() ? "clean-up made it smaller; not measured"
                                               : "the cost model calls it cheaper; not measured";
      return;
    }
    exec::LatencyReport latency;
    phase("measure", [&] { latency = measure(0); });
    report_.speedup = latency.estimate.speedup;
    report_.speedup_low = latency.estimate.low;
    report_.speedup_high = latency.estimate.high;
    report_.latency_before_ms = latency.before.latency_ms;
    report_.latency_after_ms = latency.after.latency_ms;
    if (!latency.accepted) return keep_input(latency.reason);
    for (std::size_t i = 1; i < feed_.points.size(); ++i) {
      exec::LatencyReport other;
      phase("measure", [&] { other = measure(i); });
      if (exec::verdict_name(other) == "slower")
        return keep_input("it is faster at " + feed_.points[0].describe() + ", but slower at " +
                          feed_.points[i].describe());
    }
    report_.accepted = true;
    report_.reason = latency.reason;
  }

  /// At the first sizes with all of the budget, else with half of it.
  exec::LatencyReport measure(std::size_t point) {
    exec::ProcessLauncher launcher(fs::read_symlink("/proc/self/exe"), {"measure-one"});
    exec::LatencyOptions latency;
    latency.threads = options_.threads;
    latency.budget_s = point == 0 ? options_.measure_s : options_.measure_s / 2;
    latency.feed = feed_file_->path();
    latency.point = point;
    latency.seed = options_.seed;
    exec::LatencyReport measured = exec::compare_latency(launcher, options_.input, output_.aside(), latency);
    PointReport& report = report_.points[point];
    report.speedup = measured.estimate.speedup;
    report.speedup_low = measured.estimate.low;
    report.speedup_high = measured.estimate.high;
    report.latency_before_ms = measured.before.latency_ms;
    report.latency_after_ms = measured.after.latency_ms;
    return measured;
  }

  void keep_input(const std::string& reason) {
    report_.accepted = false;
    report_.reason = reason;
    report_.rules.clear();
    report_.marks.clear();
    report_.nodes_after = report_.nodes_before;
    log_.entries.clear();
    log_.result = "input";
    report_.cost_after = report_.cost_before;
    for (PointReport& point : report_.points) point.cost_after = point.cost_before;
    report_.slower_at.clear();
    report_.verified = true;  // the same bytes
    report_.max_relative_error = 0;
    output_.name_errors([&] { output_.copy_of(*model_); });
  }

  const OptimiseOptions& options_;
  const CallFiles& files_;
  OutputFiles output_;
  SystemClock clock_;
  std::optional<onnx::ImportedModel> model_;
  exec::Feed feed_;
  std::optional<FeedFile> feed_file_;
  std::vector<graph::Bindings> points_;  // as feed_ has them
  std::optional<rules::RuleSet> rules_;
  std::vector<cost::SeveralSizesFactory> costs_;  // of each graph
  std::vector<double> runs_;                      // of each graph, for one run of the model
  ProfileSummary profile_;
  rules::RewriteLog log_;
  OptimiseReport report_;
  int searches_ = 0;
};

}  // namespace

OptimiseReport optimise(const OptimiseOptions& options, const CallFiles& files) {
  return Pipeline(options, files).run();
}

}  // namespace regraft::launch
