// How far methods stay behind the best known, and the experiment that asks for it.
#include "launch/experiment/gap.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "launch/experiment/plan.h"
#include "launch/experiment/publish.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Table table_of(const std::vector<std::vector<std::string>>& rows) {
  Table table({"model", "method", "return"});
  for (const auto& row : rows) table.add(row);
  return table;
}

const ExperimentGap kGap{.name = "gaps",
                         .title = "",
                         .table = "returns",
                         .against = {"scripts"},
                         .by = "model",
                         .method = "method",
                         .value = "return",
                         .of = {"greedy", "taso"}};

TEST(Gaps, AreInPercentOfTheBestCostOfAnyTable) {
  const Table result = gaps(
      kGap,
      {{"returns", table_of({{"v", "greedy", "0.2"},
                             {"v", "taso", "0.19"},
                             {"v", "greedy", "0.25"},
                             {"w", "greedy", "0.5"},
                             {"w", "sweep", "0.6"},
                             {"w", "taso", "none"}})},
       {"scripts", table_of({{"v", "script x", "0.5"}, {"v", "greedy", "0.9"}, {"w", "script y", "-1"}})},
       {"other", table_of({{"v", "cheat", "0.99"}})}});
  EXPECT_THAT(result.columns(), ElementsAre("model", "best", "best_by", "gap_greedy", "gap_taso"));
  ASSERT_EQ(result.rows().size(), 2u);
  // Costs 0.1 (greedy's of the other table), 0.75 and 0.81.
  EXPECT_THAT(result.rows()[0], ElementsAre("v", "0.9", "greedy", "650.00", "710.00"));
  // Costs 0.4 and 0.5; TASO's search has none.
  EXPECT_THAT(result.rows()[1], ElementsAre("w", "0.6", "sweep", "25.00", ""));
}

TEST(Gaps, ABestThatNoMethodMissesIsAGapOfNothing) {
  const Table result = gaps(kGap, {{"returns", table_of({{"v", "greedy", "0.1"}, {"v", "taso", "0.1"}})}});
  EXPECT_THAT(result.rows().at(0), ElementsAre("v", "0.1", "greedy", "0.00", "0.00"));
}

TEST(Gaps, AnExperimentMustHaveWhatTheyRead) {
  const TempDir folder;
  const auto problem = [&](const std::string& gap) -> std::string {
    const fs::path file = folder.path() / "x.toml";
    write_file_atomic(file,
                      "title = \"t\"\nquestion = \"q\"\ncpu_minutes = 1\n[small]\ncpu_minutes = 1\n"
                      "[[step]]\nname = \"s\"\nrun = [\"x\"]\n[[rows]]\ntable = \"t\"\nstep = \"s\"\n"
                      "file = \"x.json\"\ncolumns = {m = \"/m\", r = \"/r\"}\n[[gap]]\n" +
                          gap);
    try {
      load_experiment(file, false);
    } catch (const ExperimentError& error) {
      return error.what();
    }
    return "nothing";
  };
  const std::string good =
      "name = \"g\"\ntitle = \"g\"\nby = \"m\"\nmethod = \"m\"\nvalue = \"r\"\nof = [\"a\"]\n";
  EXPECT_EQ(problem(good + "table = \"t\"\n"), "nothing");
  EXPECT_THAT(problem(good + "table = \"u\"\n"), HasSubstr("'u'"));
  EXPECT_THAT(problem(good + "table = \"t\"\nagainst = [\"v\"]\n"), HasSubstr("'v'"));
  EXPECT_THAT(problem("name = \"t\"" + good.substr(10) + "table = \"t\"\n"), HasSubstr("overwrite"));
  EXPECT_THAT(problem(good + "table = \"t\"\nunless = \"x\"\n"), HasSubstr("unless"));
}

/// The figures that README quotes stand in this folder, and so do the descriptions they come from.
TEST(Gaps, HardnessKnowsScriptsAndComparesWithAllThatIsKnown) {
  const fs::path file = fs::path(REGRAFT_SOURCE_DIR) / "configs/experiments/hardness.toml";
  for (const bool small : {false, true}) {
    const ExperimentSpec spec = load_experiment(file, small);
    ASSERT_EQ(spec.gaps.size(), 1u);
    EXPECT_THAT(spec.gaps[0].against, ElementsAre("returns_long", "scripts"));
    for (const char* method : {"greedy", "taso", "sweep"}) EXPECT_THAT(spec.gaps[0].of, Contains(method));
    const std::size_t models = small ? 4 : 8;
    const std::vector<PlannedRun> plan = plan_runs(spec, "out");
    EXPECT_EQ(plan.size(), models * (4 + 1 + 1)) << "four searches, the longer ones, scripts";
    std::size_t with_scripts = 0;
    for (const PlannedRun& run : plan)
      with_scripts += std::ranges::find(run.arguments, "--scripts") != run.arguments.end() ? 1 : 0;
    EXPECT_EQ(with_scripts, models);
  }
}

TEST(Gaps, ArePublishedBesideTheSummaries) {
  const TempDir folder;
  ExperimentSpec spec;
  spec.gaps = {kGap};
  spec.gaps[0].title = "how far";
  ExperimentResult result;
  result.tables = {{"returns", table_of({{"v", "greedy", "0.2"}})}};
  const ExperimentRecord record = publish(spec, result, false, folder.path());
  ASSERT_EQ(record.summaries.size(), 1u);
  EXPECT_EQ(record.summaries[0].second, "how far");
  EXPECT_EQ(read_file(folder.path() / "gaps.csv"),
            "model,best,best_by,gap_greedy,gap_taso\nv,0.2,greedy,0.00,\n");
}

}  // namespace
}  // namespace regraft::launch
