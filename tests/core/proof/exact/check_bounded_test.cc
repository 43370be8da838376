#include "core/proof/exact/check_bounded.h"

#include <gtest/gtest.h>

#include "core/proof/exact/planted_rules.h"

namespace regraft::proof {
namespace {

using Outcome = BoundedResult::Outcome;

class Unsound : public ::testing::TestWithParam<UnsoundRule> {};

TEST_P(Unsound, IsRefuted) {
  const auto rules = rules::RuleSet::parse(GetParam().text, "unsound");
  const BoundedResult result = check_bounded(rules, 0);
  EXPECT_EQ(result.outcome, Outcome::refuted) << GetParam().text << result.grid;
  EXPECT_NE(result.counterexample.find("seed"), std::string::npos) << result.counterexample;
}

INSTANTIATE_TEST_SUITE_P(Each, Unsound, ::testing::ValuesIn(unsound_rules()), by_name);

class Planted : public ::testing::TestWithParam<UnsoundRule> {};

// What examples would not find if they left out a corner.
TEST_P(Planted, IsRefutedForTheCornerWhereItIsWrong) {
  const auto rules = rules::RuleSet::parse(GetParam().text, "planted");
  const BoundedResult result = check_bounded(rules, 0);
  EXPECT_EQ(result.outcome, Outcome::refuted) << GetParam().text << result.grid << ": " << result.grid_matches
                                              << " and " << result.random_matches << " matches";
}

INSTANTIATE_TEST_SUITE_P(Sizes, Planted, ::testing::ValuesIn(size_rules()), by_name);
INSTANTIATE_TEST_SUITE_P(Named, Planted, ::testing::ValuesIn(named_rules()), by_name);
INSTANTIATE_TEST_SUITE_P(Types, Planted, ::testing::ValuesIn(type_rules()), by_name);
INSTANTIATE_TEST_SUITE_P(Values, Planted, ::testing::ValuesIn(value_rules()), by_name);
INSTANTIATE_TEST_SUITE_P(Undefined, Planted, ::testing::ValuesIn(undefined_rules()), by_name);
INSTANTIATE_TEST_SUITE_P(Each, Planted, ::testing::ValuesIn(planted_rules()), by_name);

TEST(Bounded, SoundRulesHoldOnWholeGrids) {
  const auto rules = rules::RuleSet::parse(
      "a: MatMul(MatMul(x, y), z), rank(x) >= 2, rank(y) >= 2, rank(z) >= 2 => MatMul(x, MatMul(y, z))\n"
      "b: Transpose{p}(f:Binary(x, y)), dims(x) == dims(y) => f(Transpose{p}(x), Transpose{p}(y))\n"
      "c: f:MaxPool{*, k=k, p=p, d=1}(g:Monotone(x)), max(p) < min(k) => g(f(x))\n",
      "sound");
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
    const BoundedResult result = check_bounded(rules, rule);
    EXPECT_EQ(result.outcome, Outcome::holds) << rules.info(rule).name << " " << result.counterexample;
    EXPECT_GE(result.grid_matches, 100u);
    EXPECT_GE(result.random_matches, 1000u);
  }
}

// What examples may not refute because of what they do not know.
TEST(Bounded, PowersActivationsAndCastsAreKnown) {
  const auto rules = rules::RuleSet::parse(
      "inverse: Pow(x, -1.0) => Reciprocal(x)\n"
      "fifth: Pow(x, 5.0) => y = Mul(x, x); Mul(Mul(y, y), x)\n"
      "root: Pow(x, 0.5) => Sqrt(x)\n"
      "elu: Elu{a}(Relu(x)) => Relu(x)\n"
      "sigmoid: Div(1.0, Add(1.0, Exp(Neg(x)))) => Sigmoid(x)\n"
      "log: Log(Softmax{a}(x)) => LogSoftmax{a}(x)\n"
      "clip: Clip{min=a,max=b}(Neg(x)), a < b => Neg(Clip{-b, -a}(x))\n"
      "whole: Cast{to=7}(Floor(Relu(x))) => Cast{7}(Relu(x))\n"
      "whole-bounds: Clip{min=0,max=6}(Relu(x)) => Clip{0, 6}(x)\n"
      "tile: Tile{r}(Neg(x)) => Neg(Tile{r}(x))\n"
      "pad: Conv{k,s,p,d,g}(Pad{pads=q}(x), w), rank(x) == 3, q[0] == 0, q[1] == 0, q[3] == 0, q[4] == 0, q "
      ">= 0\n"
      "    => Conv{k,s,[p[0] + q[2], p[1] + q[5]],d,g}(x, w)\n",
      "known");
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
    const BoundedResult result = check_bounded(rules, rule);
    EXPECT_EQ(result.outcome, Outcome::holds) << rules.info(rule).name << " " << result.counterexample;
    EXPECT_GE(result.grid_matches, 100u) << rules.info(rule).name;
  }
}

TEST(Bounded, WhatIsTooLargeToComputeDecidesNothing) {
  const auto rules = rules::RuleSet::parse(
      "full: Relu(x) => y = Full([100000, 100000], 0, x); Relu(Add(x, ReduceSum{[0, 1], 0}(y)))\n"
      "pad: Relu(x), rank(x) == 1 => Relu(Slice{[0], [x.0], [0], [1]}(Pad{pads=[0, 200000000]}(x)))\n",
      "large");
  BoundedOptions options;
  options.most_draws = 200;
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
    const BoundedResult result = check_bounded(rules, rule, options);
    EXPECT_EQ(result.outcome, Outcome::sampled) << rules.info(rule).name;
    EXPECT_EQ(result.random_matches, 0u) << rules.info(rule).name;
    EXPECT_GT(result.undecided, 0u) << rules.info(rule).name;
  }
}

TEST(Bounded, ARuleThatNeverMatchesIsNeitherHeldNorRefuted) {
  const auto rules = rules::RuleSet::parse("r: Relu(x), x.0 == 77 => Relu(Relu(x))\n", "never");
  BoundedOptions options;
  options.most_draws = 500;
  EXPECT_EQ(check_bounded(rules, 0, options).outcome, Outcome::sampled);
}

}  // namespace
}
