#include "core/env/observation_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/env/synthetic.h"
#include "core/env/table_cost_factory.h"

namespace regraft::env {
namespace {

using graph::Attr;
using graph::OpKind;
using graph::Value;

/// x [batch, 3, 8, 8] -> Conv 3x3, stride 2, group 1, 4 channels -> Relu -> out; the Relu is also added to
/// itself.
struct SmallNet {
  SmallNet() : graph(tables), weight_bytes(4 * 3 * 9 * sizeof(float)) {
    const graph::Dim batch = graph::symbol_dim(tables.symbol("batch"));
    x = graph.add_input(tables.intern(graph::DType::float32, std::array<graph::Dim, 4>{batch, 3, 8, 8}), 0);
    const graph::TypeId weight_type =
        tables.intern(graph::DType::float32, std::array<graph::Dim, 4>{4, 3, 3, 3});
    const Value weight = graph.weight_value(tables.weights().source(weight_type, weight_bytes, 0));
    InlineVector<graph::Operand, 4> operands = {{graph.type_id({x, 0}), graph::WeightId::none, true},
                                                {weight_type, graph.weight_of(weight), true}};
    const graph::AttrBlock attrs = graph::canonical_attrs(
        tables, OpKind::conv, {{Attr::strides, graph::Ints{2, 2}}, {Attr::pads, graph::Ints{1, 1, 1, 1}}},
        operands);
    conv = graph.add(OpKind::conv, tables.intern(attrs), std::array<Value, 2>{Value{x, 0}, weight});
    relu = graph.add(OpKind::relu, tables.intern(graph::AttrBlock{}), std::array<Value, 1>{Value{conv, 0}});
    add = graph.add(OpKind::add, tables.intern(graph::AttrBlock{}),
                    std::array<Value, 2>{Value{relu, 0}, Value{relu, 0}});
    graph.add_output({add, 0});
    graph.add_output({relu, 0});
    graph.commit();
  }

