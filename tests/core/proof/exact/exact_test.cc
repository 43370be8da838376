#include "core/proof/exact/exact_inputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "core/proof/exact/exact_tensor.h"
#include "core/rules/examples/make_example.h"
#include "core/rules/interpreter.h"
#include "core/rules/set/rule_set.h"
#include "core/rules/shipped.h"

namespace regraft::proof {
namespace {

TEST(Exact, DecidesBranchesByTheRealValueOnly) {
  const Exact third = Exact::of(1.0) / Exact::of(3.0);
  EXPECT_EQ((third * Exact::of(3.0)).residue, Exact::of(1.0).residue);
  EXPECT_TRUE(less(third, Exact::of(0.5)));
  EXPECT_FALSE(less(third, third));
  EXPECT_EQ(larger(third, Exact::of(-2.0)).residue, third.residue);
  EXPECT_TRUE(less(Exact::of(1.0), Exact::of(1.0 + 1e-12)));  // both are known without error
  const Exact ninth = third * third;
  EXPECT_THROW(less(ninth, ninth + Exact::of(0x1p-56)), Undecided);
  EXPECT_TRUE(less(ninth, ninth + Exact::of(0x1p-40)));
  const Exact none = Exact::of(1.0) / (third - third);
  EXPECT_FALSE(none.defined());
  EXPECT_FALSE((none * Exact{}).defined());
  EXPECT_THROW(less(none, third), Undefined);
  EXPECT_FALSE(third == third * Exact::of(0x1p61)) << "2^61 is 1 in the field";
}

TEST(Exact, OraclesDependOnTheirArgumentsAlone) {
  const Exact a = Exact::of(0.25), b = Exact::of(0.5) * Exact::of(0.5);
  EXPECT_EQ(oracle(3, {a}, 1).residue, oracle(3, {b}, 1).residue);
  EXPECT_NE(oracle(3, {a}, 1).residue, oracle(4, {a}, 1).residue);
  EXPECT_NE(oracle(3, {a, Exact::of(1.0)}, 1).residue, oracle(3, {Exact::of(1.0), a}, 1).residue);
}

TEST(Exact, AConvolutionOverNoChannelsIsItsBias) {
  graph::GraphBuilder b;
  b.output(b.op(graph::OpKind::conv, {b.input({1, 0, 3}), b.weight({2, 0, 1}), b.literal({2}, {0.5F, -2})}));
  Rng rng(1, "exact");
  const auto found = run_exactly(b.graph(), ordinary_inputs(b.graph(), rng));
  ASSERT_EQ(found[0].values.size(), 6u);
  EXPECT_EQ(found[0].values[2].rough, 0.5);
  EXPECT_EQ(found[0].values[3].rough, -2);
}

TEST(Exact, ErrorsGrowWithWhatIsRounded) {
  const Exact third = Exact::of(1.0) / Exact::of(3.0);
  EXPECT_GT(third.error, 0);
  EXPECT_LT(third.error, 1e-15);
  const Exact large = third * Exact::of(1e12);
  EXPECT_GT(large.error, 1e-5);
  // Far above the rounding of the difference, and below that of its operands.
  EXPECT_THROW(less(large - large + Exact::of(1e-6), large * third - third * large + Exact::of(2e-6)),
               Undecided);
  EXPECT_EQ((Exact::of(100.5) + Exact::of(0.25) * Exact::of(8.0)).rough, 102.5);
}

TEST(Exact, WhatIsTooLargeIsUndecidedAndWhatIsInfiniteIsNot) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Exact large = Exact::of(1e200) * Exact::of(1e200);
  EXPECT_THROW(less(Exact::of(1.0), large), Undecided);
  EXPECT_TRUE((large - large).defined());
  EXPECT_TRUE(less(Exact::of(1.0), Exact::of(infinity)));
  EXPECT_EQ((-Exact::of(infinity)).residue, Exact::of(-infinity).residue);
  EXPECT_FALSE(exact_function(graph::OpKind::log, Exact::of(-1.0)).defined());
}

TEST(Exact, StepsAreDecidedOnTheStepAndUndecidedBesideIt) {
  const auto step = [](graph::OpKind kind, const Exact& x) { return exact_function(kind, x).rough; };
  EXPECT_EQ(step(graph::OpKind::round, Exact::of(0.5)), 0);
  EXPECT_EQ(step(graph::OpKind::round, Exact::of(1.5)), 2);
  EXPECT_EQ(step(graph::OpKind::floor, Exact::of(2.0)), 2);
  EXPECT_EQ(step(graph::OpKind::ceil, Exact::of(-2.0)), -2);
  const Exact third = Exact::of(1.0) / Exact::of(3.0);
  EXPECT_EQ(step(graph::OpKind::floor, third * Exact::of(3.0)), 1);  // known by its exact value
  EXPECT_THROW(exact_function(graph::OpKind::floor, third * Exact::of(3.0) - Exact::of(0x1p-56)), Undecided);
}

TEST(Exact, RootsOfZeroAndOneAreThemselves) {
  for (const double value : {0.0, 1.0})
    EXPECT_TRUE(exact_function(graph::OpKind::sqrt, Exact::of(value)).is(value));
  EXPECT_FALSE(exact_function(graph::OpKind::sqrt, Exact::of(4.0)).is(4));
}

TEST(Exact, ASlopeOfHardSigmoidIsTheFractionThatItsFloatStandsFor) {
  ExactTensor x = ExactTensor::zeros(graph::DType::float32, {1});
  x.values[0] = Exact::of(0.75);
  const auto slope_of = [&](double alpha) {
    const graph::AttrBlock attrs{{graph::Attr::alpha, alpha}, {graph::Attr::beta, 0.5}};
    const ExactTensor* const inputs[] = {&x};
    graph::Tables tables;
    const graph::Ints dims{1};
    const auto type = tables.type(tables.intern(graph::DType::float32, dims));
    return evaluate_exactly(graph::OpKind::hard_sigmoid, attrs, inputs, type)[0].values[0];
  };
  const Exact sixth = Exact::of(0.75) / Exact::of(6.0) + Exact::of(0.5);
  EXPECT_TRUE(slope_of(1.0 / 6) == sixth);
  EXPECT_TRUE(slope_of(static_cast<double>(1.0F / 6)) == sixth);
  EXPECT_FALSE(slope_of(static_cast<double>(std::nextafter(1.0F / 6, 1.0F))) == sixth);
}

TEST(ExactInputs, CornersHoldThresholdsStepsZerosAndLargeValues) {
  graph::GraphBuilder b;
  b.output(b.op(graph::OpKind::min, {b.input({2, 3}), b.scalar(100.5)}));
  std::vector<double> thresholds;
  add_thresholds(b.graph(), thresholds);
  ASSERT_EQ(thresholds, std::vector<double>{100.5});
  std::size_t zeros = 0, on = 0, beyond = 0, halves = 0, tiny = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "corners");
    const ExactInputMap inputs = corner_inputs(b.graph(), thresholds, rng);
    for (const Exact& x : inputs.at(0).values) {
      EXPECT_EQ(x.residue, Exact::of(x.rough).residue);
      zeros += x.rough == 0;
      on += x.rough == 100.5;
      beyond += x.rough > 101;
      halves += x.rough != 0 && x.rough == std::round(2 * x.rough) / 2;
      tiny += x.rough != 0 && std::abs(x.rough) < 1e-3;
    }
  }
  for (const std::size_t seen : {zeros, on, beyond, halves, tiny}) EXPECT_GT(seen, 20u);
}

