#include "core/cost/analytic_cost.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>

#include "core/cost/cost_error.h"
#include "core/cost/peak_memory.h"
#include "core/cost/random_net.h"

namespace regraft::cost {
namespace {

using graph::kNoNode;
using graph::NodeId;
using testing::Attr;
using testing::AttrBlock;
using testing::Ints;
using testing::Net;
using testing::OpKind;
using testing::RandomNet;
using testing::test_device;
using testing::Value;

// Bit-equal in every figure, for the graph and for every node.
void expect_same(const Net& net, AnalyticCost& model, AnalyticCost& fresh) {
  const Cost &a = model.cost(), &b = fresh.cost();
  EXPECT_EQ(a.latency_us, b.latency_us);
  EXPECT_EQ(model.latency_us(), a.latency_us);
  EXPECT_EQ(a.flops, b.flops);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.peak_memory_bytes, b.peak_memory_bytes);
  EXPECT_EQ(a.launches, b.launches);
  for (NodeId id = 0; id < net.graph.id_bound(); ++id) {
    if (!net.graph.alive(id)) continue;
    ASSERT_EQ(model.node_latency_us(id), fresh.node_latency_us(id)) << "node " << id;
  }
}

// Edits, or an undo to an earlier mark; the nodes that it touched.
std::vector<NodeId> random_step(Net& net, Rng& rng, std::vector<graph::Graph::Mark>& marks) {
  std::vector<NodeId> touched;
  if (rng.below(4) == 0) {
    const std::size_t back = rng.below(marks.size());
    touched = net.graph.touched_since(marks[back]);
    net.graph.undo_to(marks[back]);
    marks.resize(back + 1);
    return touched;
  }
  const auto mark = net.graph.mark();
  for (std::uint64_t edits = 1 + rng.below(3); edits > 0; --edits) testing::random_edit(net, rng);
  marks.push_back(net.graph.mark());
  return net.graph.touched_since(mark);
}

// One update may follow several steps: an id that was undone can then stand for another node.
TEST(Analytic, EqualsAFreshInstanceAfterAnyWalk) {
  const graph::Bindings bindings;
  for (std::uint64_t seed = 0; seed < 90; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const DeviceProfile& device = seed < 60 ? test_device() : testing::elementwise_device();
    Net net;
    Rng rng(seed, "cost walk");
    RandomNet(net, rng).grow(10 + rng.below(60));
    AnalyticCost model(device, bindings, net.graph);
    std::vector<graph::Graph::Mark> marks{net.graph.mark()};
    std::vector<NodeId> touched;
    for (int step = 0; step < 60 && !HasFailure(); ++step) {
      const std::vector<NodeId> more = random_step(net, rng, marks);
      touched.insert(touched.end(), more.begin(), more.end());
      if (rng.below(3) == 0) continue;
      model.update(touched);
      touched.clear();
      AnalyticCost fresh(device, bindings, net.graph);
      expect_same(net, model, fresh);
    }
  }
}

TEST(Analytic, SharesOfNodesSumToTheLatency) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Net net;
    Rng rng(seed, "shares");
    RandomNet(net, rng).grow(60);
    const graph::Bindings bindings;
    AnalyticCost model(test_device(), bindings, net.graph);
    double sum = 0;
    for (NodeId id = 0; id < net.graph.id_bound(); ++id)
      if (net.graph.alive(id)) sum += model.node_latency_us(id);
    EXPECT_NEAR(sum, model.cost().latency_us, 1e-9 * sum);
  }
}

// A machine on which all that was measured, no matter of which kinds, takes a sixteenth of the rates.
TEST(Analytic, AFastMachineMakesNoKernelTakeLessThanNoTime) {
  const KernelSample dense{
      {OpKind::conv, KernelForm::plain, graph::DType::float32, {1 << 20, 1, 1, 1, 1, 1}}, 1600, 100};
  const KernelSample other{
      {OpKind::tanh, KernelForm::plain, graph::DType::float32, {0, 1, 1, 0, 1, 1}}, 1600, 100};
  for (DeviceProfile device : {test_device(), testing::elementwise_device()}) {
    device.measured = std::make_shared<MeasuredKernels>(std::array{dense, other});
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      Net net;
      Rng rng(seed, "fast machine");
      RandomNet(net, rng).grow(60);
      for (const PredictedKernel& kernel : AnalyticCost(device, graph::Bindings(), net.graph).kernels()) {
        EXPECT_GE(kernel.corrected_us, 0) << kernel.features.kernel_kind();
        EXPECT_GE(kernel.us, 0) << kernel.features.kernel_kind();
      }
    }
  }
}