  graph::Tables tables;
  graph::Graph graph;
  std::vector<std::byte> weight_bytes;
  graph::NodeId x, conv, relu, add;
};

TableCostFactory unit_costs() {
  TableCostFactory::Table table;
  table.fill(1.0);
  return TableCostFactory(table);
}

Observation observe(const graph::Graph& graph, const rules::RuleSet& rules, const cost::CostFactory& costs,
                    ObservationFrame frame, const graph::Bindings& bindings) {
  RewriteState state(graph, rules, costs);
  ObservationWriter writer(graph.tables(), bindings);
  Observation out;
  writer.write(state, frame, out);
  return out;
}

std::size_t column(std::string_view name) {
  for (std::size_t i = 0; i < kNodeFeatures; ++i)
    if (kNodeFeatureTable[i].name == name) return i;
  ADD_FAILURE() << "no column " << name;
  return 0;
}

// A node of which nothing changed but what its cost is measured by.
TEST(Observation, SharesOfCostFollowTheInitialGraph) {
  SmallNet net;
  const rules::RuleSet rules = rules::RuleSet::parse("self-add: Add(x, x) => Mul(x, x)\n", "test.rules");
  const TableCostFactory costs = unit_costs();
  RewriteState state(net.graph, rules, costs);
  ObservationWriter writer(net.tables, {});
  cost::Cost initial = costs.make(net.graph)->cost();
  for (const double latency_us : {3.0, 12.0, 3.0}) {
    initial.latency_us = latency_us;
    Observation seen;
    writer.write(state, {initial, 5, 10, 200}, seen);
    EXPECT_EQ(seen.node_features, observe(net.graph, rules, costs, {initial, 5, 10, 200}, {}).node_features)
        << latency_us;
  }
}

TEST(Observation, SaysWhatTheTableOfColumnsSays) {
  SmallNet net;
  const rules::RuleSet rules = rules::RuleSet::parse("self-add: Add(x, x) => Mul(x, x)\n", "test.rules");
  const TableCostFactory costs = unit_costs();
  graph::Bindings bindings;
  bindings.bind(net.tables.symbol("batch"), 2);
  const cost::Cost initial = costs.make(net.graph)->cost();
  ASSERT_EQ(initial.latency_us, 3.0);
  const Observation seen = observe(net.graph, rules, costs, {initial, 5, 10, 200}, bindings);

  EXPECT_EQ(seen.node_ids, (std::vector<std::uint32_t>{net.x, net.conv, net.relu, net.add}))
      << "weights have no row";
  const auto feature = [&](std::size_t row, std::string_view name) {
    return seen.node_features[row * kNodeFeatures + column(name)];
  };
  const auto lg = [](double x, double scale) { return static_cast<float>(std::log2(1 + x) / scale); };
  EXPECT_EQ(feature(1, "elements"), lg(2 * 4 * 4 * 4, 8));
  EXPECT_EQ(feature(1, "dim_last"), lg(4, 4));
  EXPECT_EQ(feature(0, "dim_3rd_last"), lg(3, 4));
  EXPECT_EQ(feature(0, "dim_4th_last"), lg(2, 4)) << "the binding of the batch";
  EXPECT_EQ(feature(1, "weight_bytes"), lg(4 * 3 * 9 * 4, 8));
  EXPECT_EQ(feature(1, "kernel"), lg(8, 2));
  EXPECT_EQ(feature(1, "stride"), lg(3, 2));
  EXPECT_EQ(feature(1, "group"), 0.0f);
  EXPECT_EQ(feature(1, "fan_in"), lg(1, 2));
  EXPECT_EQ(feature(1, "constants"), lg(1, 2));
  EXPECT_EQ(feature(3, "fan_in"), lg(2, 2));
  EXPECT_EQ(feature(2, "fan_out"), lg(3, 2)) << "two uses and a graph output";
  EXPECT_EQ(feature(1, "cost_share"), lg(1024.0 / 3, 3));
  EXPECT_EQ(feature(0, "cost_share"), 0.0f);
  EXPECT_GT(feature(1, "flops"), feature(2, "flops"));

  EXPECT_EQ(seen.senders, (std::vector<std::int32_t>{0, 1, 2, 2}));
  EXPECT_EQ(seen.receivers, (std::vector<std::int32_t>{1, 2, 3, 3}));
  EXPECT_EQ(seen.edge_features[3 * kEdgeFeatures + 1], lg(1, 2)) << "slot of the second operand";
  EXPECT_EQ(seen.edge_features[3 * kEdgeFeatures + 3], lg(3, 2)) << "readers of the Relu";
  ASSERT_EQ(seen.globals.size(), kGlobalFeatures);
  EXPECT_EQ(seen.globals[0], 0.0f);
  EXPECT_EQ(seen.globals[1], 0.5f);
  EXPECT_EQ(seen.globals[7], 1.0f);
  ASSERT_EQ(seen.candidate_count(), 2u);
  EXPECT_EQ(seen.matched_nodes(0).size(), 1u);
  EXPECT_EQ(seen.matched_nodes(0)[0], 3);
}

TEST(Observation, FeaturesAreSmallNumbersAndColumnsHaveNames) {
  std::set<std::string_view> names;
  for (const FeatureSpec& spec : kNodeFeatureTable) EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
  EXPECT_EQ(column("fan_out"), kFanOutFeature);
  EXPECT_EQ(column("cost_share"), kCostShareFeature);
  SmallNet net;
  const rules::RuleSet rules = rules::RuleSet::parse("self-add: Add(x, x) => Mul(x, x)\n", "test.rules");
  const TableCostFactory costs = unit_costs();
  const cost::Cost initial = costs.make(net.graph)->cost();
  const Observation seen = observe(net.graph, rules, costs, {initial, 0, 10, 200}, {});
  for (const float value : seen.node_features) EXPECT_LE(std::abs(value), 4.5f);
  for (const float value : seen.edge_features) EXPECT_LE(std::abs(value), 4.5f);
  for (const float value : seen.globals) EXPECT_LE(std::abs(value), 4.5f);
}

TEST(Observation, ARewriteChangesOnlyTheRowsAroundIt) {
  const SyntheticTask task = make_synthetic_task({.chains = 12, .seed = 2});
  const rules::RuleSet rules = make_synthetic_rules(1);
  const TableCostFactory costs = make_synthetic_costs(1.0);
  RewriteState state(*task.start, rules, costs);
  ObservationWriter writer(task.start->tables(), {});
  const cost::Cost initial = state.cost();
  Observation before, after;
  writer.write(state, {initial, 0, 10, 200}, before);
  state.apply(state.index().matches(0)[3]);
  writer.write(state, {initial, 0, 10, 200}, after);
  std::size_t kept = 0;
  for (std::size_t a = 0, b = 0; a < before.node_count() && b < after.node_count();) {
    if (before.node_ids[a] != after.node_ids[b]) {
      before.node_ids[a] < after.node_ids[b] ? ++a : ++b;
      continue;
    }
    kept += std::equal(before.node_features.begin() + static_cast<std::ptrdiff_t>(a * kNodeFeatures),
                       before.node_features.begin() + static_cast<std::ptrdiff_t>((a + 1) * kNodeFeatures),
                       after.node_features.begin() + static_cast<std::ptrdiff_t>(b * kNodeFeatures));
    ++a, ++b;
  }
  EXPECT_GE(kept + 3, before.node_count());
}

}  // namespace
}
