#include "core/cost/several_sizes_factory.h"

#include <algorithm>

#include "core/cost/analytic_cost.h"

namespace regraft::cost {
namespace {

constexpr double kSlower = 1.001;  // a ratio of latencies above it counts

class SeveralSizesCost final : public CostModel {
 public:
  SeveralSizesCost(std::vector<std::unique_ptr<AnalyticCost>> parts, std::span<const double> reference_us)
      : parts_(std::move(parts)), reference_us_(reference_us) {}

  const Cost& cost() override {
    cost_ = parts_[0]->cost();
    cost_.latency_us = latency_us();
    return cost_;
  }

  double latency_us() override {
    const double first_us = parts_[0]->latency_us(), slower = slowest();
    return slower > kSlower ? std::max(first_us, reference_us_[0]) * slower : first_us;
  }

  bool is_sum() override { return slowest() <= kSlower; }

  void update(std::span<const graph::NodeId> touched) override {
    for (const auto& part : parts_) part->update(touched);
  }

  double node_latency_us(graph::NodeId node) override { return parts_[0]->node_latency_us(node); }
  std::string name() const override { return parts_[0]->name(); }

 private:
  /// The largest ratio to the reference at other sizes.
  double slowest() {
    double slower = 0;
    for (std::size_t i = 1; i < parts_.size(); ++i)
      if (reference_us_[i] > 0) slower = std::max(slower, parts_[i]->latency_us() / reference_us_[i]);
    return slower;
  }

  std::vector<std::unique_ptr<AnalyticCost>> parts_;
  std::span<const double> reference_us_;
  Cost cost_;
};

}  // namespace

SeveralSizesFactory::SeveralSizesFactory(DeviceProfile device, std::vector<graph::Bindings> points,
                                         const graph::Graph& reference)
    : device_(std::move(device)), points_(std::move(points)) {
  reference_us_ = latencies_us(reference);
}

std::unique_ptr<CostModel> SeveralSizesFactory::make(const graph::Graph& graph) const {
  std::vector<std::unique_ptr<AnalyticCost>> parts;
  for (const graph::Bindings& point : points_)
    parts.push_back(std::make_unique<AnalyticCost>(device_, point, graph));
  return std::make_unique<SeveralSizesCost>(std::move(parts), reference_us_);
}

std::vector<double> SeveralSizesFactory::latencies_us(const graph::Graph& graph) const {
  std::vector<double> latencies;
  for (const graph::Bindings& point : points_)
    latencies.push_back(AnalyticCost(device_, point, graph).latency_us());
  return latencies;
}

}
