// Norms and activations as TensorFlow, Keras and their exporter write them, and the form that each leads to.
#include <gtest/gtest.h>

#include <string>

#include "core/rules/leads.h"
#include "core/rules/match/match_index.h"
#include "core/rules/tensorflow_forms.h"

namespace regraft::rules {
namespace {

using graph::Ints;
using graph::OpKind;
using testing::expect_shipped_rules_lead;
using testing::GraphBuilder;
using testing::inverse_root_mean_square;
using testing::mean_over;
using testing::norm_in_parts;
using testing::scaled_cube;
using testing::tanh_gate;
using testing::Value;

TEST(NormFamilies, ANormInPartsIsOneOperation) {
  for (const bool negated : {false, true})
    for (const Ints& dims : {Ints{8}, Ints{1, 1, 8}}) {
      GraphBuilder b;
      b.output(norm_in_parts(b, b.input({2, 3, 8}), 2, dims, negated));
      expect_shipped_rules_lead(b, std::string(negated ? "norm-form-keras" : "norm-form-tensorflow") +
                                       "\nexpect Pow 1\nexpect Reciprocal 0\npow-two\nlayer-norm-parts"
                                       "\nexpect LayerNormalization 1\nexpect total 1\n");
    }
}

TEST(NormFamilies, ASquareIsAPower) {
  GraphBuilder b;
  const Value x = b.input({2, 3, 8});
  const Value d = b.op(OpKind::sub, {x, mean_over(b, x, 2)});
  const Value variance = mean_over(b, b.op(OpKind::mul, {d, d}), 2);
  const Value root = b.op(OpKind::sqrt, {b.op(OpKind::add, {variance, b.scalar(1e-3)})});
  const Value scaled = b.op(OpKind::mul, {b.op(OpKind::div, {d, root}), b.weight({1, 8})});
  b.output(b.op(OpKind::add, {scaled, b.weight({8})}));
  expect_shipped_rules_lead(b, "norm-form\nexpect Pow 1\nexpect Div 1\nexpect total 9\n");
}

TEST(NormFamilies, AScaleOfMoreAxesThanTheInputKeepsThem) {
  GraphBuilder b;
  b.output(norm_in_parts(b, b.input({2, 8}), 1, {1, 1, 8}));
  const MatchIndex index(shipped(), b.graph());
  EXPECT_TRUE(index.matches(shipped().find("norm-form-tensorflow").value()).empty());
}

TEST(NormFamilies, NumbersLoseTheirAxes) {
  GraphBuilder b;
  const Value x = b.input({2, 3, 4});
  const Value y =
      b.op(OpKind::pow, {b.op(OpKind::add, {b.literal({1, 1, 1}, {1.5F}), x}), b.literal({1, 1}, {3})});
  b.output(b.op(OpKind::sub, {b.literal({1, 1}, {2}), y}));
  expect_shipped_rules_lead(b, "scalar-right\nscalar-left all\nexpect total 3\n");
}

TEST(NormFamilies, ARootMeanSquareIsDividedBy) {
  GraphBuilder b;
  const Value x = b.input({2, 3, 8});
  const Value scaled = b.op(OpKind::mul, {x, inverse_root_mean_square(b, x, 2)});
  b.output(b.op(OpKind::mul, {scaled, b.weight({8})}));
  expect_shipped_rules_lead(b,
                            "rms-norm-form\nexpect Pow 1\nexpect Div 1\nexpect Mul 1\nexpect Reciprocal 0\n");
}

// Paddle's exporter gives each number an axis.
TEST(NormFamilies, NumbersOfAGeluHaveAtMostOneAxis) {
  for (const Ints& dims : {Ints{}, Ints{1}}) {
    GraphBuilder b;
    const Value x = b.input({2, 3, 4});
    const auto number = [&](float value) { return b.literal(dims, {value}); };
    const Value gate =
        b.op(OpKind::add, {b.op(OpKind::erf, {b.op(OpKind::div, {x, number(1.41421356F)})}), number(1)});
    b.output(b.op(OpKind::mul, {x, b.op(OpKind::mul, {number(0.5F), gate})}));
    expect_shipped_rules_lead(
        b, "gelu-form\ngelu-half-last\ngelu-half-first\nexpect Mul 2\nexpect Erf 1\nexpect total 5\n");
  }
}

TEST(NormFamilies, HalfOfTheGateIsHalfOfTheArgument) {
  for (const Ints& dims : {Ints{}, Ints{1}}) {
    GraphBuilder b;
    const Value x = b.input({2, 3, 4});
    const Value gate = tanh_gate(b, x, scaled_cube(b, x, 0.044715), b.literal(dims, {1}));
    b.output(b.op(OpKind::mul, {x, b.op(OpKind::mul, {b.literal(dims, {0.5F}), gate})}));
    expect_shipped_rules_lead(b, "tanh-gelu-half\nexpect Mul 4\nexpect Tanh 1\n");
  }
}

TEST(NormFamilies, AGeluWithoutItsHalfIsTwiceOne) {
  GraphBuilder b;
  const Value x = b.input({2, 3, 4});
  b.output(b.op(OpKind::mul, {x, tanh_gate(b, x, scaled_cube(b, x, 0.044715), b.scalar(1))}));
  expect_shipped_rules_lead(b, "tanh-gelu-twice\nexpect Mul 5\nexpect Tanh 1\n");
  GraphBuilder other;
  const Value y = other.input({2, 3, 4});
  const Value gate = tanh_gate(other, y, scaled_cube(other, y, 0.05), other.scalar(1));
  other.output(other.op(OpKind::mul, {y, gate}));
  const MatchIndex index(shipped(), other.graph());
  EXPECT_TRUE(index.matches(shipped().find("tanh-gelu-twice").value()).empty()) << "another constant";
}

}  // namespace
}
