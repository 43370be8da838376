#pragma once

#include <array>
#include <memory>
#include <string>

#include "core/cost/cost.h"
#include "core/graph/op.h"

namespace regraft::env {

/// A cost that is a fixed number an op kind, whatever the shapes: for synthetic graphs, whose optimum must be
/// known, and for tests. Counts of kinds are summed in the order of kinds, so the total depends on the graph
/// alone. Launches count operations; the other figures are 0.
class TableCostFactory : public cost::CostFactory {
 public:
  using Table =
      std::array<double, graph::kOpKinds>;  // us by op kind; inputs and weights are free whatever it says

  explicit TableCostFactory(const Table& latency_us) : latency_us_(latency_us) {}
  std::unique_ptr<cost::CostModel> make(const graph::Graph& graph) const override;
  std::string name() const override { return "table"; }

 private:
  Table latency_us_;
};

}