TEST(Analytic, ConstantsAreFree) {
  Net net;
  const Value x = net.input({4, 8});
  const Value shape = net.op(OpKind::shape, {x});
  net.output(net.op(OpKind::cast, {shape}, {{Attr::to, std::int64_t{1}}}));
  EXPECT_EQ(net.latency_us(), 0);
  EXPECT_EQ(net.launches(), 0);
}

TEST(Analytic, ASliceCopiesTogetherWhatLiesTogether) {
  const auto slice_us = [](const std::vector<graph::Dim>& dims, std::int64_t axis) {
    Net net;
    const Value x = net.op(OpKind::relu, {net.input(dims)});
    const Value part = net.op(OpKind::slice, {x},
                              {{Attr::starts, Ints{0}},
                               {Attr::ends, Ints{dims[static_cast<std::size_t>(axis)] / 2}},
                               {Attr::axes, Ints{axis}}});
    net.output(part);
    const graph::Bindings bindings;
    return AnalyticCost(test_device(), bindings, net.graph).node_latency_us(part.node);
  };
  EXPECT_DOUBLE_EQ(slice_us({4096, 64, 1}, 1), slice_us({4096, 64}, 1)) << "as measured: 41.5 and 40.8 us";
  EXPECT_LT(slice_us({64, 64, 8, 8}, 1), slice_us({64, 64, 8, 8}, 2)) << "28 and 41 us";
  EXPECT_GT(slice_us({64, 64, 8, 8}, 3), 3 * slice_us({64, 64, 8, 8}, 2)) << "173 us";
}

TEST(Analytic, WeightsFoldedByTheRuntimeAreWeights) {
  Net folded, computed;
  for (Net* net : {&folded, &computed}) {
    const Value w = net->weight({32, 64}), x = net->conv(net->input({1, 16, 8, 8}), 16, 3);
    const Value shift = net->weight({1, 1, 16});
    const AttrBlock turn{{Attr::perm, Ints{1, 0}}}, turn3{{Attr::perm, Ints{2, 1, 0}}};
    const Value right = net == &folded ? net->weight({64, 32}) : net->op(OpKind::transpose, {w}, turn);
    const Value added = net == &folded ? net->weight({16, 1, 1}) : net->op(OpKind::transpose, {shift}, turn3);
    net->output(net->op(OpKind::matmul, {net->input({1, 64}), right}));
    net->output(net->op(OpKind::relu, {net->op(OpKind::add, {x, added})}));
  }
  EXPECT_EQ(folded.latency_us(), computed.latency_us());
  EXPECT_EQ(folded.launches(), computed.launches());
  EXPECT_EQ(folded.cost().bytes, computed.cost().bytes);
}

TEST(Analytic, BindingsGiveSymbolsTheirValues) {
  Net net;
  const graph::SymbolId batch = net.tables.symbol("batch");
  const Value x{net.graph.add_input(net.type({graph::symbol_dim(batch), 64}), 0), 0};
  net.output(net.op(OpKind::matmul, {x, net.weight({64, 32})}));
  graph::Bindings bindings;
  bindings.bind(batch, 10);
  EXPECT_EQ(AnalyticCost(test_device(), bindings, net.graph).cost().flops, 2 * 10 * 64 * 32);
  EXPECT_EQ(net.cost().flops, 2 * 64 * 32);
}

