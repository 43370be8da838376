// Whether a factor of each channel is repeated to the pixels by a Resize is the cost model's to decide: both
// directions are rules.
#include <gtest/gtest.h>

#include "core/cost/analytic_cost.h"
#include "core/env/rewrite_state.h"
#include "core/rules/graph_builder.h"
#include "core/search/greedy.h"
#include "support/manual_clock.h"

namespace regraft::search {
namespace {

using graph::Attr;
using graph::Ints;
using graph::OpKind;
using graph::Value;
using rules::testing::GraphBuilder;

Value conv(GraphBuilder& b, Value x, std::int64_t in, std::int64_t out) {
  return b.op(OpKind::conv, {x, b.weight({out, in, 1, 1}), b.weight({out})}, {{Attr::pads, Ints(4, 0)}});
}

/// Resizes that greedy descent leads to, with the shipped rules and device.
std::size_t resizes_after_greedy(GraphBuilder& b) {
  b.graph().commit();
  const std::string root = REGRAFT_SOURCE_DIR;
  const rules::RuleSet rules = rules::RuleSet::load(root + "/configs/rules");
  const cost::AnalyticFactory costs(cost::load_device(root + "/configs/devices/cpu-1core.toml"));
  const ManualClock clock;
  Rng rng(1, "search");
  const SearchResult found =
      make_greedy()->run({b.graph(), rules, costs}, {.seconds = 1, .expansions = 1000}, rng, {clock});
  const graph::Graph graph = env::replay(b.graph(), rules, found.path);
  std::size_t count = 0;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id)
    count += graph.alive(id) && graph.node(id).kind == OpKind::resize ? 1 : 0;
  return count;
}

/// The factor, and the sum that follows it, between convolutions of 64 channels.
std::size_t resizes_between_convolutions(std::int64_t pixels) {
  GraphBuilder b;
  const std::int64_t channels = 64;
  const Value x = b.op(OpKind::relu, {conv(b, b.input({1, channels, pixels, pixels}), channels, channels)});
  const Value mean = b.op(OpKind::global_average_pool, {x});
  const Value s =
      b.op(OpKind::sigmoid, {conv(b, b.op(OpKind::relu, {conv(b, mean, channels, 16)}), 16, channels)});
  const Value sum = b.op(OpKind::add, {b.op(OpKind::mul, {x, s}), x});
  b.output(conv(b, b.op(OpKind::relu, {sum}), channels, channels));
  return resizes_after_greedy(b);
}

// In ONNX Runtime convolutions of many channels keep a layout of blocks, which a product of two shapes leaves
// and one of equal shapes does not: a few elements are repeated sooner than all are brought into another
// order twice, many are not.
TEST(SqueezeExcite, TheFactorIsRepeatedBetweenConvolutionsOfFewPixelsAndNotOfMany) {
  EXPECT_EQ(resizes_between_convolutions(14), 1u);
  EXPECT_EQ(resizes_between_convolutions(112), 0u);
}

TEST(SqueezeExcite, TheFactorStaysAsItIsWhereNoConvolutionIsNear) {
  GraphBuilder b;
  const Value x = b.op(OpKind::relu, {b.input({1, 64, 14, 14})});
  const Value s = b.op(OpKind::sigmoid, {b.input({1, 64, 1, 1})});
  b.output(b.op(OpKind::tanh, {b.op(OpKind::mul, {x, s})}));
  EXPECT_EQ(resizes_after_greedy(b), 0u);
}

}  // namespace
}
