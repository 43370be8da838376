#include "launch/evaluate/predicted_graphs.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/find_config.h"
#include "core/base/rng.h"
#include "core/base/stats.h"
#include "core/cost/analytic_cost.h"
#include "core/cost/kernel_database.h"
#include "core/cost/measured_kernels.h"
#include "core/env/rewrite_state.h"
#include "core/exec/inputs/feed.h"
#include "core/exec/latency/launcher.h"
#include "core/exec/runtime/exec_error.h"
#include "core/graph/graph.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/rules/match/match.h"
#include "core/rules/rewrite/cleanup.h"
#include "core/rules/set/rule_set.h"
#include "core/search/all_sites_descent.h"
#include "launch/call/subprocess_checks.h"

namespace regraft::launch {
namespace {

constexpr std::size_t kProfiledEvery = 5;

/// What is held against measured times: against the mean of both processes, the second against the first.
struct JudgedCost {
  const char *name, *key;
  double PredictedGraph::*us;
};
constexpr JudgedCost kJudged[] = {
    {"the device's rates", "rank_correlation", &PredictedGraph::predicted_us},
    {"the same, corrected by measured kernels", "corrected_rank_correlation", &PredictedGraph::corrected_us},
    {"each operation alone, summed (TASO)", "alone_rank_correlation", &PredictedGraph::alone_us},
    {"measured again", "again_rank_correlation", &PredictedGraph::again_us}};

std::vector<double> column(std::span<const PredictedGraph> graphs, double PredictedGraph::*us) {
  std::vector<double> column;
  for (const PredictedGraph& graph : graphs) column.push_back(graph.*us);
  return column;
}

/// What a cost is held against.
std::vector<double> measured(std::span<const PredictedGraph> graphs, const JudgedCost& cost) {
  std::vector<double> measured;
  for (const PredictedGraph& graph : graphs)
    measured.push_back(cost.us == &PredictedGraph::again_us ? graph.measured_us : graph.mean_us());
  return measured;
}

std::vector<double> agreed_shares(std::span<const PredictedGraph> graphs) {
  std::vector<double> shares;
  for (const PredictedGraph& graph : graphs)
    if (graph.agreed_share) shares.push_back(*graph.agreed_share);
  return shares;
}

/// One legal rewrite: a rule uniformly among those that match, then one of its matches.
std::optional<rules::Match> random_rewrite(env::RewriteState& state, Rng& rng) {
  std::vector<std::uint32_t> legal;
  for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule)
    if (!state.index().matches(rule).empty()) legal.push_back(rule);
  if (legal.empty()) return std::nullopt;
  const auto matches = state.index().matches(legal[rng.below(legal.size())]);
  return matches[rng.below(matches.size())];
}

/// Walks from the start for as many rewrites as the generator draws.
void walk(env::RewriteState& state, std::uint32_t most, Rng& rng) {
  state.rewind_to(0);
  const std::uint64_t length = 1 + rng.below(most);
  while (state.depth() < length) {
    const std::optional<rules::Match> match = random_rewrite(state, rng);
    if (!match) return;
    state.apply(*match);
  }
}

class Prediction {
 public:
  Prediction(const PredictionOptions& options, const Clock& clock, const std::function<void()>& done)
      : options_(options),
        clock_(clock),
        done_(done),
        runtime_(options.runtime),
        rates_(runtime_.device(rates_for(options.runtime, options.device))),
        rules_(rules::RuleSet::load(find_config(options.rules))),
        model_(onnx::import_model(options.model, {.inlined_calls = SIZE_MAX})),  // as feeds see it
        feed_(feed_of(options.model, options.feed, options.seed)),
        feed_file_(feed_),
        launcher_(runtime_.sessions()),
        start_(model_.graph()) {
    for (const auto& [name, value] : feed_.points[0].all())
      bindings_.bind(model_.tables().symbol(name), value);
    rules::clean_up(start_, rules_);
    start_.commit();
    corrected_ = rates_;
    corrected_.measured = std::make_shared<cost::MeasuredKernels>(known_kernels());
    alone_ = corrected_;
    alone_.fusing = cost::Fusing::nothing;
  }

  std::vector<PredictedGraph> walked() {
    const cost::AnalyticFactory costs(rates_, bindings_);
    env::RewriteState state(start_, rules_, costs);
    Rng rng(options_.seed, "calibration walks");
    std::vector<PredictedGraph> graphs{measured(state, 0)};
    while (graphs.size() < options_.walked) {
      walk(state, options_.depth, rng);
      graphs.push_back(measured(state, graphs.size()));
    }
    return graphs;
  }

  /// Evenly along the path, both ends among them.
  std::vector<PredictedGraph> searched() {
    const cost::AnalyticFactory costs(corrected_, bindings_);
    Rng rng(options_.seed, "calibration search");
    const search::SearchResult found = search::make_all_sites_descent()->run(
        {start_, rules_, costs}, {.seconds = options_.search_s}, rng, {.clock = clock_});
    const std::size_t gaps = std::min<std::size_t>(options_.searched - 1, found.path.size());
    env::RewriteState state(start_, rules_, costs);
    std::vector<PredictedGraph> graphs{measured(state, 0)};
    for (std::size_t gap = 1; gap <= gaps; ++gap) {
      while (state.depth() < gap * found.path.size() / gaps) state.apply(found.path[state.depth()]);
      graphs.push_back(measured(state, gap == gaps ? 0 : gap));
    }
    return graphs;
  }

