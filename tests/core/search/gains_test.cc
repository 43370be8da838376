#include "core/search/gains.h"

#include <gtest/gtest.h>

#include "core/cost/analytic_cost.h"
#include "core/env/layered_world.h"
#include "core/env/rewrite_state.h"
#include "core/rules/graph_builder.h"
#include "core/search/greedy.h"
#include "support/manual_clock.h"

namespace regraft::search {
namespace {

using graph::NodeId;
using graph::OpKind;
using graph::Value;
using rules::testing::GraphBuilder;

rules::Match at(NodeId node) {
  return {0, {node}};
}

/// A line of Relus of which each has a Mul beside it, all by one weight.
struct Line {
  static constexpr std::size_t kLength = 20;
  Line() {
    const Value factor = b.scalar(2);
    Value last = b.input({4});
    for (std::size_t i = 0; i < kLength; ++i) {
      last = b.op(OpKind::relu, {last});
      relus.push_back(last.node);
      muls.push_back(b.op(OpKind::mul, {last, factor}).node);
    }
    for (const NodeId mul : muls) b.output({mul, 0});
  }

  GraphBuilder b;
  std::vector<NodeId> relus, muls;
};

TEST(Gains, AreForgottenWithinReachOfWhatWasTouched) {
  Line line;
  Gains gains;
  EXPECT_TRUE(gains.are_certain());
  EXPECT_EQ(gains.of(at(line.relus[0])), std::nullopt);
  for (const NodeId relu : line.relus) gains.set(at(relu), 1);
  constexpr std::size_t kTouched = 9;
  gains.touch(line.b.graph(), std::vector{line.relus[kTouched]});
  EXPECT_FALSE(gains.are_certain());
  for (std::size_t i = 0; i < Line::kLength; ++i) {
    const std::size_t edges = i > kTouched ? i - kTouched : kTouched - i;
    EXPECT_EQ(gains.of(at(line.relus[i])).has_value(), edges > Gains::kReach)
        << i << ": the weight that all Muls read does not join them";
  }
  gains.set(at(line.relus[kTouched]), 3);
  EXPECT_EQ(gains.of(at(line.relus[kTouched])), 3);
  gains.forget();
  EXPECT_TRUE(gains.are_certain());
  EXPECT_EQ(gains.of(at(line.relus[0])), std::nullopt);
}

TEST(Gains, GoOnFromThoseOfTheGraphBefore) {
  Line line;
  Gains base;
  for (const NodeId relu : line.relus) base.set(at(relu), 1);
  Gains behind(&base);
  behind.touch(line.b.graph(), std::vector{line.muls[0]});
  EXPECT_EQ(behind.of(at(line.relus[0])), std::nullopt);
  EXPECT_EQ(behind.of(at(line.relus[10])), 1);
  behind.set(at(line.relus[10]), 2);
  EXPECT_EQ(behind.of(at(line.relus[10])), 2);
  EXPECT_EQ(base.of(at(line.relus[10])), 1);
}

/// Steepest descent that costs every candidate of every graph. Returns the latency and how many it costed.
std::pair<double, std::size_t> slow_descent(env::RewriteState& state) {
  std::size_t costed = 0;
  while (true) {
    double least_us = state.cost_model().latency_us();
    std::optional<rules::Match> choice;
    for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule)
      for (const rules::Match& match : state.index().matches(rule)) {
        const double latency_us = state.peek_latency_us(match);
        ++costed;
        if (!env::cheaper(latency_us, least_us)) continue;
        least_us = latency_us;
        choice = match;
      }
    if (!choice) return {state.cost_model().latency_us(), costed};
    state.apply(*choice);
  }
}

/// Blocks in a row, in each of which rewrites make sites for others.
graph::Graph& blocks(GraphBuilder& b) {
  Value x = b.input({6, 8, 16});
  for (int block = 0; block < 12; ++block) {
    x = b.op(OpKind::transpose, {x}, {{graph::Attr::perm, graph::Ints{0, 2, 1}}});
    x = b.op(OpKind::relu, {b.op(OpKind::add, {x, b.weight({16, 1})})});
    x = b.op(OpKind::transpose, {x}, {{graph::Attr::perm, graph::Ints{0, 2, 1}}});
    x = b.op(OpKind::mul, {b.op(OpKind::mul, {x, b.scalar(2)}), b.scalar(3)});
    x = b.op(OpKind::add, {b.op(OpKind::matmul, {x, b.weight({16, 16})}), b.weight({16})});
  }
  b.output(x);
  b.graph().commit();
  return b.graph();
}

TEST(Descent, EndsWhereTheSlowOneDoesByFewerCandidates) {
  const std::string root = REGRAFT_SOURCE_DIR;
  const rules::RuleSet rules = rules::RuleSet::load(root + "/configs/rules");
  const cost::AnalyticFactory costs(cost::load_device(root + "/configs/devices/cpu-1core.toml"));
  GraphBuilder b;
  const graph::Graph& start = blocks(b);
  env::RewriteState state(start, rules, costs);
  const auto [slow_us, slow_costed] = slow_descent(state);
  ASSERT_GT(state.depth(), 12u) << "several rewrites a block";

  const ManualClock clock;
  Rng rng(1, "search");
  const SearchResult fast = make_greedy()->run({start, rules, costs}, {}, rng, {clock});
  EXPECT_NEAR(fast.best.latency_us, slow_us, 1e-9 * slow_us);
  EXPECT_EQ(fast.path.size(), state.depth());
  EXPECT_LT(fast.candidates_costed, slow_costed / 2);
}

TEST(Descent, EndsAtALocalMinimumWhereverItLed) {
  const env::TableCostFactory costs = env::LayeredWorld::costs();
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const env::LayeredWorld world(seed);
    const ManualClock clock;
    Rng rng(seed, "search");
    const SearchResult found = make_greedy()->run({world.graph, world.rules, costs}, {}, rng, {clock});
    env::RewriteState state(env::replay(world.graph, world.rules, found.path), world.rules, costs);
    EXPECT_EQ(slow_descent(state).first, found.best.latency_us) << "no candidate is cheaper, seed " << seed;
  }
}

