#pragma once

// A random walk over the rewrites of one model, and all that must hold along it.

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/exec/equivalence/compare.h"
#include "core/exec/inputs/find_meanings.h"
#include "core/exec/inputs/inputs.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/ort_session.h"
#include "core/exec/site/site_check.h"
#include "core/graph/order.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/rewrite_log.h"
#include "support/validate.h"

namespace regraft::exec::rewrite_fuzzing {

struct WalkPlan {
  std::uint64_t seed = 0;
  int steps = 50;
  int site_percent = 5;  // of the rewrites whose site is checked in fp64 too
  bool clean_up = true;  // before the walk; such walks replay their log at the end
  double tolerance = 1e-4;
  std::vector<SymbolSizes> bindings{{}};
};

struct WalkOutcome {
  int rewrites = 0;
  int opaque = 0;  // nodes of the model that regraft does not know
  std::map<std::string, int> rules;
  std::string failure;       // empty when all held
  std::string not_runnable;  // why ONNX Runtime does not take the model itself
};

/// What the model computes: one set of inputs for each binding, with the answers and the spread that 1-ulp
/// noise on the inputs gives.
class RunRecord {
 public:
  RunRecord(const std::filesystem::path& model, const WalkPlan& plan) : tolerance_(plan.tolerance) {
    OrtSession session(model, {Optimisation::none, 1, {}});
    const RandomInputs source(find_meanings(model));
    Rng rng(plan.seed, "inputs");
    for (const SymbolSizes& sizes : plan.bindings) {
      Run run{source.draw(session.inputs(), sizes, rng), {}, {}};
      run.outputs = session.run(run.inputs);
      std::vector<Tensor> moved = run.inputs;
      for (Tensor& tensor : moved) nudge_one_ulp(tensor, rng);
      const std::vector<Tensor> noisy = session.run(moved);
      for (std::size_t i = 0; i < noisy.size(); ++i) run.spread.push_back(distance(run.outputs[i], noisy[i]));
      runs_.push_back(std::move(run));
    }
    for (const ValueInfo& output : session.outputs()) names_.push_back(output.name);
  }

  /// Empty when the other model gives the same.
  std::string difference(const std::filesystem::path& model) const {
    try {
      OrtSession session(model, {Optimisation::none, 1, {}});
      for (std::size_t i = 0; i < session.outputs().size(); ++i)
        if (i >= names_.size() || session.outputs()[i].name != names_[i]) return "outputs have other names";
      if (session.outputs().size() != names_.size()) return "outputs are missing";
      for (const Run& run : runs_) {
        const std::vector<Tensor> results = session.run(run.inputs);
        for (std::size_t i = 0; i < results.size(); ++i) {
          const double limit = tolerance_ + (std::isfinite(run.spread[i]) ? 8 * run.spread[i] : 0);
          const double error = distance(run.outputs[i], results[i]);
          if (!(error <= limit))
            return "output " + names_[i] + " differs by " + std::to_string(error) + ", allowed " +
                   std::to_string(limit) + "; " + compare(run.outputs[i], results[i]).problem;
        }
      }
      return "";
    } catch (const Error& error) {
      return std::string("the rewritten model does not run: ") + error.what();
    }
  }

 private:
  struct Run {
    std::vector<Tensor> inputs, outputs;
    std::vector<double> spread;
  };

  /// Relative to the largest value, or to 0.05 where all are smaller: what is left of sums that cancel.
  static double distance(const Tensor& a, const Tensor& b) {
    const Difference difference = compare(a, b);
    if (!difference.problem.empty()) return Difference::kUnbounded;
    if (!graph::is_float(a.dtype)) return 0;
    double largest = 0;
    for (const double value : to_doubles(a))
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    return difference.relative_error * (largest > 0 ? largest : 1) / std::max(largest, 0.05);
  }

  double tolerance_;
  std::vector<Run> runs_;
  std::vector<std::string> names_;
};

class Walk {
 public:
  Walk(const std::filesystem::path& model, const rules::RuleSet& rules, const WalkPlan& plan,
       const std::filesystem::path& folder)
      : path_(model),
        rules_(rules),
        plan_(plan),
        folder_(folder),
        model_(onnx::import_model(model)),
        graph_(model_.graph()) {
    for (graph::NodeId id = 0; id < graph_.id_bound(); ++id)
      outcome_.opaque += graph_.alive(id) && graph_.node(id).kind == graph::OpKind::opaque;
  }

  WalkOutcome run() {
    try {
      graph::validate(graph_);
      const RunRecord record(path_, plan_);
      const auto start = graph::structural_hash(graph_);
      const graph::Graph::Mark base = graph_.mark();
      walk(plan_.steps);
      if (outcome_.failure.empty()) compare(record);
      if (outcome_.failure.empty()) check_undo(base, start);
      if (outcome_.failure.empty() && plan_.clean_up) check_replay();
    } catch (const ExecError& error) {
      outcome_.not_runnable = error.what();
    } catch (const std::exception& error) {
      outcome_.failure = std::string("threw: ") + error.what() + " after " + last();
    }
    return outcome_;
  }

