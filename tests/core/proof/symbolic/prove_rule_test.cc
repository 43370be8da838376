#include "core/proof/symbolic/prove_rule.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/proof/exact/planted_rules.h"
#include "core/proof/smt/run_smt.h"
#include "core/proof/verify/verify.h"

namespace regraft::proof {
namespace {

class NotProved : public ::testing::TestWithParam<UnsoundRule> {};

TEST_P(NotProved, AnUnsoundRuleIsRefused) {
  const auto rules = rules::RuleSet::parse(GetParam().text, "unsound");
  ProofOptions options;
  options.work = ProofOptions::kMillion;
  const ProofResult result = prove_rule(rules, 0, options);
  EXPECT_FALSE(result.proved) << result.smt;
  EXPECT_FALSE(result.why_not.empty());
}

INSTANTIATE_TEST_SUITE_P(Each, NotProved, ::testing::ValuesIn(unsound_rules()), by_name);

INSTANTIATE_TEST_SUITE_P(Unknown, NotProved, ::testing::ValuesIn(unknown_rules()), by_name);

class PlantedNotProved : public ::testing::TestWithParam<UnsoundRule> {};

// A proof is for the ranks that it says, and for real numbers: the two corners that examples alone look into.
TEST_P(PlantedNotProved, OrNotForTheCornerWhereItIsWrong) {
  const auto rules = rules::RuleSet::parse(GetParam().text, "planted");
  ProofOptions options;
  options.work = ProofOptions::kMillion;
  const ProofResult result = prove_rule(rules, 0, options);
  const std::string name = GetParam().name;
  const std::size_t wrong_from = name == "RankOfFive" ? 5 : name == "TwoNewAxes" ? 4 : 0;
  EXPECT_TRUE(!result.proved || result.most_rank < wrong_from) << result.smt;
}

INSTANTIATE_TEST_SUITE_P(Undefined, PlantedNotProved, ::testing::ValuesIn(undefined_rules()), by_name);
INSTANTIATE_TEST_SUITE_P(Values, PlantedNotProved, ::testing::ValuesIn(value_rules()), by_name);
INSTANTIATE_TEST_SUITE_P(Each, PlantedNotProved, ::testing::ValuesIn(planted_rules()), by_name);

INSTANTIATE_TEST_SUITE_P(Sizes, PlantedNotProved, ::testing::ValuesIn(size_rules()), by_name);
INSTANTIATE_TEST_SUITE_P(Named, PlantedNotProved, ::testing::ValuesIn(named_rules()), by_name);
INSTANTIATE_TEST_SUITE_P(Types, PlantedNotProved, ::testing::ValuesIn(type_rules()), by_name);

// A square matrix turned, where there are four dims: examples of that are rare.
TEST(Proof, ThatFailsWithOneDimMoreIsForTheseRanksAlone) {
  const auto rules = rules::RuleSet::parse(
      "r: Transpose{p}(Unsqueeze{q}(x)), rank(x) == 2, p[0] == q[0], q[0] == 0, p[-1] == rank(x),\n"
      "    len(p) == len(q) + 2 => Unsqueeze{q}(x)\n",
      "axes");
  const ProofResult result = prove_rule(rules, 0);
  ASSERT_TRUE(result.proved) << result.why_not;
  EXPECT_EQ(result.most_rank, 3u);
  EXPECT_TRUE(result.fails_above);
  const auto sound = rules::RuleSet::parse("r: Relu(Relu(x)) => Relu(x)\n", "sound");
  const ProofResult other = prove_rule(sound, 0);
  EXPECT_TRUE(!other.proved || !other.fails_above);
}

// Two numbers that agree in the first six digits, neither a short binary fraction.
TEST(Proof, KeepsNumbersApartToTheLastDigit) {
  const auto rules = rules::RuleSet::parse("r: Mul(x, 0.0000001) => Mul(x, 0.0000002)\n", "numbers");
  EXPECT_FALSE(prove_rule(rules, 0).proved);
}

// Both sides read the reshaped image in another order, but for windows that touch its padding alone.
TEST(Proof, DoesNotForgetPlacesInThePadding) {
  const auto rules = rules::RuleSet::parse(
      "r: Conv{k,s,p,d,g=1}(Reshape{r}(x), w), rank(x) == 2, len(r) == 3, p == [1, 1]\n"
      "    => Conv{k,s,[0, 2],d,1}(Reshape{r}(x), w)\n",
      "padding");
  EXPECT_FALSE(prove_rule(rules, 0).proved);
}

class Proved : public ::testing::TestWithParam<const char*> {};

TEST_P(Proved, ASoundRuleHasAProofThatZ3Confirms) {
  const auto rules = rules::RuleSet::parse(GetParam(), "sound");
  ProofOptions options;
  options.work = 40 * ProofOptions::kMillion;
  options.most_rank = 4;  // of five dims there are 14,400 pairs of permutations
  const ProofResult result = prove_rule(rules, 0, options);
  ASSERT_TRUE(result.proved) << result.why_not;
  EXPECT_GE(result.most_rank, 3u);
  EXPECT_GT(result.cases, 0u);
  EXPECT_GT(result.whole, 0u);
  EXPECT_LE(result.whole, result.equalities);
  const std::string counts = std::to_string(result.whole) + " of " + std::to_string(result.equalities);
  EXPECT_NE(result.smt.find("define them: " + counts), std::string::npos) << result.smt;
  EXPECT_TRUE(all_unsat(run_smt(result.smt))) << result.smt;
  EXPECT_TRUE(all_unsat(run_z3_program("z3", result.smt)));
}

INSTANTIATE_TEST_SUITE_P(
    Each, Proved,
    ::testing::Values(
        "a: MatMul(MatMul(x, y), z), rank(x) >= 2, rank(y) >= 2, rank(z) >= 2 => MatMul(x, MatMul(y, z))\n",
        "b: Transpose{p}(Transpose{q}(x)) => Transpose{permute(q, p)}(x)\n",
        "c: Transpose{p}(f:Unary(x)) => f(Transpose{p}(x))\n",
        "d: MatMul(Concat{a}(x, y), w), const(w), rank(w) == 2, a == rank(x) - 1\n"
        "    => n = x.-1; Add(MatMul(x, Slice{[0], [n], [0], [1]}(w)), MatMul(y, Slice{[n], [w.0], [0], "
        "[1]}(w)))\n",
        "e: BatchNormalization{eps}(Conv{k,s,p,d,g}(x, w, b?), scale, beta, mean, var)\n"
        "    => t = scale / Sqrt(var + eps);\n"
        "    Conv{k,s,p,d,g}(x, w * Unsqueeze{range(1, rank(w))}(t), ((b ?? Full(dims(mean), 0, mean)) - "
        "mean) * t + beta)\n"));

// The limits on whole equalities cost none of them its rule.
TEST(Proof, DoesWithoutWholeEqualitiesWhereTheyDoNotFit) {
  const auto rules = rules::RuleSet::parse("r: Relu(Relu(x)) => Relu(x)\n", "small");
  ProofOptions options;
  options.most_rank = 3;
  const ProofResult with = prove_rule(rules, 0, options);
  options.most_bytes_whole = 0;
  const ProofResult without = prove_rule(rules, 0, options);
  ASSERT_TRUE(with.proved) << with.why_not;
  ASSERT_TRUE(without.proved) << without.why_not;
  EXPECT_EQ(with.whole, with.equalities);
  EXPECT_EQ(without.whole, 0u);
  EXPECT_EQ(without.conditions, with.conditions);
  EXPECT_LT(without.smt.size(), with.smt.size());
}

TEST(Proof, ClaimsThatAreFalseAreNotUnsat) {
  EXPECT_FALSE(all_unsat(run_smt("(declare-fun n () Int)\n(assert (> n 0))\n(check-sat)\n")));
  EXPECT_FALSE(all_unsat(run_smt("(assert nonsense)\n(check-sat)\n")));
  EXPECT_FALSE(all_unsat(run_smt("")));
  EXPECT_FALSE(all_unsat(run_z3_program("z3", "(check-sat)\n")));
  EXPECT_THROW(run_z3_program("no-such-z3-program", "(check-sat)\n"), FileError);
}

}  // namespace
}
