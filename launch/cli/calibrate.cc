#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/base/file.h"
#include "core/base/find_config.h"
#include "core/base/progress.h"
#include "core/cost/kernel_database.h"
#include "core/exec/kernels/calibrate_machine.h"
#include "core/exec/runtime/ort_session.h"
#include "launch/call/call_files.h"
#include "launch/call/runtimes.h"
#include "launch/cli/commands.h"
#include "launch/command/add_feed_options.h"
#include "launch/command/choices.h"
#include "launch/command/threads_option.h"
#include "launch/evaluate/predicted_graphs.h"

namespace regraft::launch {
namespace {

struct CalibrateArguments {
  std::optional<std::filesystem::path> model;
  std::filesystem::path kernels = "configs/devices/calibration.kernels";
  std::optional<std::filesystem::path> json;
  double budget_s = 600;
  PredictionOptions prediction{.rules = "configs/rules", .database = cost::default_kernel_database()};
};

void print(const char* which, std::span<const PredictedGraph> graphs) {
  const auto [least, most] = std::ranges::minmax_element(graphs, {}, &PredictedGraph::mean_us);
  std::printf("%s: %zu, measured %.2f to %.2f ms\n%-42s %16s %20s %19s\n%s", which, graphs.size(),
              least->mean_us() / 1e3, most->mean_us() / 1e3, "costs: predicted / measured",
              "rank correlation", "of the first graph", "of the last graph", describe(graphs).c_str());
}

/// How well one model is predicted.
int calibrate_model(const CalibrateArguments& options) {
  const PredictionOptions& prediction = options.prediction;
  const SystemClock clock;
  Progress progress({.label = "measuring",
                     .unit = "graphs",
                     .total = prediction.walked + prediction.searched,  // or fewer, of a short path
                     .terminal = is_terminal(2)},
                    clock, std::cerr);
  std::uint64_t done = 0;
  const PredictedGraphs graphs = predict_and_measure(prediction, clock, [&] { progress.update(++done); });
  progress.finish();
  std::printf("%s, %s\n", prediction.model.c_str(), counted(prediction.threads, "thread").c_str());
  print("graphs of random walks", graphs.walked);
  if (!graphs.searched.empty()) print("graphs on the path of a search", graphs.searched);
  if (!options.json) return kDone;
  nlohmann::json report = to_json(graphs.walked);
  report["model"] = prediction.model.string();
  report["threads"] = prediction.threads;
  if (!graphs.searched.empty()) report["searched"] = to_json(graphs.searched);
  write_file_atomic(*options.json, report.dump(2) + "\n");
  return kDone;
}

void warn(const cost::KernelDatabase& database) {
  if (!database.problem().empty()) std::fprintf(stderr, "regraft: warning: %s\n", database.problem().c_str());
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
  const std::filesystem::path& file = options.prediction.database;
  const int threads = options.prediction.threads;
  const std::filesystem::path device_file = rates_for(Runtime::kDefault, options.prediction.device),
                              grid_file = find_config(options.kernels);
  const auto grid = exec::parse_kernel_grid(read_file(grid_file), grid_file);
  const std::string fingerprint = cost::device_fingerprint(device_file, Runtime().description(), threads);
  cost::KernelDatabase database(file);
  require_usable(database, file);
  const SystemClock clock;
  Progress progress(
      {.label = "measuring", .unit = "kernels", .total = grid.size(), .terminal = is_terminal(2)}, clock,
      std::cerr);
  const auto [samples, disturbed] =
      exec::calibrate_machine(grid, Runtime().device(device_file), fingerprint, database,
                              {.budget_s = options.budget_s, .threads = threads}, clock,
                              [&](std::size_t done) { progress.update(done); });
  progress.finish();
  require_usable(database, file);
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
  std::printf("%zu kernels are known of this machine: %s\n", samples.size(), file.c_str());
  if (disturbed > 0)
    std::printf(
        "%zu more were measured beside other work and not kept: call again when the machine is idle\n",
        disturbed);
  if (options.json)
    write_file_atomic(
        *options.json,
        nlohmann::json{{"fingerprint", fingerprint}, {"threads", threads}, {"kinds", std::move(kinds)}}.dump(
            2) +
            "\n");
  return kDone;
}

int calibrate(CalibrateArguments& options) {
  CallFiles files;
  files.writes("--json", options.json);
  PredictionOptions& prediction = options.prediction;
  prediction.threads = exec::session_threads(prediction.threads);
  if (!options.model && !(prediction.feed.bindings.empty() && prediction.feed.inputs.empty()))
    throw UsageError("say how MODEL is fed", "--bind and --inputs", "name a MODEL, or leave them out");
  if (prediction.searched == 1)
    throw UsageError("one graph tells nothing of a path", "--path 1", "give 2 or more, or 0");
  if (!options.model) return calibrate_this_machine(options);
  files.reads("MODEL", options.model);
  files.reads_rules("--rules", prediction.rules);
  prediction.model = *options.model;
  return calibrate_model(options);
}

}  // namespace

void add_calibrate(Command& program, Action& action) {
  auto options = std::make_shared<CalibrateArguments>();
  Command* command = program.add_subcommand("calibrate",
                                            "measure this machine's kernels; with MODEL, compare what the "
                                            "cost model predicts with what is measured");
  Option* model = command->add_option(
      "MODEL", options->model,
      "an ONNX model; graphs that random rewrites and a search make of it are predicted and measured");
  command->add_option("--runtime", options->prediction.runtime, "the runtime that is predicted, with MODEL")
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
  command->add_option("--database", options->prediction.database, "where measured kernels are kept")
      ->capture_default_str();
  command->add_option("--graphs", options->prediction.walked, "graphs of random walks that are measured")
      ->check(in_range(2, 100000))
      ->capture_default_str()
      ->needs(model);
  command->add_option("--depth", options->prediction.depth, "most rewrites of a random walk")
      ->check(in_range(1, 100000))
      ->capture_default_str()
      ->needs(model);
  command
      ->add_option("--path", options->prediction.searched,
                   "graphs on the path of a search that are measured, at least 2; 0: none")
      ->check(in_range(0, 100000))
      ->capture_default_str()
      ->needs(model);
  command->add_option("--search-seconds", options->prediction.search_s, "seconds of the search for --path")
      ->check(in_range(0.1, 86400.0))
      ->capture_default_str()
      ->needs(model);
  command
      ->add_option("--session", options->prediction.session_s,
                   "seconds of timed runs for each graph, in two processes")
      ->check(in_range(0.01, 3600.0))
      ->capture_default_str()
      ->needs(model);
  add_threads_option(*command, options->prediction.threads);
  add_feed_options(*command, options->prediction.feed);
  command->add_option("--rules", options->prediction.rules, "a .rules file or a folder of them")
      ->capture_default_str();
  command->add_option(
      "--device", options->prediction.device,
      "device profile of the cost model (default: configs/devices/cpu-1core.toml; for a GPU h200.toml)");
  command->add_option("--seed", options->prediction.seed, "seed of walks and inputs")->capture_default_str();
  command->add_option("--json", options->json,
                      "write predicted and measured costs as JSON; - for standard output");
  command->callback([options, &action] { action = [options] { return calibrate(*options); }; });
}

}
