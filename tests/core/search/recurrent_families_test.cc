// Recurrent networks that are written out step by step become one operation a layer, where that pays and
// holds.
#include <gtest/gtest.h>

#include <vector>

#include "core/search/descend.h"

namespace regraft::search {
namespace {

using graph::Attr;
using graph::Ints;
using graph::NodeId;
using graph::OpKind;
using graph::Value;
using rules::testing::GraphBuilder;
using testing::count;
using testing::descend;
using testing::Found;

constexpr std::int64_t kSteps = 4;

/// What a cell carries from step to step, and its weights.
struct Cell {
  std::int64_t gates, hidden;
  Value w, r, a, b, h, c;
  bool blends = false;  // a GRU: (h - new) update + new

  Cell(GraphBuilder& builder, std::int64_t count, std::int64_t inputs, std::int64_t size)
      : gates(count),
        hidden(size),
        w(builder.weight({count * size, inputs})),
        r(builder.weight({count * size, size})),
        a(builder.weight({count * size})),
        b(builder.weight({count * size})),
        h(builder.input({1, size})),
        c(builder.input({1, size})) {}

  static Value product(GraphBuilder& builder, Value x, Value weight, Value bias) {
    return builder.op(OpKind::gemm, {x, weight, bias}, {{Attr::trans_b, std::int64_t{1}}});
  }
  std::vector<Value> parts(GraphBuilder& builder, Value x) const {
    const NodeId split = builder.node(
        OpKind::split, {x},
        {{Attr::axis, std::int64_t{1}}, {Attr::split, Ints(static_cast<std::size_t>(gates), hidden)}});
    std::vector<Value> parts;
    for (std::uint32_t i = 0; i < gates; ++i) parts.push_back({split, i});
    return parts;
  }

  Value lstm(GraphBuilder& m, Value x) {
    return lstm_of(m, m.op(OpKind::add, {product(m, x, w, a), product(m, h, r, b)}));
  }
  /// From the sum of its products, biases included.
  Value lstm_of(GraphBuilder& m, Value z) {
    const std::vector<Value> gate = parts(m, z);
    const auto open = [&](std::size_t i) { return m.op(OpKind::sigmoid, {gate[i]}); };
    const Value fresh = m.op(OpKind::mul, {open(0), m.op(OpKind::tanh, {gate[2]})});
    c = m.op(OpKind::add, {m.op(OpKind::mul, {open(1), c}), fresh});
    return h = m.op(OpKind::mul, {open(3), m.op(OpKind::tanh, {c})});
  }

