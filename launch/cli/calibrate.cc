#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/base/file.h"
#include "core/base/find_config.h"
#include "core/base/progress.h"
#include "core/base/rng.h"
#include "core/base/stats.h"
#include "core/cost/analytic_cost.h"
#include "core/env/rewrite_state.h"
#include "core/exec/kernels/calibrate_machine.h"
#include "core/exec/latency/launcher.h"
#include "core/exec/runtime/ort_session.h"
#include "core/onnx/export.h"
#include "core/onnx/import.h"
#include "core/rules/rewrite/cleanup.h"
#include "launch/call/call_files.h"
#include "launch/call/runtimes.h"
#include "launch/call/subprocess_checks.h"
#include "launch/cli/commands.h"
#include "launch/command/add_feed_options.h"
#include "launch/command/choices.h"
#include "launch/command/threads_option.h"

namespace regraft::launch {
namespace {

struct CalibrateArguments {
  std::optional<std::filesystem::path> model;
  std::filesystem::path rules = "configs/rules";
  std::filesystem::path kernels = "configs/devices/calibration.kernels";
  std::filesystem::path database = cost::default_kernel_database();
  std::filesystem::path device;
  std::string runtime = Runtime::kDefault;
  std::optional<std::filesystem::path> json;
  FeedOptions feed;
  std::uint32_t graphs = 50, depth = 30;
  double session_s = 0.5;
  double budget_s = 600;
  int threads = 1;
  std::uint64_t seed = 0;
};

/// A graph that a random walk reached.
struct Sample {
  std::size_t depth = 0;
  double predicted_us = 0, corrected_us = 0, alone_us = 0, measured_us = 0;
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
  explicit Calibration(const CalibrateArguments& options)
      : options_(options),
        runtime_(options.runtime),
        device_(runtime_.device(rates_for(options.runtime, options.device))),
        model_(onnx::import_model(*options.model, {.inlined_calls = SIZE_MAX})),  // as feeds see it
        feed_(feed_of(*options.model, options.feed, options.seed)),
        feed_file_(feed_),
        launcher_(runtime_.sessions()) {
    for (const auto& [name, value] : feed_.points[0].all())
      bindings_.bind(model_.tables().symbol(name), value);
  }

  /// What the database knows, and what a profile of the input tells, corrects the second of the predictions.
  void learn(cost::KernelDatabase& database) {
    const std::string fingerprint = cost::device_fingerprint(rates_for(options_.runtime, options_.device),
                                                             runtime_.description(), options_.threads);
    std::vector<cost::KernelSample> kernels = database.read(fingerprint);
    exec::KernelProfile profile =
        runtime_.profile(*options_.model, feed_, {.threads = options_.threads, .kernels = true});
    const auto of_input =
        exec::compare_profile(*options_.model, feed_, device_, std::move(profile)).samples();
    kernels.insert(kernels.end(), of_input.begin(), of_input.end());
    device_.measured = std::make_shared<cost::MeasuredKernels>(kernels);
  }

  std::vector<Sample> run() {
    const rules::RuleSet rules = rules::RuleSet::load(find_config(options_.rules));
    graph::Graph start = model_.graph();
    rules::clean_up(start, rules);
    start.commit();
    cost::DeviceProfile rates = device_;
    rates.measured = nullptr;
    const cost::AnalyticFactory costs(rates, bindings_);
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
    cost::DeviceProfile alone = device_;
    alone.fusing = cost::Fusing::nothing;
    const auto predicted_us = [&](const cost::DeviceProfile& device) {
      return cost::AnalyticCost(device, bindings_, state.graph()).latency_us();
    };
    return {state.depth(), state.cost().latency_us, predicted_us(device_), predicted_us(alone),
            launcher_->measure(request).latency_ms() * 1e3};
  }

