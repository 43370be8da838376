#include "launch/optimise/rewrite_groups.h"

#include <gmock/gmock.h>

#include "core/exec/tiny_models.h"
#include "core/onnx/import.h"
#include "core/rules/match/match_index.h"

namespace regraft::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr const char* kGroupRules =
    "double-neg: Neg(Neg(x)) => x\n"
    "part: Relu(x) => Sigmoid(Tanh(x))\n"
    "join: Sigmoid(Tanh(x)) => Exp(x)\n";

/// Two rows of Neg, Neg, Relu: one of 4, one of 8 numbers.
class Groups : public ::testing::Test {
 protected:
  Groups() {
    exec::testing::ModelBuilder builder;
    for (const int size : {4, 8}) {
      const std::string n = std::to_string(size);
      builder.input("x" + n, {size}).output("y" + n, {size});
      builder.node("Neg", {"x" + n}, {"a" + n});
      builder.node("Neg", {"a" + n}, {"b" + n});
      builder.node("Relu", {"b" + n}, {"c" + n});
      builder.node("Relu", {"c" + n}, {"y" + n});
    }
    model_.emplace(onnx::import_model(builder.write(dir_.path() / "m.onnx")));
    start_.emplace(*model_);
  }

  /// The first match of each rule named, one after the other.
  Paths path(const std::vector<std::uint32_t>& rule_numbers) {
    graph::Graph graph = (*start_)[0];
    Paths paths(1);
    for (const std::uint32_t rule : rule_numbers) {
      const rules::MatchIndex index(rules_, graph);
      paths[0].push_back(index.matches(rule)[0]);
      rules::apply(graph, rules_, paths[0].back());
    }
    return paths;
  }

  std::vector<RewriteGroup> groups(const Paths& paths, std::size_t most = 12) {
    const std::vector<double> saved_us(paths[0].size(), 1);
    return rewrite_groups(*start_, rules_, paths, saved_us, most);
  }

  TempDir dir_;
  std::optional<onnx::ImportedModel> model_;
  std::optional<ModelGraphs> start_;
  rules::RuleSet rules_ = rules::RuleSet::parse(kGroupRules, "t");
};

TEST_F(Groups, WhatStandsOnAnotherRewriteIsOfItsGroup) {
  const auto found = groups(path({0, 1, 2}));  // the last takes what the second made
  ASSERT_THAT(found, SizeIs(4)) << "and each of two rules: the third's rewrites are a group already";
  EXPECT_THAT(found[0].rules, ElementsAre(Pair("join", 1), Pair("part", 1)));
  EXPECT_EQ(found[0].saved_us, 2);
  EXPECT_THAT(found[1].rules, ElementsAre(Pair("double-neg", 1)));
}

TEST_F(Groups, TheSameOnTensorsOfOtherSizesIsAnotherGroup) {
  const auto found = groups(path({0, 0}));
  ASSERT_THAT(found, SizeIs(2)) << "and the rule's are all";
  EXPECT_THAT(found[0].rules, ElementsAre(Pair("double-neg", 1)));
}

TEST_F(Groups, TheSameOnTensorsOfOneSizeIsOneGroup) {
  const auto found = groups(path({1, 1, 1, 1, 0}));  // two Relus of each size
  ASSERT_THAT(found, SizeIs(4));
  EXPECT_THAT(found[0].rules, ElementsAre(Pair("part", 2)));
  EXPECT_THAT(found[1].rules, ElementsAre(Pair("part", 2)));
  EXPECT_THAT(found[3].rules, ElementsAre(Pair("part", 4)));
}

TEST_F(Groups, AllRewritesAreNoGroup) {
  const auto found = groups(path({1, 2}));
  ASSERT_THAT(found, SizeIs(2)) << "by rule";
  EXPECT_THAT(found[0].rules, SizeIs(1));
}

TEST_F(Groups, OfTooManyThoseThatSaveLeastAreJoined) {
  const Paths paths = path({0, 0, 1});
  const std::vector<double> saved_us{1, 5, 3};
  const auto found = rewrite_groups(*start_, rules_, paths, saved_us, 2);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].saved_us, 5);
  EXPECT_EQ(found[1].saved_us, 4);
  EXPECT_THAT(found[1].rewrites, SizeIs(2));
}

TEST_F(Groups, LeftOutTheyTakeWithThemWhatStandsOnThem) {
  const Paths paths = path({0, 1, 2});
  EXPECT_THAT(paths_without(*start_, rules_, paths, {{0, 1}})[0], SizeIs(1));
  EXPECT_THAT(paths_without(*start_, rules_, paths, {{0, 0}})[0], SizeIs(2));
}

}  // namespace
}