 private:
  ProfileSummary profile(const std::filesystem::path& model) const {
    return profile_in_child(model, feed_file_.path(), rates_for(options_.runtime, options_.device),
                            options_.threads, options_.seed, runtime_.origin());
  }

  /// What the database knows, and what a profile of the model tells.
  std::vector<cost::KernelSample> known_kernels() const {
    cost::KernelDatabase database(options_.database);
    if (!database.problem().empty())
      std::fprintf(stderr, "regraft: warning: %s\n", database.problem().c_str());
    const std::filesystem::path rates = rates_for(options_.runtime, options_.device);
    std::vector<cost::KernelSample> kernels =
        database.read(cost::device_fingerprint(rates, runtime_.description(), options_.threads));
    const ProfileSummary of_model = profile(options_.model);
    kernels.insert(kernels.end(), of_model.samples.begin(), of_model.samples.end());
    return kernels;
  }

  PredictedGraph measured(env::RewriteState& state, std::size_t number) {
    const std::filesystem::path file = folder_.path() / "rewritten.onnx";
    onnx::export_model(model_, state.graph(), file);
    exec::MeasureRequest request;
    request.model = file;
    request.threads = options_.threads;
    request.plan.budget_s = options_.session_s / 2;
    request.feed = feed_file_.path();
    request.seed = options_.seed;
    const auto by = [&](const cost::DeviceProfile& device) {
      return cost::AnalyticCost(device, bindings_, state.graph()).latency_us();
    };
    PredictedGraph graph{state.depth(), by(rates_), by(corrected_), by(alone_)};
    for (double PredictedGraph::*us : {&PredictedGraph::measured_us, &PredictedGraph::again_us})
      graph.*us = launcher_->measure(request).latency_ms() * 1e3;
    if (number % kProfiledEvery == 0 && is_profiled(options_.runtime)) try {
        graph.agreed_share = profile(file).agreed_share;
      } catch (const exec::ExecError& error) {
        std::fprintf(stderr, "regraft: warning: a graph was not profiled: %s\n", error.what());
      }
    done_();
    return graph;
  }

  const PredictionOptions& options_;
  const Clock& clock_;
  const std::function<void()>& done_;
  const Runtime runtime_;
  const cost::DeviceProfile rates_;
  const rules::RuleSet rules_;
  onnx::ImportedModel model_;
  const exec::Feed feed_;
  const FeedFile feed_file_;
  const std::unique_ptr<exec::Launcher> launcher_;
  graph::Graph start_;
  graph::Bindings bindings_;
  cost::DeviceProfile corrected_, alone_;
  const TempDir folder_;
};

}  // namespace

PredictedGraphs predict_and_measure(const PredictionOptions& options, const Clock& clock,
                                    const std::function<void()>& done) {
  Prediction prediction(options, clock, done);
  PredictedGraphs graphs{prediction.walked(), {}};
  if (options.searched > 0) graphs.searched = prediction.searched();
  return graphs;
}

std::string describe(std::span<const PredictedGraph> graphs) {
  std::string text;
  char line[160];
  for (const JudgedCost& cost : kJudged) {
    const std::vector<double> predicted = column(graphs, cost.us), taken = measured(graphs, cost);
    const std::string correlation =
        graphs.size() < 2 ? "-" : std::to_string(spearman(predicted, taken)).substr(0, 6);
    std::snprintf(line, sizeof(line), "%-42s %16s %20.3f %19.3f\n", cost.name, correlation.c_str(),
                  predicted.front() / taken.front(), predicted.back() / taken.back());
    text += line;
  }
  const std::vector<double> shares = agreed_shares(graphs);
  if (shares.empty()) return text;
  std::snprintf(line, sizeof(line),
                "launched as predicted: %.1f %% of the time, at least %.1f %% in each of %zu\n",
                100 * mean(shares), 100 * *std::ranges::min_element(shares), shares.size());
  return text + line;
}

nlohmann::json to_json(std::span<const PredictedGraph> graphs) {
  nlohmann::json report{{"graphs", nlohmann::json::array()}};
  for (const PredictedGraph& graph : graphs) {
    report["graphs"].push_back({{"depth", graph.depth},
                                {"predicted_us", graph.predicted_us},
                                {"corrected_us", graph.corrected_us},
                                {"alone_us", graph.alone_us},
                                {"measured_us", graph.measured_us},
                                {"again_us", graph.again_us}});
    if (graph.agreed_share) report["graphs"].back()["agreed_share"] = *graph.agreed_share;
  }
  for (const JudgedCost& cost : kJudged)
    report[cost.key] = spearman(column(graphs, cost.us), measured(graphs, cost));
  return report;
}

}