  const std::vector<std::string>& path() const { return steps_; }

 private:
  void walk(int steps) {
    if (plan_.clean_up)
      for (const rules::CleanupStep& step : rules::clean_up(graph_, rules_))
        log_.entries.push_back({step.name, {step.node}});
    Rng rng(plan_.seed, "walk");
    rules::MatchIndex index(rules_, graph_);
    const std::size_t limit = 3 * graph_.operation_count() + 60;
    for (int i = 0; i < steps && outcome_.failure.empty(); ++i) {
      std::vector<std::uint32_t> open;
      for (std::uint32_t rule = 0; rule < rules_.size(); ++rule)
        if (!index.matches(rule).empty()) open.push_back(rule);
      if (open.empty() || graph_.operation_count() > limit) break;
      // The one of two rules that has fired less: chains of forward and back would take most of the walk.
      const std::uint32_t one = open[rng.below(open.size())], other = open[rng.below(open.size())];
      const auto fired = [&](std::uint32_t rule) { return outcome_.rules[rules_.info(rule).name]; };
      const auto matches = index.matches(fired(other) < fired(one) ? other : one);
      const rules::Match& match = matches[rng.below(matches.size())];
      apply(match, rng.below(100) < static_cast<std::uint64_t>(plan_.site_percent), index);
    }
    if (outcome_.failure.empty()) check_index(index);
  }

  void apply(const rules::Match& match, bool check, rules::MatchIndex& index) {
    const std::string& name = rules_.info(match.rule).name;
    steps_.push_back(name);
    std::optional<graph::Graph> before;
    if (check) before = graph_;
    const graph::Graph::Mark mark = graph_.mark();
    const rules::Rewrite rewrite = rules::apply(graph_, rules_, match);
    graph::validate(graph_);
    log_.entries.push_back({name, {match.nodes.begin(), match.nodes.end()}, 1, 1});
    index.update(graph_.touched_since(mark));  // the match, which is the index's own, may be gone
    ++outcome_.rewrites;
    ++outcome_.rules[name];
    if (!check) return;
    graph::Bindings bindings;
    for (const auto& [symbol, size] : plan_.bindings.back())
      bindings.bind(graph_.tables().symbol(symbol), size);
    const SiteReport site = check_site(*before, graph_, rewrite, {.seed = plan_.seed, .bindings = bindings});
    if (!site.passes) outcome_.failure = "site check of " + name + ": " + site.reason;
  }

  void check_index(const rules::MatchIndex& index) {
    const rules::MatchIndex fresh(rules_, graph_);
    for (std::uint32_t rule = 0; rule < rules_.size(); ++rule)
      if (!std::ranges::equal(index.matches(rule), fresh.matches(rule)))
        outcome_.failure =
            "the index of " + rules_.info(rule).name + " is not that of a fresh match, after " + last();
  }

  void compare(const RunRecord& record) {
    const auto file = folder_ / "rewritten.onnx";
    onnx::export_model(model_, graph_, file);
    graph::validate(onnx::import_model(file).graph());
    const std::string difference = record.difference(file);
    if (!difference.empty()) outcome_.failure = difference + "; " + first_bad(record);
  }

  /// Walks again, one rewrite further each time, until the difference is there.
  std::string first_bad(const RunRecord& record) {
    for (int steps = 0; steps <= outcome_.rewrites; ++steps) {
      WalkPlan plan = plan_;
      plan.steps = steps;
      Walk again(path_, rules_, plan, folder_);
      again.walk(steps);
      const auto file = folder_ / "prefix.onnx";
      onnx::export_model(again.model_, again.graph_, file);
      if (!record.difference(file).empty())
        return "first after " + again.last() + " (rewrite " + std::to_string(steps) + ")";
    }
    return "in no prefix";
  }

  void check_undo(graph::Graph::Mark base, const Hash128& start) {
    graph_.undo_to(base);
    if (graph::structural_hash(graph_) != start) outcome_.failure = "undo of all gives another hash";
    if (onnx::export_model_bytes(model_, graph_) != onnx::export_model_bytes(model_, model_.graph()))
      outcome_.failure = "undo of all gives other bytes";
  }

  void check_replay() {
    log_.rule_set = rules_.hash().hex();
    const rules::RewriteLog log = rules::RewriteLog::parse(log_.to_text(), "walk");
    const onnx::ImportedModel fresh = onnx::import_model(path_);
    graph::Graph graph = fresh.graph();
    rules::replay(log, graph, rules_);
    if (onnx::export_model_bytes(fresh, graph) != read_file(folder_ / "rewritten.onnx"))
      outcome_.failure = "the log replays to other bytes";
  }

  std::string last() const { return steps_.empty() ? "clean-up" : steps_.back(); }

  std::filesystem::path path_;
  const rules::RuleSet& rules_;
  WalkPlan plan_;
  std::filesystem::path folder_;
  onnx::ImportedModel model_;
  graph::Graph graph_;
  rules::RewriteLog log_;
  std::vector<std::string> steps_;
  WalkOutcome outcome_;
};

}
