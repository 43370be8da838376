#include "core/env/table_cost_factory.h"

namespace regraft::env {
namespace {

class TableCost : public cost::CostModel {
 public:
  TableCost(const graph::Graph& graph, const TableCostFactory::Table& latency_us)
      : graph_(graph), latency_us_(latency_us) {
    sum();
  }

  const cost::Cost& cost() override { return cost_; }
  double latency_us() override { return cost_.latency_us; }
  void update(std::span<const graph::NodeId>) override { sum(); }
  double node_latency_us(graph::NodeId node) override { return of_kind(graph_.node(node).kind); }
  std::string name() const override { return "table"; }

 private:
  double of_kind(graph::OpKind kind) const {
    const bool free = kind == graph::OpKind::input || kind == graph::OpKind::weight;
    return free ? 0.0 : latency_us_[static_cast<std::size_t>(kind)];
  }

  void sum() {
    std::array<std::uint32_t, graph::kOpKinds> counts{};
    for (graph::NodeId id = 0; id < graph_.id_bound(); ++id) {
      if (graph_.alive(id)) ++counts[static_cast<std::size_t>(graph_.node(id).kind)];
    }
    cost_ = {};
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      cost_.latency_us += counts[kind] * of_kind(static_cast<graph::OpKind>(kind));
    }
    cost_.launches = static_cast<double>(graph_.operation_count());
  }

  const graph::Graph& graph_;
  TableCostFactory::Table latency_us_;
  cost::Cost cost_;
};

}  // namespace

std::unique_ptr<cost::CostModel> TableCostFactory::make(const graph::Graph& graph) const {
  return std::make_unique<TableCost>(graph, latency_us_);
}

}
