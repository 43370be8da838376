#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/exec/latency/compare_latency.h"
#include "core/exec/latency/trials.h"
#include "launch/call/runtimes.h"

namespace regraft::launch {

/// What a model takes in one runtime.
struct RuntimeTimes {
  std::string name = {}, version = {};
  std::optional<double> before_ms = {}, after_ms = {};  // the input; an accepted result, by its speedup there
  std::string problem = {};                             // why it was not measured there

  /// "openvino 2026.4.1: 9.125 -> 8.015 ms".
  std::string text() const;
};

/// Which model is fastest in which runtime, and what of that the runtime alone gives; empty where only one
/// was measured.
std::string describe_fastest(std::span<const RuntimeTimes> runtimes);

/// The runtime for which a model is optimised, of those asked for: one after another, from the one on that
/// runs the input fastest.
class RuntimeChoice {
 public:
  /// `names`: one or more. `options` say how to measure. Throws UsageError for a runtime that is not known,
  /// and for two of one name.
  RuntimeChoice(std::span<const std::string> names, const exec::LatencyOptions& options);

  /// Chooses by sessions of the input in each runtime, in random order; where there is but one it is only
  /// seen whether that runs the input. Without this call the first is chosen. Throws ExecError where none
  /// does.
  void choose(const std::filesystem::path& input);
  /// How many there are in which the input takes at most three times as long as in the fastest; 1 where but
  /// one was measured.
  std::size_t worth_trying() const;
  /// Goes on to one of these that was not chosen yet; there must be one.
  void choose_next();
  /// To one that was chosen before.
  void go_back_to(const std::string& name);
  /// How many times as long the input takes in the chosen runtime as in the fastest.
  double slower() const;
  const Runtime& chosen() const { return candidates_[chosen_].runtime; }
  const exec::LatencyOptions& options() const { return options_; }
  exec::TrialOptions trials(double budget_s) const;
  exec::Launcher& sessions() { return *candidates_[chosen_].sessions; }

  /// A result in the chosen runtime against the input in the fastest.
  exec::LatencyReport compare(const exec::TimedModel& input, const exec::TimedModel& result,
                              const exec::LatencyOptions& options);

  /// Why a result is none in the chosen runtime: it cannot be run there, or an output differs by more than 1
  /// % of its largest value, or is not finite where the input's is. Not for ONNX Runtime.
  std::string difference(const std::filesystem::path& input, const std::filesystem::path& result);

  /// What was measured of the input, and how much faster than it in the fastest runtime a result is in the
  /// chosen one.
  void note_input(double latency_ms);
  void note_result(double speedup);
  /// Measures an accepted result in the other runtimes.
  void measure_elsewhere(const std::filesystem::path& input, const std::filesystem::path& result);

  std::vector<RuntimeTimes> times() const;

 private:
  struct Candidate {
    Runtime runtime;
    std::unique_ptr<exec::Launcher> sessions;
    RuntimeTimes times;
    bool was_chosen = false;
  };
  class Pair;
  bool is_worth_trying(const Candidate& candidate) const;
  /// Does work with a candidate, which notes its failure.
  template <typename Work>
  static void attempt(Candidate& candidate, Work work);

  exec::LatencyOptions options_;
  std::vector<Candidate> candidates_;
  std::size_t chosen_ = 0, fastest_ = 0;
};

}
