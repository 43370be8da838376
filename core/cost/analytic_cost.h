#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/cost/cost.h"
#include "core/cost/device_profile.h"
#include "core/cost/fusion.h"
#include "core/cost/kernel_cost.h"
#include "core/cost/peak_memory.h"
#include "core/graph/tables.h"

namespace regraft::cost {

/// A kernel that the runtime is predicted to launch.
struct PredictedKernel {
  KernelFeatures features = {};
  std::vector<graph::NodeId>
      nodes;                // whose work it does; of a move between layouts the node whose output moves
  bool view = false;        // moves nothing
  double analytic_us = 0;   // what follows from the features by the rates alone
  double corrected_us = 0;  // the same with what was measured
  double us = 0;            // and with what else it does on the way out
};

/// The analytic cost: a roofline over kernels, with the runtime's fusion and layout passes simulated on the
/// graph.
///
///   touched -> matches of the runtime's patterns -> layout states, followed along uses until they settle ->
///   fusion of every node within reach of a change -> kernel time and memory of the nodes next to what
///   changed -> sums
///
/// All sums are of integers, so cost() after any walk is bit-equal to that of a fresh instance. An update
/// costs the neighbourhood of the edit; the peak of memory costs what moves in the order of running, when
/// cost() is next asked. Latency: with the weights in cache between runs when they fit the device's
/// resident_bytes together, else a growing part of them streamed from memory.
class AnalyticCost final : public CostModel {
 public:
  /// All arguments outlive it.
  AnalyticCost(const DeviceProfile& device, const graph::Bindings& bindings, const graph::Graph& graph);

  const Cost& cost() override;
  double latency_us() override { return latency_of(total_.time); }
  void update(std::span<const graph::NodeId> touched) override;
  double node_latency_us(graph::NodeId node) override;
  std::string name() const override;
  /// All kernels: in the order of running, moves between layouts behind. Takes a pass over the graph.
  std::vector<PredictedKernel> kernels();

 private:
  struct NodeCost {
    KernelTime time;
    std::int64_t flops = 0, bytes = 0, launches = 0, weight_bytes = 0;
    NodeCost& operator+=(const NodeCost& other);
    NodeCost& operator-=(const NodeCost& other);
  };

  void grow();
  void seed(std::span<const graph::NodeId> touched);
  void settle_layouts();
  void settle_fusion();
  /// Through::few: what is read by many is not reached from its readers, unless they take it apart.
  enum class Through : std::uint8_t { all, few };
  void reach(int radius, Through through);
  void visit(graph::NodeId node, int left);
  void set_cost(graph::NodeId node, const NodeCost& cost);
  NodeCost evaluate(graph::NodeId node);
  KernelCosts::Pass reorder(graph::NodeId node);
  void take_pass(PredictedKernel& kernel, const KernelCosts::Pass& pass);
  bool is_internal(graph::NodeId producer, graph::NodeId user) const;
  std::int64_t tensor_bytes(graph::NodeId node);
  graph::NodeId holder_of(graph::NodeId node) const;
  void find_memory(graph::NodeId node);
  void settle_latencies();
  double streamed_share() const;  // of the present weights
  double latency_of(const KernelTime& time) const;
  [[noreturn]] void refuse_dead(graph::NodeId node) const;

  const DeviceProfile& device_;
  const graph::Graph& graph_;
  KernelCosts kernels_;
  std::vector<LayoutState> layouts_;
  std::vector<Fusion> fusion_;
  std::vector<NodeCost> costs_;
  std::vector<double> latencies_;  // by node, in us: of its cost, which observations ask for at every step
  FusedMatches matches_;
  FusionRules rules_;
  PeakMemory peak_;
  std::vector<graph::NodeId> seeds_, reached_, open_;  // scratch of update
  std::vector<int> reach_;                             // scratch of reach, all -1 between calls
  NodeCost total_;
  double streamed_share_ = -1;  // as of the last update
  Cost cost_;
  bool stale_ = true;
};

/// Makes analytic costs for one device, at given values of the model's symbols.
class AnalyticFactory final : public CostFactory {
 public:
  explicit AnalyticFactory(DeviceProfile device, graph::Bindings bindings = {})
      : device_(std::move(device)), bindings_(std::move(bindings)) {}

  std::unique_ptr<CostModel> make(const graph::Graph& graph) const override;
  std::string name() const override { return "analytic:" + device_.name; }
  const DeviceProfile& device() const { return device_; }

 private:
  DeviceProfile device_;
  graph::Bindings bindings_;
};

}
