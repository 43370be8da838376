#include "launch/optimise/checked_search.h"

#include <gmock/gmock.h>

#include "core/base/find_config.h"
#include "core/exec/tiny_models.h"
#include "core/rules/match/match_index.h"

namespace regraft::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

/// y = Tanh(Tanh(Neg(Neg(x)))), with a rule that is right and one that is wrong.
class CheckedPaths : public ::testing::Test {
 protected:
  CheckedPaths() {
    exec::testing::ModelBuilder builder;
    builder.input("x", {4}).output("y", {4});
    builder.node("Neg", {"x"}, {"a"});
    builder.node("Neg", {"a"}, {"b"});
    builder.node("Tanh", {"b"}, {"c"});
    builder.node("Tanh", {"c"}, {"y"});
    model_.emplace(onnx::import_model(builder.write(dir_.path() / "m.onnx")));
    start_.emplace(*model_);
    const rules::MatchIndex index(rules_, (*start_)[0]);
    for (std::uint32_t rule = 0; rule < 2; ++rule) both_[0].push_back(index.matches(rule)[0]);
    feed_.points.emplace_back();
    costs_.emplace(*model_, feed_, cost::load_device(find_config("configs/devices/cpu-1core.toml")), *start_);
    options_.input = dir_.path() / "m.onnx";
    options_.search = "greedy";
    options_.accept = "cost";
    options_.quiet = true;
    report_.changes.taken_in = {{{{"right", 1}}, {}}, {{{"wrong", 1}}, {}}};
    search_.emplace(
        options_, rules_, *costs_, profile_, *start_, [](const char*, const auto& work) { work(); }, report_,
        log_);
  }

  Paths check(const Paths& paths) { return search_->check({paths}).paths; }

  TempDir dir_;
  std::optional<onnx::ImportedModel> model_;
  std::optional<ModelGraphs> start_;
  rules::RuleSet rules_ =
      rules::RuleSet::parse("right: Neg(Neg(x)) => x\nwrong: Tanh(Tanh(x)) => Tanh(x)\n", "t");
  Paths both_{1};
  exec::Feed feed_;
  std::optional<PointCosts> costs_;
  OptimiseOptions options_;
  OptimiseReport report_;
  rules::RewriteLog log_;
  const ProfileSummary profile_;
  std::optional<CheckedSearch> search_;
};

TEST_F(CheckedPaths, WhatIsRefusedWasNotTakenIn) {
  const Paths rest = check(both_);
  EXPECT_THAT(rest[0], SizeIs(1));
  EXPECT_THAT(report_.rules, ElementsAre(Pair("right", 1)));
  ASSERT_THAT(report_.refused_rules, SizeIs(1));
  ASSERT_THAT(report_.changes.taken_in, SizeIs(1));
  EXPECT_THAT(report_.changes.taken_in[0].rules, ElementsAre(Pair("right", 1)));
}

TEST_F(CheckedPaths, WhatIsFoundAnewWasNotTakenIn) {
  const Paths found = check({{both_[0][1]}});
  EXPECT_THAT(report_.rules, ElementsAre(Pair("right", 1))) << "by the search without the wrong rule";
  EXPECT_THAT(found[0], SizeIs(1));
  EXPECT_THAT(report_.changes.taken_in, IsEmpty());
}

TEST_F(CheckedPaths, WithoutTimeForBlameTheGoodBeginningStays) {
  const std::string why = "after one of entries 1 to 1: output y differs";
  EXPECT_THAT(search_->check_first({both_}, 1, why).paths[0], SizeIs(1));
  EXPECT_THAT(report_.rules, ElementsAre(Pair("right", 1)));
  ASSERT_THAT(report_.refused_rules, SizeIs(1));
  EXPECT_EQ(report_.refused_rules[0].text(),
            "left out, with all rewrites behind it, one by rule wrong: " + why);
}

TEST_F(CheckedPaths, ABeginningThatIsNotCheaperIsLeftOut) {
  rules_ = rules::RuleSet::parse("dearer: Neg(Neg(x)) => Sub(Add(x, x), x)\n", "t");
  const rules::MatchIndex index(rules_, (*start_)[0]);
  EXPECT_THAT(search_->check_first({{{index.matches(0)[0]}}}, 1, "why").paths[0], IsEmpty());
  EXPECT_THAT(report_.rules, IsEmpty());
}

TEST_F(CheckedPaths, WhatPassesStaysTakenIn) {
  check({{both_[0][0]}});
  ASSERT_THAT(report_.changes.taken_in, SizeIs(1));
  EXPECT_THAT(report_.changes.taken_in[0].rules, ElementsAre(Pair("right", 1)));
}

}  // namespace
}
