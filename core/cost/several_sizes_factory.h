#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/cost/cost.h"
#include "core/cost/device_profile.h"
#include "core/graph/tables.h"

namespace regraft::cost {

/// The analytic cost of graphs that are used at several sizes. It is the cost at the first sizes. A graph
/// that is slower than the reference at any other sizes costs more than the reference, by as much as it is
/// slower there. So no search prefers it.
class SeveralSizesFactory final : public CostFactory {
 public:
  /// `points` holds the values of the symbols at each of the sizes, at least one. `reference` is the graph
  /// that others are compared with.
  SeveralSizesFactory(DeviceProfile device, std::vector<graph::Bindings> points,
                      const graph::Graph& reference);

  std::unique_ptr<CostModel> make(const graph::Graph& graph) const override;
  std::string name() const override { return "analytic:" + device_.name; }

  const DeviceProfile& device() const { return device_; }
  /// Predicted latencies of a graph in us, one for each of the sizes.
  std::vector<double> latencies_us(const graph::Graph& graph) const;

 private:
  DeviceProfile device_;
  std::vector<graph::Bindings> points_;
  std::vector<double> reference_us_;
};

}