TEST(Analytic, CountsFlopsBytesAndMemoryOfAFusedPair) {
  Net net;
  net.output(net.op(OpKind::relu, {net.linear(net.input({4, 8}), 16)}));
  const Cost cost = net.cost();
  const double floats = 4 * 8 + 8 * 16 + 16 + 4 * 16;  // input, weight, bias, output: nothing between
  EXPECT_EQ(cost.bytes, floats * 4);
  EXPECT_EQ(cost.flops, 2 * 4 * 8 * 16 + 4 * 16 + 4 * 16);
  EXPECT_EQ(cost.peak_memory_bytes, floats * 4);
}

TEST(Analytic, SeesAnEditAtTheFarEndOfAGeluByTanh) {
  Net net;
  const graph::Bindings bindings;
  const testing::Value x = net.input({1, 8, 16}), other = net.input({1, 8, 16});
  net.output(net.op(testing::OpKind::neg, {net.gelu_by_tanh(x)}));
  net.graph.commit();
  AnalyticCost model(testing::test_device(), bindings, net.graph);
  EXPECT_EQ(model.cost().launches, 2);
  for (graph::NodeId id = 0; id < net.graph.id_bound(); ++id) {
    const graph::Node& node = net.graph.node(id);
    if (node.kind != testing::OpKind::mul || node.inputs[0] != x) continue;  // not the half of x
    const graph::Graph::Mark mark = net.graph.mark();
    net.graph.set_input(id, 0, other);
    model.update(net.graph.touched_since(mark));
    AnalyticCost fresh(testing::test_device(), bindings, net.graph);
    EXPECT_EQ(model.cost().latency_us, fresh.cost().latency_us);
    EXPECT_EQ(fresh.cost().launches, 9);
    return;
  }
  FAIL() << "the half of x is not there";
}

// What takes a value apart looks at all that do, however many else read it.
TEST(Analytic, AnEditOfOnePartIsSeenByTheOthers) {
  Net net;
  const graph::Bindings bindings;
  const testing::Value whole = net.op(testing::OpKind::tanh, {net.input({2, 8, 16})});
  const auto index = [&](double at) {
    return net.graph.weight_value(net.tables.weights().scalar(graph::DType::int64, at));
  };
  const auto part = [&](double at) {
    return net.node(testing::OpKind::gather, {whole, index(at)}, {{graph::Attr::axis, std::int64_t{0}}});
  };
  const graph::NodeId first = part(0);
  net.output({first, 0}).output({part(1), 0});
  for (const auto kind : {testing::OpKind::relu, testing::OpKind::neg, testing::OpKind::erf})
    net.output(net.op(kind, {whole}));
  net.graph.commit();
  AnalyticCost model(testing::test_device(), bindings, net.graph);
  EXPECT_EQ(model.cost().launches, 5) << "one Split";
  const graph::Graph::Mark mark = net.graph.mark();
  net.graph.set_input(first, 1, index(1));
  model.update(net.graph.touched_since(mark));
  EXPECT_EQ(model.cost().launches, 6);
  AnalyticCost fresh(testing::test_device(), bindings, net.graph);
  expect_same(net, model, fresh);
}

TEST(Analytic, ADeadNodeHasNoShare) {
  Net net;
  const Value x = net.op(OpKind::relu, {net.input({4, 8})});
  net.output(x);
  const NodeId dead = net.node(OpKind::tanh, {x});
  net.graph.remove(dead);
  const graph::Bindings bindings;
  AnalyticCost model(test_device(), bindings, net.graph);
  EXPECT_THROW(model.node_latency_us(dead), CostError);
}

