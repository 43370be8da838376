#include "core/cost/fused_matches.h"

#include <gmock/gmock.h>

#include <numeric>

#include "core/base/file.h"
#include "core/cost/random_net.h"

namespace regraft::cost {
namespace {

using testing::AttrBlock;
using ::testing::HasSubstr;
using testing::Net;
using testing::OpKind;
using testing::Value;

class Matches {
 public:
  explicit Matches(const Net& net)
      : graph_(net.graph), matches_(testing::test_device().fusions.get(), graph_) {
    update();
  }
  void update() {
    std::vector<graph::NodeId> all(graph_.id_bound());
    std::iota(all.begin(), all.end(), 0);
    update(all);
  }
  void update(const std::vector<graph::NodeId>& touched) {
    std::vector<graph::NodeId> changed;
    matches_.update(touched, changed);
  }
  const FusedMatches& operator*() const { return matches_; }

 private:
  const graph::Graph& graph_;
  FusedMatches matches_;
};

/// All nodes that compute something are part of one match.
void expect_one_match(const Net& net, bool takes_addition, std::size_t nodes) {
  const Matches matches(net);
  std::size_t found = 0;
  for (graph::NodeId id = 0; id < net.graph.id_bound(); ++id) {
    const FusedMatch* match = (*matches).around(id);
    if (net.graph.node(id).kind == OpKind::input || net.graph.node(id).kind == OpKind::weight) {
      EXPECT_EQ(match, nullptr);
      continue;
    }
    ASSERT_NE(match, nullptr) << id;
    EXPECT_EQ((*matches).kernel(*match).takes_addition, takes_addition);
    EXPECT_EQ(match->nodes.size(), nodes);
    ++found;
  }
  EXPECT_EQ(found, nodes);
}

TEST(FusedMatches, AreAroundEachOfTheirNodes) {
  Net whole, simplified;
  whole.output(whole.norm_in_parts(whole.input({1, 8, 16}), false));
  expect_one_match(whole, true, 9);
  simplified.output(simplified.norm_in_parts(simplified.input({1, 8, 16}), true));
  expect_one_match(simplified, false, 6);
}

TEST(FusedMatches, OfEveryLineOfTheFileThereIsOne) {
  const auto whole = [](auto make) {
    Net net;
    net.output(net.op(OpKind::neg, {make(net, net.input({1, 8, 16}))}));
    EXPECT_EQ(net.launches(), 2);
  };
  whole([](Net& net, Value x) { return net.gelu(x, Net::GeluForm::outer_half); });
  whole([](Net& net, Value x) { return net.gelu(x, Net::GeluForm::inner_half); });
  whole([](Net& net, Value x) { return net.gelu_by_tanh(x); });
  whole([](Net& net, Value x) { return net.gelu_by_tanh_of_products(x); });
  whole([](Net& net, Value x) { return net.norm_in_parts(x, false); });
  whole([](Net& net, Value x) { return net.norm_in_parts(x, true); });
  whole([](Net& net, Value x) { return net.norm_of_two_differences(x); });
  whole([](Net& net, Value x) { return net.norm_by_one_over(x, false); });
  whole([](Net& net, Value x) { return net.norm_by_one_over(x, true); });
  for (const bool biased : {false, true}) {
    whole([&](Net& net, Value x) { return net.integer_product(net.quantise(x), biased); });
    Net shared;
    const graph::NodeId bytes = shared.quantise(shared.input({1, 8, 16}));
    for (int i = 0; i < 2; ++i) shared.output(shared.integer_product(bytes, biased));
    EXPECT_EQ(shared.launches(), 1 + 2);
  }
}

TEST(FusedMatches, AProductOfIntegersTakesTheTimeOfQuantisingToo) {
  Net whole, bytes;
  whole.output(whole.integer_product(whole.quantise(whole.input({1, 8, 64})), true));
  bytes.output({bytes.quantise(bytes.input({1, 8, 64})), 0});
  const auto kernels = AnalyticCost(testing::test_device(), {}, whole.graph).kernels();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].features.op, "MatMulInteger");
  EXPECT_EQ(whole.graph.node(kernels[0].nodes.back()).kind, OpKind::add) << "what the kernel makes";
  EXPECT_NEAR(kernels[0].us - kernels[0].corrected_us, bytes.latency_us() - testing::test_device().launch_us,
              1e-5);
}

TEST(FusedMatches, AValueThatIsReadOutsideIsInNone) {
  for (const bool read : {false, true}) {
    Net net;
    const Value x = net.input({8, 16});
    net.output(net.gelu(x, Net::GeluForm::outer_half));
    graph::NodeId erf = 0;
    while (net.graph.node(erf).kind != OpKind::erf) ++erf;
    if (read) net.output(net.op(OpKind::relu, {Value{erf, 0}}));
    EXPECT_EQ((*Matches(net)).around(erf) != nullptr, !read);
  }
}

