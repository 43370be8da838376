#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/cost/several_sizes_factory.h"
#include "core/exec/inputs/feed.h"
#include "core/onnx/import.h"
#include "launch/graphs/model_graphs.h"

namespace regraft::launch {

/// What a model's graphs are predicted to cost at the sizes at which it is fed. The model outlives it.
class PointCosts {
 public:
  /// Graphs are compared with those of `start`.
  PointCosts(const onnx::ImportedModel& model, const exec::Feed& feed, cost::DeviceProfile device,
             const ModelGraphs& start);

  /// Corrects the device's rates by measured kernels, in place of those given before, and sets
  /// DeviceProfile::infers_symbols. Factories that were got before end.
  void correct(const ModelGraphs& start, std::span<const cost::KernelSample> samples,
               bool infers_symbols = false);

  /// Corrects how often each graph runs by how often it did in a run of the model (KernelLists::graph_runs).
  /// A branch that was not taken counts a little: other inputs may take it.
  void observe(std::span<const std::optional<double>> graph_runs);
  /// The graphs that did not run. What is changed in them cannot be measured.
  const std::set<std::size_t>& idle() const { return idle_; }

  /// The sizes at the first point.
  const graph::Bindings& bindings() const { return points_.front(); }
  /// Cost models of one graph, for searches.
  std::span<const cost::SeveralSizesFactory> factories() const { return factories_; }
  /// How often each graph runs for one run of the model, at the first point.
  const std::vector<double>& runs() const { return runs_; }

  /// At each of the points, of all graphs together, in us.
  std::vector<double> latencies_us(const ModelGraphs& graphs) const;
  /// Tries sizes beyond the points, of the dims that differ between them. Returns the first at which the main
  /// graph is predicted to be slower than it was; empty where there are none.
  exec::SymbolSizes slower_sizes(const graph::Graph& before, const graph::Graph& after) const;

 private:
  void make_factories(const ModelGraphs& start);

  const onnx::ImportedModel& model_;
  const exec::Feed& feed_;
  cost::DeviceProfile device_;
  std::vector<graph::Bindings> points_;
  std::vector<cost::SeveralSizesFactory> factories_;
  std::vector<double> runs_, observed_;  // the second: times what the model says
  std::set<std::size_t> idle_;
};

}