  const CalibrateArguments& options_;
  const Runtime runtime_;
  cost::DeviceProfile device_;
  onnx::ImportedModel model_;
  exec::Feed feed_;
  FeedFile feed_file_;
  graph::Bindings bindings_;
  std::unique_ptr<exec::Launcher> launcher_;
  TempDir folder_;
};

void warn(const cost::KernelDatabase& database) {
  if (!database.problem().empty()) std::fprintf(stderr, "regraft: warning: %s\n", database.problem().c_str());
}

/// How well one model is predicted.
int calibrate_model(const CalibrateArguments& options) {
  cost::KernelDatabase database(options.database);
  warn(database);
  Calibration calibration(options);
  calibration.learn(database);
  const std::vector<Sample> samples = calibration.run();
  std::vector<double> measured;
  nlohmann::json graphs = nlohmann::json::array();
  for (const Sample& sample : samples) {
    measured.push_back(sample.measured_us);
    graphs.push_back({{"depth", sample.depth},
                      {"predicted_us", sample.predicted_us},
                      {"corrected_us", sample.corrected_us},
                      {"alone_us", sample.alone_us},
                      {"measured_us", sample.measured_us}});
  }
  const auto [least, most] = std::ranges::minmax(measured);
  std::printf("%s: %zu graphs, measured %.2f to %.2f ms, %s\n%-42s %16s %26s\n", options.model->c_str(),
              samples.size(), least / 1e3, most / 1e3, counted(options.threads, "thread").c_str(), "costs",
              "rank correlation", "input, predicted / measured");
  nlohmann::json report{
      {"model", options.model->string()}, {"threads", options.threads}, {"graphs", std::move(graphs)}};
  const auto judge = [&](const char* name, const char* key, double Sample::*figure) {
    std::vector<double> predicted;
    for (const Sample& sample : samples) predicted.push_back(sample.*figure);
    report[key] = spearman(predicted, measured);
    std::printf("%-42s %16.3f %26.3f\n", name, report[key].get<double>(), predicted[0] / measured[0]);
  };
  judge("the device's rates", "rank_correlation", &Sample::predicted_us);
  judge("the same, corrected by measured kernels", "corrected_rank_correlation", &Sample::corrected_us);
  judge("each operation alone, summed (TASO)", "alone_rank_correlation", &Sample::alone_us);
  if (options.json) write_file_atomic(*options.json, report.dump(2) + "\n");
  return kDone;
}

/// Nothing is learned where nothing can be kept.
void require_usable(const cost::KernelDatabase& database, const std::filesystem::path& file) {
  if (database.usable()) return warn(database);
  std::string problem = database.problem().substr(0, database.problem().find(';'));
  if (const std::string place = file.string() + ": "; problem.starts_with(place))
    problem.erase(0, place.size());
  throw FileError(problem, file.string(), "measured kernels are kept there: name another file by --database");
}

/// Learns this machine.
int calibrate_this_machine(const CalibrateArguments& options) {
  const std::filesystem::path device_file = rates_for(Runtime::kDefault, options.device),
                              grid_file = find_config(options.kernels);
  const auto grid = exec::parse_kernel_grid(read_file(grid_file), grid_file);
  const std::string fingerprint =
      cost::device_fingerprint(device_file, Runtime().description(), options.threads);
  cost::KernelDatabase database(options.database);
  require_usable(database, options.database);
  const SystemClock clock;
  Progress progress(
      {.label = "measuring", .unit = "kernels", .total = grid.size(), .terminal = is_terminal(2)}, clock,
      std::cerr);
  const auto [samples, disturbed] =
      exec::calibrate_machine(grid, Runtime().device(device_file), fingerprint, database,
                              {.budget_s = options.budget_s, .threads = options.threads}, clock,
                              [&](std::size_t done) { progress.update(done); });
  progress.finish();
  require_usable(database, options.database);
  std::printf("%s\n%-36s %8s %10s %14s %14s\n", fingerprint.c_str(), "kernels", "count", "x rates",
              "error, rates", "error, learned");
  nlohmann::json kinds = nlohmann::json::array();
  for (const exec::KernelKindFit& fit : exec::fit_by_kind(samples)) {
    const auto percent = [](double log2_error) { return (std::exp2(log2_error) - 1) * 100; };
    std::printf("%-36s %8zu %10.2f %12.0f %% %12.0f %%\n", fit.kind.c_str(), fit.kernels, fit.factor,
                percent(fit.rates_error), percent(fit.learned_error));
    kinds.push_back({{"kind", fit.kind},
                     {"kernels", fit.kernels},
                     {"factor", fit.factor},
                     {"rates_error", fit.rates_error},
                     {"learned_error", fit.learned_error}});
  }
  std::printf("%zu kernels are known of this machine: %s\n", samples.size(), options.database.c_str());
  if (disturbed > 0)
    std::printf(
        "%zu more were measured beside other work and not kept: call again when the machine is idle\n",
        disturbed);
  if (options.json)
    write_file_atomic(*options.json, nlohmann::json{{"fingerprint", fingerprint},
                                                    {"threads", options.threads},
                                                    {"kinds", std::move(kinds)}}
                                             .dump(2) +
                                         "\n");
  return kDone;
}

int calibrate(CalibrateArguments& options) {
  CallFiles files;
  files.writes("--json", options.json);
  options.threads = exec::session_threads(options.threads);
  if (!options.model && !(options.feed.bindings.empty() && options.feed.inputs.empty()))
    throw UsageError("say how MODEL is fed", "--bind and --inputs", "name a MODEL, or leave them out");
  if (!options.model) return calibrate_this_machine(options);
  files.reads("MODEL", options.model);
  files.reads_rules("--rules", options.rules);
  return calibrate_model(options);
}

}  // namespace

void add_calibrate(Command& program, Action& action) {
  auto options = std::make_shared<CalibrateArguments>();
  Command* command = program.add_subcommand("calibrate",
                                            "measure this machine's kernels; with MODEL, compare what the "
                                            "cost model predicts with what is measured");
  Option* model =
      command->add_option("MODEL", options->model,
                          "an ONNX model; graphs that random rewrites make of it are predicted and measured");
  command->add_option("--runtime", options->runtime, "the runtime that is predicted, with MODEL")
      ->check(known_runtime(profiled_runtimes()))
      ->capture_default_str()
      ->needs(model);
  command->add_option("--budget", options->budget_s, "seconds of measuring kernels, without MODEL")
      ->check(in_range(1.0, 1e6))
      ->capture_default_str()
      ->excludes(model);
  command->add_option("--kernels", options->kernels, "the kernels that are measured, without MODEL")
      ->capture_default_str()
      ->excludes(model);
  command->add_option("--database", options->database, "where measured kernels are kept")
      ->capture_default_str();
  command->add_option("--graphs", options->graphs, "graphs measured, the model itself among them")
      ->check(in_range(2, 100000))
      ->capture_default_str()
      ->needs(model);
  command->add_option("--depth", options->depth, "most rewrites between the model and a graph")
      ->check(in_range(1, 100000))
      ->capture_default_str()
      ->needs(model);
  command->add_option("--session", options->session_s, "seconds of timed runs for each graph")
      ->check(in_range(0.01, 3600.0))
      ->capture_default_str()
      ->needs(model);
  add_threads_option(*command, options->threads);
  add_feed_options(*command, options->feed);
  command->add_option("--rules", options->rules, "a .rules file or a folder of them")->capture_default_str();
  command->add_option(
      "--device", options->device,
      "device profile of the cost model (default: configs/devices/cpu-1core.toml; for a GPU h200.toml)");
  command->add_option("--seed", options->seed, "seed of walks and inputs")->capture_default_str();
  command->add_option("--json", options->json,
                      "write predicted and measured costs as JSON; - for standard output");
  command->callback([options, &action] { action = [options] { return calibrate(*options); }; });
}

}  // namespace regraft::launch
