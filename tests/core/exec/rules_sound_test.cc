// The shipped rules on real models: every site that a short random walk meets is checked in fp64.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "core/base/rng.h"
#include "core/exec/site/site_check.h"
#include "core/onnx/import.h"
#include "core/rules/match/match_index.h"
#include "core/rules/set/rule_set.h"
#include "support/models.h"

namespace regraft::exec {
namespace {

struct Walk {
  const char* model;
  int steps;
};

class RulesSound : public ::testing::TestWithParam<Walk> {};

constexpr std::uint64_t kSeed = 31;

/// Applies the match to the graph, checks the site, and leaves it applied.
void check(graph::Graph& graph, const rules::RuleSet& rules, const rules::Match& match) {
  const graph::Graph before = graph;
  const rules::Rewrite rewrite = rules::apply(graph, rules, match);
  const SiteReport report = check_site(before, graph, rewrite, {});
  EXPECT_TRUE(report.passes) << rules.info(match.rule).name << ", seed " << kSeed << ": " << report.reason;
}

TEST_P(RulesSound, OnEverySiteOfAWalk) {
  const rules::RuleSet rules =
      rules::RuleSet::load(std::filesystem::path(REGRAFT_SOURCE_DIR) / "configs/rules");
  const onnx::ImportedModel model = onnx::import_model(regraft::testing::unpacked_model(GetParam().model));
  graph::Graph graph = model.graph();
  set_oracle_threads(1);
  Rng rng(kSeed, "walk");
  int sites = 0;
  for (int step = 0; step < GetParam().steps; ++step) {
    graph.commit();
    const rules::MatchIndex index(rules, graph);
    std::vector<rules::Match> chosen;  // one of each rule that matches
    for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
      const auto matches = index.matches(rule);
      if (!matches.empty()) chosen.push_back(matches[rng.below(matches.size())]);
    }
    ASSERT_FALSE(chosen.empty());
    for (const rules::Match& match : chosen) {
      const graph::Graph::Mark mark = graph.mark();
      check(graph, rules, match);
      graph.undo_to(mark);
      ++sites;
    }
    rules::apply(graph, rules, chosen[rng.below(chosen.size())]);
  }
  RecordProperty("sites", sites);
}

INSTANTIATE_TEST_SUITE_P(Models, RulesSound,
                         ::testing::Values(Walk{"nasrnn", 8}, Walk{"squeezenet1_1", 2}, Walk{"vit_b_16", 1}),
                         [](const auto& test) { return std::string(test.param.model); });

}  // namespace
}
