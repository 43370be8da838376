#include "core/rulegen/enumerate/pruner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/rules/set/rule_set.h"

namespace regraft::rulegen {
namespace {

/// All graphs of up to three nodes of Transpose and Relu.
class PrunerTest : public ::testing::Test {
 protected:
  PrunerTest() {
    Enumerator enumerator(table_, evaluator_, 3, {});
    std::vector<GraphRecord> records;
    for (std::size_t unit = 0; unit < enumerator.units(); ++unit)
      std::ranges::copy(*enumerator.run(unit), std::back_inserter(records));
    std::ranges::sort(records);
    records.erase(std::unique(records.begin(), records.end()), records.end());
    add_classes(records, table_, classes_);
  }

  Generation prune(const GraphClasses& classes, std::size_t threads = 0, std::size_t patience = 1000000) {
    ThreadPool pool(threads);
    GenerateOptions options;
    options.examples = 12;
    std::atomic<std::size_t> asked = 0;
    Pruner pruner(
        table_, evaluator_, options, [&] { return ++asked > patience; }, pool);
    Generation made;
    pruner.run(classes, made, [](const std::string&) {});
    EXPECT_EQ(pruner.whole(), asked <= patience);
    return made;
  }
  bool derives(const Generation& made, const TermRule& rule, std::size_t steps) const {
    const auto one = rules::RuleSet::parse(rule_text("one", rule, table_.forms, {}) + "\n", "one.rules");
    const auto set = rules::RuleSet::parse(made.rules_text(), "made.rules");
    return find_derivation(set, one, rule, table_.forms, steps, false, 1).has_value();
  }
  TermRule pair(const GraphCode& a, const GraphCode& b) const {
    TermRule rule{to_term(a, table_), to_term(b, table_), {}};
    for (const LeafSpec& leaf : table_.leaves) rule.ranks.push_back(static_cast<int>(leaf.dims.size()));
    return rule;
  }

  const OpTable table_ = op_table({"transpose"});
  const PointEvaluator evaluator_{table_, 3};
  GraphClasses classes_;
};

TEST_F(PrunerTest, EqualGraphsLeadToTheSimplestOthersDoNotAndNoRuleFollows) {
  const Generation made = prune(classes_);
  std::size_t equal = 0, others = 0;
  const GraphCode* before = nullptr;  // the simplest one of another class
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const auto members = classes_.of(c);
    const GraphCode& simplest = *std::ranges::min_element(members, {}, &GraphCode::count);
    if (roots_of(members.back(), table_).size() > 1) continue;
    for (const GraphCode& from : members) {
      if (from == simplest) continue;
      EXPECT_TRUE(derives(made, pair(from, simplest), 3))
          << rule_text("r", pair(from, simplest), table_.forms, {});
      ++equal;
    }
    if (before != nullptr &&
        leaves_of(to_term(*before, table_)) == leaves_of(to_term(members.back(), table_))) {
      EXPECT_FALSE(derives(made, pair(members.back(), *before), 3));
      ++others;
    }
    before = &simplest;
  }
  EXPECT_GE(equal, 14u);
  EXPECT_GE(others, 2u);
  for (std::size_t r = 0; r < made.rules.size(); ++r) {
    Generation rest = made;
    rest.rules.erase(rest.rules.begin() + static_cast<std::ptrdiff_t>(r));
    EXPECT_FALSE(derives(rest, made.rules[r].terms, 1)) << made.rules[r].lines[0];
  }
}

TEST_F(PrunerTest, RulesDoNotDependOnThreadsAndThereAreNoneWhereTheTimeIsOver) {
  const std::string text = prune(classes_).rules_text();
  EXPECT_EQ(prune(classes_, 3).rules_text(), text);
  for (const std::size_t patience : {0, 5, 20}) EXPECT_TRUE(prune(classes_, 0, patience).rules.empty());
}

// As of a class of graphs that are equal by accident: on shapes of the table alone.
TEST_F(PrunerTest, GraphsThatDifferOnOtherShapesMakeNoRule) {
  GraphClasses accident;
  accident.members = {classes_.of(0).front(), classes_.of(classes_.size() - 1).front()};
  std::ranges::sort(accident.members);
  accident.begins = {0, 2};
  EXPECT_TRUE(prune(accident).rules.empty());
}

}  // namespace
}
