#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/runtime/session_settings.h"
#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// ONNX Runtime's graph optimisation levels: none; semantics-preserving; plus CPU fusions; plus layouts.
enum class Optimisation : std::uint8_t { none, basic, extended, all };

std::string_view optimisation_name(Optimisation level);
/// Throws UsageError for another name than none, basic, extended and all.
Optimisation optimisation_from_name(std::string_view name);

struct SessionOptions {
  Optimisation optimisation = Optimisation::all;
  int threads = 1;  // inside an op; ops themselves run one after another, unless settings say otherwise
  /// Where to write ONNX Runtime's profile (the runtime adds a time stamp and ".json"); empty: no profile.
  std::filesystem::path profile_prefix;
  /// Where to write the model as the runtime rewrote it; empty: nowhere.
  std::filesystem::path rewritten_model = {};
  SessionSettings settings = {};  // given last
};

/// The version of the runtime that is loaded: "1.31.1".
std::string runtime_version();

/// Asks for as many threads as the runtime takes by itself: one a physical core. Unlike the runtime, which
/// counts the machine's, session_threads counts the cores that this process may run on.
inline constexpr int kThreadsOfRuntime = 0;

/// How many threads a session gets that was asked for so many, or for kThreadsOfRuntime.
int session_threads(int asked);

/// How long to time a model: after `warmup_runs`, runs until `budget_s` is used up, but within the two
/// bounds.
struct TimingPlan {
  int warmup_runs = 1;
  int min_runs = 3;
  int max_runs = 300;
  double budget_s = 1.0;
};

/// A model file loaded in ONNX Runtime on the CPU. Holds the model's weights, so it should live no longer
/// than it is used. One thread at a time. Everything throws ExecError that names the file: a missing, empty,
/// truncated or non-ONNX file, an op without a kernel, inputs that do not fit.
class OrtSession {
 public:
  explicit OrtSession(const std::filesystem::path& model, const SessionOptions& options = {});
  /// A model made from the one in the file `like`: errors name that, and external data is looked for beside
  /// it.
  OrtSession(std::string_view bytes, const std::filesystem::path& like, const SessionOptions& options);
  ~OrtSession();
  OrtSession(OrtSession&&) noexcept;
  OrtSession& operator=(OrtSession&&) noexcept;

  /// The inputs a caller must give, in the model's order.
  const std::vector<ValueInfo>& inputs() const { return inputs_; }
  const std::vector<ValueInfo>& outputs() const { return outputs_; }
  /// From now on inputs() has these sizes for these dims.
  void fix(const SymbolSizes& sizes);

  /// All outputs, in the model's order. `inputs` are in the order of inputs(). Outputs must be tensors.
  std::vector<Tensor> run(std::span<const Tensor> inputs);

  /// Milliseconds of each timed run on the same inputs. With SessionOptions::threads 1 it is the thread's CPU
  /// time: on an idle machine the wall time, on a shared one without the turns of others. Else it is the wall
  /// time, also where settings take fewer threads: sessions that are compared need one clock.
  std::vector<double> time_runs_ms(std::span<const Tensor> inputs, const TimingPlan& plan);

  /// Ends profiling and returns the file that the runtime wrote. Only for a session with a profile_prefix.
  std::filesystem::path finish_profile();

 private:
  struct Impl;
  void describe();
  void check_inputs(std::span<const Tensor> inputs) const;

  std::filesystem::path path_;
  int threads_ = 1;
  std::unique_ptr<Impl> impl_;
  std::vector<ValueInfo> inputs_, outputs_;
};

}
