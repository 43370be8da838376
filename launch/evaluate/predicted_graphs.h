#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "launch/call/feed_options.h"
#include "launch/call/runtimes.h"

namespace regraft::launch {

/// Which graphs of a model are predicted and measured, and how.
struct PredictionOptions {
  std::filesystem::path model = {}, rules = {}, device = {}, database = {};
  std::string runtime = Runtime::kDefault;
  FeedOptions feed = {};
  std::uint32_t walked = 30, depth = 30;  // graphs of random walks, of so many rewrites at most
  std::uint32_t searched = 30;            // graphs on the path of a search; 0, or 2 and more
  double search_s = 20;
  double session_s = 0.5;  // of timed runs for each graph, half of it in a process of its own
  int threads = 1;
  std::uint64_t seed = 0;
};

/// A graph that rewrites lead to, with what it is predicted to take and what it takes.
struct PredictedGraph {
  std::size_t depth = 0;    // rewrites
  double predicted_us = 0;  // by the device's rates
  double corrected_us = 0;  // the same, corrected by a profile of the model, and by what the database knows
  double alone_us = 0;      // the same, each operation alone, summed (TASO)
  double measured_us = 0, again_us = 0;  // in one process and in another
  double mean_us() const { return (measured_us + again_us) / 2; }
  /// The share of its time in kernels that are launched as predicted, 0 to 1; of every fifth graph, and of
  /// the end of a path, in a runtime that tells.
  std::optional<double> agreed_share = {};
};

/// Each begins with the model itself, after its clean-up.
struct PredictedGraphs {
  std::vector<PredictedGraph> walked;
  std::vector<PredictedGraph> searched;  // in the order of the path of all_sites_descent, the last its end
};

/// `done` is called after each graph. Throws what import, search and the runtime throw.
PredictedGraphs predict_and_measure(const PredictionOptions& options, const Clock& clock,
                                    const std::function<void()>& done);

/// Rank correlations with what was measured ("-" for a single graph), and what the first graph and the last
/// are predicted to take of that: the mean of both processes. Last how one process fits the other.
std::string describe(std::span<const PredictedGraph> graphs);
nlohmann::json to_json(std::span<const PredictedGraph> graphs);

}