  Value gru(GraphBuilder& m, Value x) { return gru_of(m, product(m, x, w, a), product(m, h, r, b)); }
  /// From its two products, biases included.
  Value gru_of(GraphBuilder& m, Value product_of_x, Value product_of_h) {
    const std::vector<Value> of_x = parts(m, product_of_x), of_h = parts(m, product_of_h);
    const auto open = [&](std::size_t i) {
      return m.op(OpKind::sigmoid, {m.op(OpKind::add, {of_x[i], of_h[i]})});
    };
    const Value kept = open(1);
    const Value fresh =
        m.op(OpKind::tanh, {m.op(OpKind::add, {of_x[2], m.op(OpKind::mul, {open(0), of_h[2]})})});
    if (blends) {
      const Value further = m.op(OpKind::mul, {m.op(OpKind::sub, {h, fresh}), kept});
      return h = m.op(OpKind::add, {further, fresh});
    }
    const Value rest = m.op(OpKind::mul, {m.op(OpKind::sub, {m.scalar(1), kept}), fresh});
    return h = m.op(OpKind::add, {rest, m.op(OpKind::mul, {kept, h})});
  }
};

Value step_of(GraphBuilder& b, Value x, std::int64_t step) {
  return b.op(OpKind::gather, {x, b.integers({}, {step})}, {{Attr::axis, std::int64_t{1}}});
}

TEST(RecurrentFamilies, StepsOfAnLstmAreOneOperationALayer) {
  GraphBuilder b;
  const Value x = b.input({1, kSteps, 64});
  Cell first(b, 4, 64, 128), second(b, 4, 128, 96);
  for (std::int64_t i = 0; i < kSteps; ++i) second.lstm(b, first.lstm(b, step_of(b, x, i)));
  b.output(second.h);
  b.output(second.c);
  const Found found = descend(b);
  EXPECT_EQ(count(found.graph, OpKind::lstm), 2u);
  EXPECT_EQ(count(found.graph, OpKind::sigmoid), 0u);
  EXPECT_LE(count(found.graph, OpKind::slice) + count(found.graph, OpKind::concat), 1u);
  EXPECT_GT(found.gain, 1.4);
}

TEST(RecurrentFamilies, AStateThatWasTakenForTheInputIsTurned) {
  for (const bool state_first : {false, true}) {
    GraphBuilder b;
    const Value x = b.input({1, kSteps, 64}), w = b.weight({64, 256}), r = b.weight({64, 256});
    Cell cell(b, 4, 64, 64);
    for (std::int64_t i = 0; i < kSteps; ++i) {
      const Value of_x = b.op(OpKind::matmul, {step_of(b, x, i), w});
      const Value of_h = b.op(OpKind::matmul, {cell.h, r});
      const Value sum = b.op(OpKind::add, state_first ? std::vector{of_h, of_x} : std::vector{of_x, of_h});
      cell.lstm_of(b, b.op(OpKind::add, {sum, cell.a}));
    }
    b.output(cell.h);
    EXPECT_LE(count(descend(b).graph, OpKind::lstm), 2u) << state_first << ": the first, and all others";
  }
}

TEST(RecurrentFamilies, BiasesHaveNoOrder) {
  GraphBuilder b;
  const Value x = b.input({1, kSteps, 64});
  Cell cell(b, 4, 64, 64);
  for (std::int64_t i = 0; i < kSteps; ++i) cell.lstm(b, step_of(b, x, i));
  b.output(cell.h);
  EXPECT_LE(count(descend(b).graph, OpKind::lstm), 2u) << "the first, and all others";
}

TEST(RecurrentFamilies, StepsOfAGruAreOneOperation) {
  GraphBuilder b;
  const Value x = b.input({1, kSteps, 64});
  Cell cell(b, 3, 64, 128);
  for (std::int64_t i = 0; i < kSteps; ++i) b.output(cell.gru(b, step_of(b, x, i)));
  const Found found = descend(b);
  EXPECT_EQ(count(found.graph, OpKind::gru), 1u);
  EXPECT_EQ(count(found.graph, OpKind::sigmoid), 0u);
  EXPECT_GT(found.gain, 1.4);
}

TEST(RecurrentFamilies, AGruIsKnownByOtherProducts) {
  for (const bool bias_of_state : {false, true}) {
    GraphBuilder b;
    const Value x = b.input({1, kSteps, 64}), w = b.weight({64, 384}), r = b.weight({128, 384});
    Cell cell(b, 3, 64, 128);
    cell.blends = bias_of_state;
    for (std::int64_t i = 0; i < kSteps; ++i) {
      const Value of_x = b.op(OpKind::add, {b.op(OpKind::matmul, {step_of(b, x, i), w}), cell.a});
      const Value of_h = b.op(OpKind::matmul, {cell.h, r});
      b.output(cell.gru_of(b, of_x, bias_of_state ? b.op(OpKind::add, {of_h, cell.b}) : of_h));
    }
    const Found found = descend(b);
    EXPECT_EQ(count(found.graph, OpKind::gru), 1u) << bias_of_state;
    EXPECT_EQ(count(found.graph, OpKind::sigmoid), 0u) << bias_of_state;
  }
}

TEST(RecurrentFamilies, WhatAnLstmKeepsBetweenStepsIsNotLost) {
  GraphBuilder b;
  const Value x = b.input({1, kSteps, 64});
  Cell cell(b, 4, 64, 128);
  for (std::int64_t i = 0; i < kSteps; ++i) {
    cell.lstm(b, step_of(b, x, i));
    b.output(cell.c);
  }
  const std::size_t left = count(descend(b).graph, OpKind::lstm);
  EXPECT_TRUE(left == 0 || left == kSteps) << left;
}

}  // namespace
}
