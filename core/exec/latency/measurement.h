#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/runtime/ort_session.h"
#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// What is timed: a model's file, and the settings of its sessions.
struct TimedModel {
  template <std::convertible_to<std::filesystem::path> Path>
  TimedModel(const Path& file, SessionSettings how = {}) : model(file), settings(std::move(how)) {}

  std::filesystem::path model;
  SessionSettings settings;
};

/// One session: load the model, with the runtime's best options if nothing else is asked for, warm up, time
/// runs on one input.
struct MeasureRequest {
  std::filesystem::path model;
  int threads = 1;
  TimingPlan plan;
  std::optional<std::filesystem::path> feed;  // how it is fed (feed.h); else that is found out first
  std::size_t point = 0;                      // of the feed
  std::uint64_t seed = 0;                     // of the inputs
  Optimisation optimisation = Optimisation::all;
  std::optional<std::filesystem::path> inputs = {};   // what write_inputs returned, for other runtimes
  std::optional<std::filesystem::path> outputs = {};  // where such a runtime writes the model's, as .npz
  SessionSettings settings = {};  // of ONNX Runtime; with several `threads`, all are timed by the clock
};

/// What one session gave.
struct Measurement {
  double load_s = 0;
  std::vector<double> run_ms;        // as OrtSession::time_runs_ms
  double run_wall_s = 0;             // mean wall time of a run, turns of other processes included
  std::uint64_t peak_rss_bytes = 0;  // of the process that measured

  /// The first decile of the runs: other load on the machine only ever adds time.
  double latency_ms() const;
};

/// What one session does, in this order, in any runtime.
struct SessionSteps {
  std::function<void()> load;
  std::function<void()> prepare;                   // draws inputs, say; in no figure
  std::function<std::vector<double>()> time_runs;  // as OrtSession::time_runs_ms
};
/// Measures them in the calling process. Throws what they throw.
Measurement measure_steps(const TimingPlan& plan, const SessionSteps& steps);
/// A session of ONNX Runtime in the calling process. Throws ExecError.
Measurement measure_here(const MeasureRequest& request);

/// Writes the inputs that measure_here would draw, for programs that cannot draw them: "inputs.json" in the
/// folder, which is returned, a list of {"name", "type", "dims", "file"}. Each file holds the elements of a
/// tensor as they lie in memory; types have NumPy's names. Throws ExecError, for inputs that are no tensors
/// of numbers too.
std::filesystem::path write_inputs(const MeasureRequest& request, const std::filesystem::path& folder);
/// Reads that list, and the tensors by the names of the inputs. Throws ExecError.
std::map<std::string, Tensor> read_inputs(const std::filesystem::path& list);

nlohmann::json to_json(const Measurement& measurement);
/// Throws ExecError on what to_json did not write, and on runs that took no time. `where`: who wrote it.
Measurement measurement_from_json(const std::string& text, const std::string& where = "measure-one");

/// Command-line arguments that describe a request, and back: what a parent passes to `regraft_runtime
/// measure-one`.
std::vector<std::string> to_arguments(const MeasureRequest& request);
/// Throws UsageError.
MeasureRequest request_from_arguments(const std::vector<std::string>& arguments);

}
