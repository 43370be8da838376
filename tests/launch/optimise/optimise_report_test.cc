#include "launch/optimise/optimise_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace regraft::launch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A result that was measured, and not accepted.
OptimiseReport kept(double low, double high) {
  OptimiseReport report;
  report.reason = "not faster";
  report.cost_before = report.cost_after = 10;
  report.nodes_before = report.nodes_after = 7;
  report.points = {{{{"n", 1}}, 10, 10, (low + high) / 2, low, high, 1, 1}};
  report.found_by = "greedy";
  report.found = FoundReport{5, 8, {{"relu-relu", 2}}};
  return report;
}

TEST(OptimiseReport, SaysWhatWasFoundEvenIfTheInputIsReturned) {
  const OptimiseReport report = kept(0.95, 1.05);
  EXPECT_THAT(report.text(), HasSubstr("7 -> 5 nodes by greedy"));
  EXPECT_THAT(report.text(), HasSubstr("2 x relu-relu"));
  const nlohmann::json json = nlohmann::json::parse(report.to_json());
  EXPECT_EQ(json["found"]["nodes"], 5);
  EXPECT_EQ(json["found"]["rules"], nlohmann::json({{"relu-relu", 2}}));
  EXPECT_EQ(json["nodes_after"], 7) << "what was emitted";
  EXPECT_TRUE(json["rules"].empty());
}

TEST(OptimiseReport, SaysWhatTheCheckLeftOut) {
  OptimiseReport report = kept(1.1, 1.2);
  report.check_notes = {"not compared at further sizes"};
  EXPECT_THAT(report.text(), HasSubstr("check     not compared at further sizes\n"));
  EXPECT_EQ(nlohmann::json::parse(report.to_json())["check_notes"], nlohmann::json(report.check_notes));
  report.check_notes = {std::string(500, 'x')};
  EXPECT_THAT(report.text(), HasSubstr("check     " + std::string(160, 'x') + " ...\n"));
  report.keep_input("not faster");
  EXPECT_THAT(report.check_notes, ::testing::IsEmpty()) << "the same bytes need no check";
}

TEST(OptimiseReport, WithoutAFindTheInputIsWhatIsThere) {
  OptimiseReport report = kept(0.95, 1.05);
  report.found.reset();
  EXPECT_THAT(report.text(), HasSubstr("7 -> 7 nodes, "));
  EXPECT_EQ(nlohmann::json::parse(report.to_json())["found"]["nodes"], 7);
}

TEST(OptimiseReport, MeasuringLongerIsNoRemedyForWhatIsSlower) {
  EXPECT_THAT(kept(0.95, 1.05).text(), HasSubstr("--seconds 600 tells"));
  EXPECT_THAT(kept(0.8, 0.9).text(), Not(HasSubstr("--seconds 600 tells")));
  EXPECT_THAT(kept(0.8, 0.9).text(), HasSubstr("--allow-domain"));
  OptimiseReport report = kept(1.1, 1.2);
  report.points.push_back({{{"n", 4}}, 40, 40, 0.85, 0.8, 0.9, 4, 5});
  EXPECT_THAT(report.text(), Not(HasSubstr("--seconds 600 tells")));
  EXPECT_THAT(report.text(), HasSubstr("name the sizes that you use with --bind"));
}

TEST(OptimiseReport, WhatCostsNothingIsNotInfinitelyFast) {
  OptimiseReport report = kept(0.95, 1.05);
  report.points[0] = {{}, 12.5, 0, {}, {}, {}, {}, {}};
  EXPECT_THAT(report.text(), HasSubstr("predicted 12.5 us -> nothing is left to run\n"));
}

TEST(OptimiseReport, NamesEachSizeThatCounts) {
  OptimiseReport report;
  report.dims = {{"n", 1, "bound"}};
  report.points = {{{{"n", 1}}, 10, 10, {}, {}, {}, {}, {}}, {{{"n", 64}}, 99, 99, {}, {}, {}, {}, {}}};
  EXPECT_THAT(report.text(), HasSubstr("n=1 (bound); too: n=64\n"));
}

TEST(OptimiseReport, AsksForSizesWhereNoneWereGiven) {
  OptimiseReport report;
  report.accepted = true;
  report.points = {{{{"n", 1}}, 10, 8, {}, {}, {}, {}, {}}};
  report.dims = {{"n", 1, "usual batch"}};
  EXPECT_THAT(report.text(), HasSubstr("name the sizes"));
  for (const char* given : {"bound", "as in --inputs"}) {
    report.dims[0].why = given;
    EXPECT_THAT(report.text(), Not(HasSubstr("name the sizes"))) << given;
  }
}

TEST(OptimiseReport, WhatSettingsAndRuntimesTakeIsBesideTheSecondsOfTheCall) {
  OptimiseReport report;
  report.spend("runtimes", 40);
  report.spend("search", 10);
  report.spend("trials", 7);
  EXPECT_EQ(report.spent_s(), 17);
  report.spend("settings", 30);
  EXPECT_EQ(report.spent_s(), 10);
}

TEST(OptimiseReport, ALongerSearchIsNoRemedyForOneThatEnded) {
  OptimiseReport report;
  report.points.resize(1);
  EXPECT_THAT(report.text(), Not(HasSubstr("--seconds 600 looks")));
  report.out_of_time = true;
  EXPECT_THAT(report.text(), HasSubstr("--seconds 600 looks"));
}

}  // namespace
}
