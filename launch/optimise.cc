#include "launch/optimise.h"
#include "actors/bindings.h"

#include <algorithm>
#include <cmath>
#include <iostream>

#include "actors/config_files.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/process.h"
#include "core/base/progress.h"
#include "core/cost/analytic.h"
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
#include "launch/output_files.h"
#include "launch/own_commands.h"
#include "launch/replay_log.h"
#include "launch/searches.h"
#include "launch/version.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

/// One run of the pipeline; its members are its state between phases.
class Pipeline {
 public:
  explicit Pipeline(const OptimiseOptions& options) : options_(options), output_(options.output) {
    report_.seed = options.seed;
    report_.search = options.script ? "script" : options.search;
  }

  OptimiseReport run() {
    nn::set_torch_threads(1);
    exec::set_oracle_threads(1);
    import();
    if (options_.search == "none" && !options_.script)
      re_export();
    else
      rewrite();
    report_.peak_rss_bytes = peak_rss_bytes();
    // The model last: when one of these cannot be written there is no output.
    if (options_.log) write_file_atomic(*options_.log, log_.to_text());
    if (options_.json) write_file_atomic(*options_.json, report_.to_json());
    output_.commit();
    return report_;
  }

 private:
  template <typename Work>
  void phase(const char* name, Work work) {
    const std::int64_t start = clock_.steady_ns();
    work();
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
    phase("import", [&] { model_.emplace(onnx::import_model(options_.input)); });
    for (const auto& [name, value] : actors::parse_bindings(options_.bindings))
      bindings_.bind(model_->tables().symbol(name), value);
    report_.nodes_before = report_.nodes_after = model_->graph().operation_count();
    log_.version = kVersion;
    log_.domains = options_.domains;
    log_.input_sha256 = model_sha256(*model_);
  }

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
    costs_.emplace(cost::load_device(actors::find_config(options_.device)), bindings_);
    log_.rule_set = rules_->hash().hex();
    if (options_.strict) rules_->exclude_marked();
    graph::Graph start = model_->graph();
    phase("clean-up", [&] {
      for (const rules::CleanupStep& step : rules::clean_up(start))
        log_.entries.push_back({std::string(rules::name_of(step.pass)), {step.node}});
      start.commit();
    });
    phase("profile", [&] {
      profile_ = profile_in_child(options_.input, options_.bindings, options_.threads, options_.seed);
    });
    report_.dense_share = profile_.dense_share;
    if (!options_.quiet)
      std::fprintf(stderr, "regraft: %s: %s\n", options_.input.filename().c_str(), profile_.text.c_str());
    if (const std::string why_not = write_equivalent(start); !why_not.empty()) return keep_input(why_not);
    phase("replay", [&] { check_log(); });
    accept();
  }

  /// Writes the cheapest graph found aside, without what makes it another model than the input; says why
  /// where there is none.
  std::string write_equivalent(const graph::Graph& start) {
    graph::Graph best = start;
    Blame blame;
    std::vector<rules::Match> path = search_and_check(start, best);
    while (!path.empty()) {
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
      path = path_after_blame(start, path, *entry - cleaned(log_), what, blame, best);
    }
    if (options_.script) return "the script changes nothing";
    return report_.refused_rules.empty()
               ? "no rewrite was found that the cost model calls cheaper; " + profile_.text
               : "no rewrite is left that keeps what the model computes and that the cost model calls "
                 "cheaper";
  }

  void forget_rewrites() {
    log_.entries.resize(cleaned(log_));
    report_.rules.clear();
    report_.marks.clear();
  }

  /// The path without the rewrite that is to blame, and the graph it leads to; where that is not enough, what
  /// is found without its rule.
  std::vector<rules::Match> path_after_blame(const graph::Graph& start, const std::vector<rules::Match>& path,
                                             std::size_t culprit, const std::string& what, Blame& blame,
                                             graph::Graph& best) {
    const std::string rule = rules_->info(path[culprit].rule).name;
    const Without without = blame.after(rule);
    if (without == Without::everything) return {};
    std::vector<rules::Match> rest;
    if (without != Without::rule)
      rest = path_without(start, *rules_, path, rewrites_to_leave(path, culprit, without));
    forget_rewrites();
    const bool holds = !rest.empty() && !apply_checked(start, rest, best);
    if (holds && (report_.cost_after = log_.entries.back().cost_after_us) < report_.cost_before) {
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

  /// The path to the cheapest graph found whose sites all pass their checks, and that graph. Each rule that a
  /// check refuses is left out and the search made again.
  std::vector<rules::Match> search_and_check(const graph::Graph& start, graph::Graph& best) {
    for (;;) {
      search::SearchResult found;
      phase(options_.script ? "script" : "search",
            [&] { found = options_.script ? scripted(start) : search(start); });
      report_.cost_before = found.initial.latency_us;
      report_.cost_after = found.best.latency_us;
      report_.candidates_costed += found.candidates_costed;
      report_.found_by = found.found_by;
      std::optional<RefusedRule> refused;
      if (!found.path.empty())
        phase("check sites", [&] { refused = apply_checked(start, found.path, best); });
      if (!refused) return found.path;
      if (options_.script)
        throw NotEquivalentError("rule " + refused->rule + " is refused: " + refused->reason,
                                 options_.script->string(), "nothing was emitted; take it out of the script");
      rules_->exclude(refused->rule);
      refuse(std::move(*refused));
      forget_rewrites();
    }
  }

  search::SearchResult scripted(const graph::Graph& start) {
    graph::Graph graph = start;
    search::SearchResult result;
    result.initial = costs_->make(graph)->cost();
    result.path = rules::run_script(rules::Script::load(*options_.script), graph, *rules_);
    result.best = costs_->make(graph)->cost();
    return result;
  }

  /// Where other kernels leave less to gain than acceptance asks for, only cheaper dense kernels can help: a
  /// greedy search looks whether any single rewrite promises that, and without one nothing else is tried.
  search::SearchResult search(const graph::Graph& start) {
    if (options_.accept == "measured" && profile_.ceiling() < exec::kLeastSpeedup) {
      search::SearchResult greedy = search_by("greedy", start);
      if (greedy.path.empty()) return greedy;
    }
    return search_by(options_.search, start);
  }

  search::SearchResult search_by(const std::string& name, const graph::Graph& start) {
    std::unique_ptr<search::Prior> prior;
    env::EpisodeLimits limits;
    bool everywhere = false;
    const bool guided = name == "policy" || name == "portfolio";
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
    const search::ObservationOptions observation{limits.horizon, limits.location_limit, bindings_,
                                                 everywhere};
    const auto searcher = make_search(name, prior.get(), observation);
    search::SearchLimits budget;
    // Each search anew has half of the time of the one before: all together take less than twice the budget.
    budget.seconds = std::ldexp(options_.budget_s, -searches_++);
    if (options_.expansions > 0) budget.expansions = options_.expansions;
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
    return searcher->run({start, *rules_, *costs_}, budget, rng, context);
  }

  /// Applies the path, checking each site in fp64 as it goes; ends at the first rewrite that is refused.
  std::optional<RefusedRule> apply_checked(const graph::Graph& start, const std::vector<rules::Match>& path,
                                           graph::Graph& graph) {
    graph = start;
    const auto costs = costs_->make(graph);
    double before_us = costs->cost().latency_us;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const std::string& name = rules_->info(path[i].rule).name;
      const graph::Graph before = graph;
      const graph::Graph::Mark mark = graph.mark();
      const rules::Rewrite rewrite = rules::apply(graph, *rules_, path[i]);
      const exec::SiteReport site =
          exec::check_site(before, graph, rewrite, {.seed = options_.seed, .bindings = bindings_});
      if (!site.passes) return RefusedRule{name, "rewrite " + std::to_string(i) + ": " + site.reason};
      const std::vector<rules::RuleMark>& marks = rules_->info(path[i].rule).marks;
      for (const rules::RuleMark asked : marks)
        report_.marks[std::string(rules::mark_name(asked))].insert(name);
      costs->update(graph.touched_since(mark));
      const double after_us = costs->cost().latency_us;
      log_.entries.push_back(
          {name, {path[i].nodes.begin(), path[i].nodes.end()}, before_us, after_us, marks});
      before_us = after_us;
      ++report_.rules[name];
    }
    return std::nullopt;
  }

  ChildCheck check_options(bool bit_equal) const {
    return {options_.bindings, options_.seed, bit_equal,
            report_.marks.contains(std::string(rules::mark_name(rules::RuleMark::finite)))};
  }

  exec::EquivalenceReport verify(const fs::path& candidate, bool bit_equal) {
    exec::EquivalenceReport equivalence =
        verify_in_child(options_.input, candidate, check_options(bit_equal));
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
      report_.reason = options_.script ? "what the script made, verified; not measured"
                                       : "the cost model calls it cheaper; not measured";
      return;
    }
    exec::LatencyReport latency;
    phase("measure", [&] { latency = measure(); });
    report_.speedup = latency.estimate.speedup;
    report_.speedup_low = latency.estimate.low;
    report_.speedup_high = latency.estimate.high;
    report_.latency_before_ms = latency.before.latency_ms;
    report_.latency_after_ms = latency.after.latency_ms;
    if (!latency.accepted) return keep_input(latency.reason);
    report_.accepted = true;
    report_.reason = latency.reason;
  }

  exec::LatencyReport measure() {
    exec::ProcessLauncher launcher(fs::read_symlink("/proc/self/exe"), {"measure-one"});
    exec::LatencyOptions latency;
    latency.threads = options_.threads;
    latency.budget_s = options_.measure_s;
    latency.bound = actors::parse_bindings(options_.bindings);
    latency.seed = options_.seed;
    return exec::compare_latency(launcher, options_.input, output_.aside(), latency);
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
    report_.verified = true;  // the same bytes
    report_.max_relative_error = 0;
    output_.copy_of(options_.input);
  }

  const OptimiseOptions& options_;
  OutputFiles output_;
  SystemClock clock_;
  std::optional<onnx::ImportedModel> model_;
  graph::Bindings bindings_;
  std::optional<rules::RuleSet> rules_;
  std::optional<cost::AnalyticFactory> costs_;
  ProfileSummary profile_;
  rules::RewriteLog log_;
  OptimiseReport report_;
  int searches_ = 0;
};

}  // namespace

OptimiseReport optimise(const OptimiseOptions& options) {
  return Pipeline(options).run();
}

}  // namespace regraft::launch