// The same by brute force: which tensors are needed at each step of the same order.
std::int64_t slow_peak(const graph::Graph& graph, const std::vector<std::int64_t>& bytes,
                       const std::vector<NodeId>& shares) {
  std::vector<NodeId> order;
  std::map<NodeId, std::size_t> at;
  for (bool first = true; order.size() < graph.live_count(); first = false) {
    if (first)
      for (NodeId id = 0; id < graph.id_bound(); ++id)
        if (graph.alive(id) && graph.node(id).inputs.empty()) at[id] = order.size(), order.push_back(id);
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const graph::Use& use : graph.uses(order[i])) {
        if (use.user == graph::kGraphOutput || at.contains(use.user)) continue;
        bool ready = true;
        for (const Value v : graph.node(use.user).inputs)
          ready = ready && at.contains(v.node) && at[v.node] <= i;
        if (ready) at[use.user] = order.size(), order.push_back(use.user);
      }
    }
  }
  std::map<NodeId, std::size_t> last;
  for (const NodeId id : order) {
    NodeId own = id;
    while (shares[own] != kNoNode) own = shares[own];
    last[own] = std::max(last[own], at[id]);
    for (const graph::Use& use : graph.uses(id))
      last[own] = std::max(last[own], use.user == graph::kGraphOutput ? order.size() : at[use.user]);
  }
  std::int64_t peak = 0;
  for (std::size_t now = 0; now < order.size(); ++now) {
    std::int64_t live = 0;
    for (const auto& [id, end] : last)
      if (at[id] <= now && now <= end) live += bytes[id];
    peak = std::max(peak, live);
  }
  return peak;
}

// Bytes and sharing change with the edits, and some edits are only heard of together with later ones.
TEST(PeakMemory, EqualsBruteForceAfterAnyWalk) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Net net;
    Rng rng(seed, "peak walk");
    RandomNet(net, rng).grow(20 + 4 * seed);
    std::vector<std::int64_t> bytes;
    std::vector<NodeId> shares, touched;
    PeakMemory peak;
    const auto hear = [&] {
      peak.update(net.graph, touched);
      bytes.resize(std::max<std::size_t>(bytes.size(), net.graph.id_bound()), 0);
      shares.resize(bytes.size(), kNoNode);
      for (const NodeId id : touched) {
        if (!net.graph.alive(id)) continue;
        const graph::Node& node = net.graph.node(id);
        const bool weight = node.kind == OpKind::weight;
        const bool view = !weight && !node.inputs.empty() && rng.below(3) == 0 &&
                          net.graph.node(node.inputs[0].node).kind != OpKind::weight;
        shares[id] = view ? node.inputs[0].node : kNoNode;
        bytes[id] = view || weight ? 0 : static_cast<std::int64_t>(rng.below(1000));
        peak.set(id, bytes[id], shares[id]);
      }
    };
    for (NodeId id = 0; id < net.graph.id_bound(); ++id) touched.push_back(id);
    hear();
    std::vector<graph::Graph::Mark> marks{net.graph.mark()};
    for (int step = 0; step < 40; ++step) {
      touched = random_step(net, rng, marks);
      hear();
      if (rng.below(3) == 0) continue;
      ASSERT_EQ(peak.bytes(net.graph), slow_peak(net.graph, bytes, shares)) << "step " << step;
    }
  }
}

TEST(PeakMemory, FollowsEditsOfNodesWithManyNeighbours) {
  Net net;
  const Value x = net.input({1, 8});
  std::vector<Value> parts;
  for (int i = 0; i < 12; ++i) parts.push_back(net.op(i % 2 == 0 ? OpKind::relu : OpKind::tanh, {x}));
  const Value joined = net.op(OpKind::concat, parts, {{Attr::axis, std::int64_t{1}}});
  net.output(joined);
  std::vector<std::int64_t> bytes(net.graph.id_bound(), 0);
  const std::vector<NodeId> shares(net.graph.id_bound(), kNoNode);
  std::vector<NodeId> touched;
  for (NodeId id = 0; id < net.graph.id_bound(); ++id) {
    bytes[id] = 100 + 7 * static_cast<std::int64_t>(id);
    touched.push_back(id);
  }
  PeakMemory peak;
  for (std::size_t i = 0; i <= parts.size(); ++i) {
    peak.update(net.graph, touched);
    for (const NodeId id : touched) peak.set(id, bytes[id], shares[id]);
    ASSERT_EQ(peak.bytes(net.graph), slow_peak(net.graph, bytes, shares)) << i << " parts gone";
    if (i == parts.size()) break;
    const auto mark = net.graph.mark();
    net.graph.replace_uses(parts[i], x);
    touched = net.graph.touched_since(mark);
  }
}

}  // namespace
}