TEST(ExactInputs, RowsAreThoseThatThereAre) {
  graph::GraphBuilder b;
  graph::AttrBlock axis;
  axis.set(graph::Attr::axis, std::int64_t{1});
  const graph::Value rows = b.input({4}, graph::DType::int64);
  b.output(b.op(graph::OpKind::gather, {b.input({2, 5}), rows}, axis));
  b.output(b.op(graph::OpKind::gather, {b.input({2, 3}), rows}, axis));
  std::set<double> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed, "rows");
    const ExactInputMap inputs = ordinary_inputs(b.graph(), rng);
    for (const Exact& row : inputs.at(0).values) seen.insert(row.rough);
  }
  EXPECT_EQ(seen, (std::set<double>{-3, -2, -1, 0, 1, 2}));
}

// The rough values of every op that rules use are those of the naive interpreter in fp64.
TEST(Exact, RoughValuesAgreeWithTheInterpreterOnExamplesOfAllShippedRules) {
  const auto& rules = rules::all_shipped();
  std::size_t compared = 0;
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(rules.info(rule).name + ", seed " + std::to_string(seed));
      graph::GraphBuilder builder(seed);
      Rng rng(seed, "exact");
      rules::RandomChoices choices(rng);
      if (!rules::make_example(rules.compiled(rule), builder, choices, {.types_vary = false})) continue;
      const ExactInputMap inputs = ordinary_inputs(builder.graph(), rng);
      std::map<std::int32_t, graph::HostTensor> plain;
      for (const auto& [origin, tensor] : inputs) {
        graph::HostTensor& t = plain[origin];
        t.dtype = tensor.dtype;
        t.dims = tensor.dims;
        for (const Exact& value : tensor.values) {
          if (graph::is_float(t.dtype))
            t.real.push_back(value.rough);
          else
            t.integer.push_back(std::llround(value.rough));
        }
      }
      std::vector<ExactTensor> found;
      try {
        found = run_exactly(builder.graph(), inputs);
      } catch (const Undecided&) {
        continue;
      }
      const auto expected = rules::testing::Interpreter(builder.graph()).run(plain);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].dims, expected[i].dims);
        for (std::size_t k = 0; k < found[i].values.size(); ++k) {
          const double wanted = graph::is_float(found[i].dtype) ? expected[i].real[k]
                                                                : static_cast<double>(expected[i].integer[k]);
          if (!std::isfinite(wanted) || !found[i].values[k].defined()) continue;
          ASSERT_NEAR(found[i].values[k].rough, wanted, 1e-9 * std::max(1.0, std::abs(wanted)));
        }
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 2000u);
}

}  // namespace
}