/// Tanhs and Erfs cost 1 us, all else nothing; while the graph has both a Tanh and an Erf, an Erf costs 3.
class FarCost final : public cost::CostModel {
 public:
  explicit FarCost(const graph::Graph& graph) : graph_(graph) {}
  const cost::Cost& cost() override {
    double tanhs = 0, erfs = 0;
    for (NodeId id = 0; id < graph_.id_bound(); ++id) {
      if (!graph_.alive(id)) continue;
      tanhs += graph_.node(id).kind == OpKind::tanh ? 1 : 0;
      erfs += graph_.node(id).kind == OpKind::erf ? 1 : 0;
    }
    cost_.latency_us = tanhs + erfs * (tanhs > 0 ? 3 : 1);
    return cost_;
  }
  double latency_us() override { return cost().latency_us; }
  void update(std::span<const NodeId>) override {}
  double node_latency_us(NodeId) override { return 0; }
  std::string name() const override { return "far"; }

 private:
  const graph::Graph& graph_;
  cost::Cost cost_;
};

class FarCostFactory final : public cost::CostFactory {
 public:
  std::unique_ptr<cost::CostModel> make(const graph::Graph& graph) const override {
    return std::make_unique<FarCost>(graph);
  }
  std::string name() const override { return "far"; }
};

TEST(Descent, LooksAtAllOnceMoreWhereItSeemsToEnd) {
  // Two Tanhs as one Erf cost 3 while there are others, and 1 behind them: that is seen far away only.
  const rules::RuleSet rules = rules::RuleSet::parse(
      "near: Tanh(Relu(x)) => Relu(x)\nfar: Sqrt(Tanh(Tanh(x))) => Sqrt(Erf(x))\n", "far.rules");
  GraphBuilder b;
  Value x = b.op(OpKind::sqrt, {b.op(OpKind::tanh, {b.op(OpKind::tanh, {b.input({4})})})});
  for (int i = 0; i < 3 * Gains::kReach; ++i) x = b.op(OpKind::neg, {x});
  b.output(b.op(OpKind::tanh, {b.op(OpKind::relu, {x})}));
  b.graph().commit();
  const ManualClock clock;
  Rng rng(1, "search");
  const FarCostFactory costs;
  const SearchResult found = make_greedy()->run({b.graph(), rules, costs}, {}, rng, {clock});
  EXPECT_EQ(found.initial.latency_us, 3);
  EXPECT_EQ(found.best.latency_us, 1) << "a Tanh less, and then the Erf pays";
  EXPECT_EQ(found.path.size(), 2u);
}

}  // namespace
}