/// Against matches looked for from nothing, after each of many random edits.
TEST(FusedMatches, FollowEdits) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed, "fused matches");
    Net net;
    testing::RandomNet(net, rng).grow(30);
    Matches followed(net);
    for (int edit = 0; edit < 30; ++edit) {
      const graph::Graph::Mark mark = net.graph.mark();
      testing::random_edit(net, rng);
      followed.update(net.graph.touched_since(mark));
      const Matches fresh(net);
      for (graph::NodeId id = 0; id < net.graph.id_bound(); ++id) {
        const FusedMatch *held = (*followed).around(id), *found = (*fresh).around(id);
        ASSERT_EQ(held != nullptr, found != nullptr)
            << "seed " << seed << ", edit " << edit << ", node " << id;
        if (held) {
          ASSERT_EQ(*held, *found) << "seed " << seed << ", edit " << edit << ", node " << id;
        }
      }
    }
  }
}

TEST(FusedMatches, ANormInPartsIsOneKernel) {
  for (const bool simplified : {false, true}) {
    Net parts, one;
    parts.output(parts.norm_in_parts(parts.input({1, 128, 768}), simplified));
    one.output(one.layer_norm(one.input({1, 128, 768})));
    EXPECT_EQ(parts.launches(), 1);
    EXPECT_NEAR(parts.latency_us(), one.latency_us(), 0.01 * one.latency_us());
  }
}

/// A rule that only makes the square cheaper takes the norm apart.
TEST(FusedMatches, ASquareAsAProductIsNoNorm) {
  Net net;
  const Value x = net.input({1, 128, 768});
  const AttrBlock last{{testing::Attr::axes, testing::Ints{-1}}, {testing::Attr::keepdims, std::int64_t{1}}};
  const Value mean = net.op(OpKind::reduce_mean, {net.op(OpKind::mul, {x, x})}, last);
  const Value root = net.op(OpKind::sqrt, {net.op(OpKind::add, {mean, net.scalar(1e-5)})});
  net.output(net.op(OpKind::mul, {net.op(OpKind::div, {x, root}), net.weight({768})}));
  Net norm;
  norm.output(norm.norm_in_parts(norm.input({1, 128, 768}), true));
  EXPECT_EQ(net.launches(), 6);
  EXPECT_GT(net.latency_us(), norm.latency_us());
}

TEST(FusedMatches, ANormWithAnAdditionBeforeItIsSkipLayerNormalization) {
  Net net;
  const Value a = net.input({1, 128, 768}), b = net.input({1, 128, 768});
  net.output(net.norm_in_parts(net.op(OpKind::add, {a, b}), false));
  EXPECT_EQ(net.launches(), 1);
}

/// What a match computes is not stored, but for its end; nor is an addition before it.
TEST(FusedMatches, NoPartTakesMemory) {
  Net gelu, relu;
  gelu.output(gelu.gelu(gelu.input({64, 64}), Net::GeluForm::inner_half));
  relu.output(relu.op(OpKind::relu, {relu.input({64, 64})}));
  constexpr double kScalars = 3 * sizeof(float);
  EXPECT_EQ(gelu.cost().peak_memory_bytes, relu.cost().peak_memory_bytes + kScalars);
  Net parts, one;
  parts.output(
      parts.norm_in_parts(parts.op(OpKind::add, {parts.input({1, 8, 16}), parts.input({1, 8, 16})}), false));
  one.output(one.layer_norm(one.op(OpKind::add, {one.input({1, 8, 16}), one.input({1, 8, 16})})));
  EXPECT_EQ(parts.cost().peak_memory_bytes, one.cost().peak_memory_bytes + 2 * sizeof(float));
}

std::string refusal_of(const std::string& line) {
  try {
    FusedPatterns::parse("[a]\n" + line, "some.fusions");
  } catch (const rules::RuleError& error) {
    return error.what();
  }
  return "no error";
}

TEST(FusedPatterns, WhatIsNoKernelIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal_of("square: Pow(x, 2), rank(x) == 2 => Gelu(x)"), "no error");
  EXPECT_THAT(refusal_of("square: Pow(x, 2) => Gelu(Relu(x))"),
              HasSubstr("some.fusions:2: 'square': a kernel is one operation"));
  EXPECT_THAT(refusal_of("twice: Relu(Relu(x)) => x"), HasSubstr("some.fusions:2"));
  EXPECT_THAT(refusal_of("sum: y = Add(x, c), const(c) => Gelu(c + c)"), HasSubstr("some.fusions:2"));
  EXPECT_THAT(refusal_of("far: Relu(Exp(Relu(Exp(Relu(Exp(Relu(Exp(x)))))))) => Gelu(x)"),
              HasSubstr("'far': it reaches too far from its root (its operations are at most 6 edges away)"));
  EXPECT_THAT(refusal_of("square: Pow(x, 2) => Gelu{approximate=\"tan\"}(x)"),
              HasSubstr("did you mean 'tanh'"));
  EXPECT_THAT(refusal_of("twice: y@ = Relu(x@), same(rank(x@)) => y@ = Gelu(x@)"),
              HasSubstr("some.fusions:2"));
  EXPECT_THAT(refusal_of("cut: Pow(x, 2"), HasSubstr("some.fusions:3:1"));
  EXPECT_THROW(FusedPatterns::load("/nonexistent/a.fusions"), FileError);
}

}  // namespace
}
