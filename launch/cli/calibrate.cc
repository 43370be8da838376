#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/progress.h"
#include "core/base/rng.h"
#include "core/base/stats.h"
#include "core/cost/analytic.h"
#include "core/env/rewrite_state.h"
#include "core/exec/latency/launcher.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/rules/rewrite/cleanup.h"
#include "core/task/config_files.h"
#include "launch/call/call_files.h"
#include "launch/call/subprocess_checks.h"
#include "launch/cli/commands.h"
#include "launch/cli/feed_options.h"

namespace regraft::launch {
namespace {

struct Options {
  std::filesystem::path model;
  std::filesystem::path rules = "configs/rules";
  std::filesystem::path device = "configs/devices/cpu-1core.toml";
  std::optional<std::filesystem::path> json;
  FeedOptions feed;
  std::uint32_t graphs = 50, depth = 30;
  double session_s = 0.5;
  int threads = 1;
  std::uint64_t seed = 0;
};

/// A graph that a random walk reached.
struct Sample {
  std::size_t depth = 0;
  double predicted_us = 0, measured_us = 0;
};

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

class Calibration {
 public:
  explicit Calibration(const Options& options)
      : options_(options),
        model_(onnx::import_model(options.model, {.inlined_calls = SIZE_MAX})),  // as feeds see it
        feed_(feed_of(options.model, options.feed, options.seed)),
        feed_file_(feed_),
        launcher_(std::filesystem::read_symlink("/proc/self/exe"), {"measure-one"}) {
    for (const auto& [name, value] : feed_.points[0].all())
      bindings_.bind(model_.tables().symbol(name), value);
  }

  std::vector<Sample> run() {
    const rules::RuleSet rules = rules::RuleSet::load(task::find_config(options_.rules));
    graph::Graph start = model_.graph();
    rules::clean_up(start, rules);
    start.commit();
    const cost::AnalyticFactory costs(cost::load_device(task::find_config(options_.device)), bindings_);
    env::RewriteState state(start, rules, costs);
    Rng rng(options_.seed, "calibration walks");
    const SystemClock clock;
    Progress progress(
        {.label = "measuring", .unit = "graphs", .total = options_.graphs, .terminal = is_terminal(2)}, clock,
        std::cerr);
    std::vector<Sample> samples{measured(state)};
    while (samples.size() < options_.graphs) {
      walk(state, options_.depth, rng);
      samples.push_back(measured(state));
      progress.update(samples.size());
    }
    progress.finish();
    return samples;
  }

 private:
  Sample measured(env::RewriteState& state) {
    const std::filesystem::path file = folder_.path() / "walked.onnx";
    onnx::export_model(model_, state.graph(), file);
    exec::MeasureRequest request;
    request.model = file;
    request.threads = options_.threads;
    request.plan.budget_s = options_.session_s;
    request.feed = feed_file_.path();
    request.seed = options_.seed;
    return {state.depth(), state.cost().latency_us, launcher_.measure(request).latency_ms() * 1e3};
  }

  const Options& options_;
  onnx::ImportedModel model_;
  exec::Feed feed_;
  FeedFile feed_file_;
  graph::Bindings bindings_;
  exec::ProcessLauncher launcher_;
  TempDir folder_;
};

int calibrate(Options& options) {
  CallFiles files;
  files.writes("--json", options.json);
  files.reads("MODEL", options.model);
  files.reads_rules("--rules", options.rules);
  const std::vector<Sample> samples = Calibration(options).run();
  std::vector<double> predicted, measured;
  nlohmann::json graphs = nlohmann::json::array();
  for (const Sample& sample : samples) {
    predicted.push_back(sample.predicted_us);
    measured.push_back(sample.measured_us);
    graphs.push_back({{"depth", sample.depth},
                      {"predicted_us", sample.predicted_us},
                      {"measured_us", sample.measured_us}});
  }
  const double correlation = spearman(predicted, measured);
  const auto [least, most] = std::ranges::minmax(measured);
  std::printf(
      "%s: rank correlation %.3f over %zu graphs, measured %.2f to %.2f ms; predicted / measured of the "
      "input %.3f\n",
      options.model.c_str(), correlation, samples.size(), least / 1e3, most / 1e3,
      samples.front().predicted_us / samples.front().measured_us);
  if (options.json)
    write_file_atomic(*options.json, nlohmann::json{{"model", options.model.string()},
                                                    {"rank_correlation", correlation},
                                                    {"graphs", std::move(graphs)}}
                                             .dump(2) +
                                         "\n");
  return kDone;
}

}  // namespace

void add_calibrate(Command& program, Action& action) {
  auto options = std::make_shared<Options>();
  Command* command = program.add_subcommand(
      "calibrate", "how well the cost model ranks graphs that random rewrites of a model lead to");
  command->add_option("MODEL", options->model, "an ONNX model")->required();
  command->add_option("--graphs", options->graphs, "graphs measured, the model itself among them")
      ->check(in_range(2, 100000))
      ->capture_default_str();
  command->add_option("--depth", options->depth, "most rewrites between the model and a graph")
      ->check(in_range(1, 100000))
      ->capture_default_str();
  command->add_option("--session", options->session_s, "seconds of timed runs for each graph")
      ->check(in_range(0.01, 3600.0))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "threads inside an op")
      ->check(in_range(1, 1024))
      ->capture_default_str();
  add_feed_options(*command, options->feed);
  command->add_option("--rules", options->rules, "a .rules file or a folder of them")->capture_default_str();
  command->add_option("--device", options->device, "device profile of the cost model")->capture_default_str();
  command->add_option("--seed", options->seed, "seed of walks and inputs")->capture_default_str();
  command->add_option("--json", options->json,
                      "write predicted and measured costs as JSON; - for standard output");
  command->callback([options, &action] { action = [options] { return calibrate(*options); }; });
}

}  // namespace regraft::launch
