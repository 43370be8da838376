// Loops over time, unrolled: a small layer computes each step, and what it gives is stacked.
#include <gtest/gtest.h>

#include "core/rules/leads.h"

namespace regraft::rules {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::Ints;
using graph::OpKind;
using testing::expect_shipped_rules_lead;
using testing::GraphBuilder;
using testing::Value;

constexpr std::int64_t kSteps = 3, kAxis = 1;

Value slice(GraphBuilder& b, Value x, std::int64_t at) {
  const AttrBlock part{{Attr::starts, Ints{at}},
                       {Attr::ends, Ints{at + 1}},
                       {Attr::axes, Ints{kAxis}},
                       {Attr::steps, Ints{1}}};
  return b.op(OpKind::squeeze, {b.op(OpKind::slice, {x}, part)}, {{Attr::axes, Ints{kAxis}}});
}

Value gather(GraphBuilder& b, Value x, std::int64_t at) {
  return b.op(OpKind::gather, {x, b.integers({}, {at})}, {{Attr::axis, kAxis}});
}

/// The steps of an input, by `take`, each given to `layer`.
void stack(GraphBuilder& b, Value (*take)(GraphBuilder&, Value, std::int64_t), const auto& layer) {
  const Value x = b.input({2, kSteps, 4});
  std::vector<Value> steps;
  for (std::int64_t at = 0; at < kSteps; ++at)
    steps.push_back(b.op(OpKind::unsqueeze, {layer(take(b, x, at))}, {{Attr::axes, Ints{kAxis}}}));
  b.output(b.op(OpKind::concat, steps, {{Attr::axis, kAxis}}));
}

TEST(StackedSteps, AreOneProductOfAllSteps) {
  GraphBuilder b;
  const Value w = b.weight({4, 5}), c = b.weight({5});
  stack(b, slice, [&](Value x) {
    return b.op(OpKind::relu, {b.op(OpKind::add, {b.op(OpKind::matmul, {x, w}), c})});
  });
  expect_shipped_rules_lead(
      b,
      "stack-unary\nstack-left\nstack-matmuls\nstack-parts\nslices-split\nconcat-split\n"
      "expect MatMul 1\nexpect Add 1\nexpect Relu 1\nexpect Concat 0\nexpect Slice 0\n");
}

TEST(StackedSteps, OfRowsAreOneGather) {
  GraphBuilder b;
  const Value w = b.weight({5, 4}), c = b.weight({5}), one = b.weight({});
  stack(b, gather, [&](Value x) {
    return b.op(OpKind::sub, {one, b.op(OpKind::gemm, {x, w, c}, {{Attr::trans_b, std::int64_t{1}}})});
  });
  expect_shipped_rules_lead(b,
                            "stack-right\nstack-gemms\nstack-gathers\ngather-all\n"
                            "expect MatMul 1\nexpect Gemm 0\nexpect Gather 0\nexpect Unsqueeze 0\n");
}

}  // namespace
}
