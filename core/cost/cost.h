#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/graph/graph.h"

namespace regraft::cost {

/// What a graph costs to run once. Sums over its fused groups.
struct Cost {
  double latency_us = 0;
  double flops = 0;
  double bytes = 0;              // activations and weights moved to and from memory
  double peak_memory_bytes = 0;  // largest sum of live activations in topological order, plus weights
  double launches = 0;           // kernels started: fused groups
};

/// Costs one graph and follows its edits. One instance belongs to one graph and one thread. Conformance:
/// after any walk, cost() equals that of a fresh instance on the same graph (bit-equal: sums are taken in a
/// fixed order or exactly).
class CostModel {
 public:
  virtual ~CostModel() = default;
  /// The cost of the present state of the graph.
  virtual const Cost& cost() = 0;
  /// cost().latency_us, for those who compare many graphs: without what takes a pass over the graph.
  virtual double latency_us() = 0;
  /// Whether costs near the present one are sums over kernels, so that what a rewrite gains does not depend
  /// on rewrites far away.
  virtual bool is_sum() { return true; }
  /// Call after edits or undo with graph.touched_since(mark).
  virtual void update(std::span<const graph::NodeId> touched) = 0;
  /// The share of cost().latency_us that a live node stands for (its fused group's latency split over
  /// members), in us.
  virtual double node_latency_us(graph::NodeId node) = 0;
  virtual std::string name() const = 0;
};

/// Makes cost models of one kind; environments and searches hold one. Thread-safe.
class CostFactory {
 public:
  virtual ~CostFactory() = default;
  virtual std::unique_ptr<CostModel> make(const graph::Graph& graph) const = 0;
  virtual std::string name() const = 0;  // "analytic:cpu-1core"
};

}
