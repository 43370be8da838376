#include "core/env/rule_features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/env/synthetic.h"

namespace regraft::env {
namespace {

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

TEST(RuleFeatures, TokensAreWordsArrowsAndMarks) {
  EXPECT_EQ(rule_tokens("Conv{k=3}(x, w1) => y.0"),
            (std::vector<std::string>{"Conv", "{", "k", "=", "3", "}", "(", "x", ",", "w1", ")", "=>", "y",
                                      ".", "0"}));
  EXPECT_TRUE(rule_tokens("  \n").empty());
}

TEST(RuleFeatures, RowsHaveUnitSizeAndNoopHasItsOwn) {
  const rules::RuleSet rules = make_synthetic_rules(2);
  const RuleFeatureTable table = make_rule_features(rules);
  ASSERT_EQ(table.rule_count, rules.size());
  ASSERT_EQ(table.features.size(), (rules.size() + 1) * kRuleFeatures);
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    double squares = 0;
    for (std::size_t i = 0; i + 1 < kRuleFeatures; ++i) {
      const double value = table.features[rule * kRuleFeatures + i];
      squares += value * value;
    }
    EXPECT_NEAR(squares / static_cast<double>(kRuleFeatures - 1), 1.0, 1e-5);
    EXPECT_EQ(table.features[(rule + 1) * kRuleFeatures - 1], 0.0f);
  }
  for (std::size_t i = 0; i + 1 < kRuleFeatures; ++i)
    EXPECT_EQ(table.features[rules.size() * kRuleFeatures + i], 0.0f);
  EXPECT_EQ(table.features.back(), 1.0f);
}

TEST(RuleFeatures, ARuleAtAllOfItsSitesHasARowOfItsOwn) {
  const rules::RuleSet rules = make_synthetic_rules(2);
  const RuleFeatureTable plain = make_rule_features(rules),
                         table = make_rule_features(rules, ActionMode::all_sites);
  ASSERT_EQ(table.rows(), 2 * rules.size() + 1);
  ASSERT_EQ(table.features.size(), table.rows() * kRuleFeatures);
  EXPECT_TRUE(std::equal(plain.features.begin(), plain.features.end(), table.features.begin()));
  const auto row = [&](std::size_t number) {
    const auto first = table.features.begin() + static_cast<std::ptrdiff_t>(number * kRuleFeatures);
    return std::vector<float>(first, first + kRuleFeatures);
  };
  const double apart = distance(row(0), row(rules.size() + 1));
  EXPECT_NEAR(apart, 0.5 * std::sqrt(static_cast<double>(kRuleFeatures - 1)), 1e-5);
  for (std::size_t rule = 1; rule < rules.size(); ++rule) {
    std::vector<float> moved = row(rules.size() + 1 + rule);
    for (std::size_t k = 0; k < kRuleFeatures; ++k) moved[k] -= row(rules.size() + 1)[k] - row(0)[k];
    EXPECT_NEAR(distance(moved, row(rule)), 0.0, 1e-5) << "the direction is the same for all";
  }
}

TEST(RuleFeatures, DependOnTheTextAloneAndTellSidesApart) {
  const std::string text = "MatMul(x, Add(y, z)) => Add(MatMul(x, y), MatMul(x, z))";
  EXPECT_EQ(rule_feature_row(text), rule_feature_row("MatMul( x,Add(y,z) )=>Add(MatMul(x,y),MatMul(x,z))"));
  const std::vector<float> turned =
      rule_feature_row("Add(MatMul(x, y), MatMul(x, z)) => MatMul(x, Add(y, z))");
  EXPECT_GT(distance(rule_feature_row(text), turned), 1.0);
  const std::vector<float> near = rule_feature_row("MatMul(x, Sub(y, z)) => Sub(MatMul(x, y), MatMul(x, z))");
  const std::vector<float> far = rule_feature_row("Relu(MaxPool{k=3}(x)) => MaxPool{k=3}(Relu(x))");
  EXPECT_LT(distance(rule_feature_row(text), near), distance(rule_feature_row(text), far));
}

TEST(RuleFeatures, TheSameRuleHasTheSameRowInEveryRuleSet) {
  const rules::RuleSet small = rules::RuleSet::parse("a: Relu(Relu(x)) => Relu(x)\n", "a.rules");
  const rules::RuleSet large =
      rules::RuleSet::parse("z: Neg(Neg(x)) => Identity(x)\nb: Relu(Relu(x)) => Relu(x)\n", "b.rules");
  const RuleFeatureTable one = make_rule_features(small), two = make_rule_features(large);
  EXPECT_TRUE(std::equal(one.features.begin(), one.features.begin() + kRuleFeatures,
                         two.features.begin() + kRuleFeatures));
}

}  // namespace
}
