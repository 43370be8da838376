// What a description of an experiment may say so that nothing is said twice.
#include "launch/experiment/spec.h"

#include <gmock/gmock.h>

#include <functional>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "launch/experiment/plan.h"
#include "launch/experiment/publish.h"

namespace regraft::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kLender = R"(
title = "Lender"
question = "?"
cpu_minutes = 4
[matrix]
letter = ["a", "b"]
[values]
size = "10"
[small]
cpu_minutes = 1
letter = ["a"]
size = "2"
[[step]]
name = "make"
over = ["letter"]
run = ["-c", "echo '[{\"kind\": \"x\", \"n\": {size}}, {\"kind\": \"y\", \"n\": 5}, {\"kind\": \"z\", \"n\": 7}]' > {out}/x.json"]
shared = true
[[step]]
name = "own"
run = ["-c", "true"]
)";

constexpr const char* kBorrower = R"(
title = "Borrower"
question = "?"
cpu_minutes = 1
[from]
experiment = "lender"
steps = ["make"]
[small]
cpu_minutes = 1
[[step]]
name = "again"
over = ["letter"]
only = {letter = "b"}
run = ["-c", "cp {make}/x.json {out}/x.json"]
[[rows]]
table = "t"
step = ["make", "again"]
file = "x.json"
where = {"/kind" = ["x", "z"]}
columns = {kind = "/kind", n = "/n", note = "=as it is"}
[[summary]]
name = "s"
title = "S"
table = "t"
by = ["letter"]
value = ["n", "kind"]
)";

class Descriptions : public testing::Test {
 protected:
  Descriptions() {
    write("lender", kLender);
    write("borrower", kBorrower);
  }
  void write(const std::string& name, const std::string& text) {
    write_file_atomic(folder_.path() / (name + ".toml"), text);
  }
  ExperimentSpec load(bool small = false) { return load_experiment(folder_.path() / "borrower.toml", small); }
  ExperimentResult run(const std::string& name) {
    return run_experiment(load_experiment(folder_.path() / (name + ".toml"), false),
                          {"/bin/sh", folder_.path() / "out" / name, [](const std::string&) {}}, {});
  }
  std::string error_with(const std::string& from, const std::string& to) {
    std::string text = kBorrower;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    write("borrower", text.replace(at, from.size(), to));
    try {
      load();
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  }

  TempDir folder_;
};

TEST_F(Descriptions, RowsOfSeveralStepsAndKindsAreOneTable) {
  const ExperimentResult result = run("borrower");
  ASSERT_TRUE(result.complete());
  const Table& table = result.tables.front().second;
  EXPECT_THAT(table.columns(), ElementsAre("letter", "kind", "n", "note"));
  ASSERT_EQ(table.rows().size(), 6u);
  EXPECT_THAT(table.rows()[0], ElementsAre("a", "x", "10", "as it is"));
  EXPECT_THAT(table.rows()[1], ElementsAre("a", "z", "7", "as it is"));
  EXPECT_THAT(table.rows()[5], ElementsAre("b", "z", "7", "as it is"));
}

TEST_F(Descriptions, AKindThatNoRunOfTheStepsHasIsNamed) {
  error_with("[\"x\", \"z\"]", "[\"x\", \"zz\"]");
  try {
    run("borrower");
    ADD_FAILURE() << "no item is of kind zz";
  } catch (const ExperimentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("table 't' wants items with '/kind' = 'zz'"));
    EXPECT_THAT(error.what(), HasSubstr("x.json"));
  }
  std::string other = kBorrower;  // one kind in the runs of one step, the other in those of the other
  other.replace(other.find("cp {make}/x.json {out}/x.json"), 29,
                "echo '[{\\\"kind\\\": \\\"w\\\", \\\"n\\\": 1}]' > {out}/x.json");
  other.replace(other.find("[\"x\", \"z\"]"), 10, "[\"x\", \"w\"]");
  write("borrower", other);
  EXPECT_EQ(run("borrower").tables.front().second.rows().size(), 3u);
}

TEST_F(Descriptions, AStepMayBeOfSomeValuesOnly) {
  const ExperimentSpec spec = load();
  const std::vector<PlannedRun> plan = plan_runs(spec, "out/borrower");
  ASSERT_EQ(plan.size(), 3u);
  EXPECT_EQ(plan[2].label(spec), "again letter=b");
  EXPECT_THAT(plan[2].inputs, ElementsAre(1));
  EXPECT_EQ(plan_runs(load(true), "out").size(), 1u) << "the small form has no b";
}

TEST_F(Descriptions, BorrowedStepsAreTheLendersRunsAndWithinItsBudget) {
  EXPECT_EQ(load(true).values.at("size"), "2");
  const ExperimentResult lent = run("lender"), borrowed = run("borrower");
  EXPECT_TRUE(borrowed.runs[0].reused);
  EXPECT_TRUE(borrowed.runs[1].reused);
  EXPECT_FALSE(borrowed.runs[2].reused);
  EXPECT_DOUBLE_EQ(borrowed.borrowed_cpu_minutes, lent.runs[0].cpu_minutes + lent.runs[1].cpu_minutes);
  EXPECT_DOUBLE_EQ(borrowed.cpu_minutes, borrowed.runs[2].cpu_minutes);
  EXPECT_EQ(lent.borrowed_cpu_minutes, 0);
  ExperimentRecord record;
  record.cpu_minutes = 1.25;
  record.budget_cpu_minutes = 3;
  EXPECT_EQ(describe_use(record), "1.2 of 3 CPU-minutes");
  record.borrowed_cpu_minutes = 40;
  EXPECT_EQ(describe_use(record), "1.2 of 3 CPU-minutes, beside 40.0 of steps borrowed");
  record.cpu_minutes = 3.5;
  EXPECT_EQ(describe_use(record),
            "3.5 of 3 CPU-minutes, over the declared budget, beside 40.0 of steps borrowed");
  record.borrowed_cpu_minutes = 0;
  EXPECT_EQ(describe_use(record), "3.5 of 3 CPU-minutes, over the declared budget");
}

TEST_F(Descriptions, ASummaryOfSeveralValuesNamesEach) {
  Table table({"model", "a", "b"});
  for (const char* a : {"1", "2"}) table.add({"m", a, "10"});
  const Table summary = summarise(table, {"model"}, std::vector<std::string>{"a", "b"});
  EXPECT_THAT(summary.columns(), ElementsAre("model", "figure", "n", "iqm", "low", "high"));
  ASSERT_EQ(summary.rows().size(), 2u);
  EXPECT_EQ(summary.rows()[0][1], "a");
  EXPECT_EQ(summary.rows()[0][3], "1.5");
  EXPECT_THAT(summary.rows()[1], ElementsAre("m", "b", "2", "10", "10", "10"));
  EXPECT_EQ(summarise(table, {"model"}, std::vector<std::string>{"a"}).to_csv(),
            summarise(table, {"model"}, "a").to_csv());
}

TEST_F(Descriptions, WhatMeansNothingIsRefused) {
  EXPECT_THAT(error_with("experiment = \"lender\"", "experiment = \"lander\""),
              HasSubstr("no experiment 'lander'"));
  EXPECT_THAT(error_with("steps = [\"make\"]", "steps = [\"mke\"]"), HasSubstr("no step 'mke'"));
  EXPECT_THAT(error_with("steps = [\"make\"]", "steps = [\"make\", \"own\"]"), HasSubstr("is not shared"));
  EXPECT_THAT(error_with("name = \"again\"", "name = \"make\""), HasSubstr("two steps 'make'"));
  EXPECT_THAT(error_with("only = {letter", "only = {lettr"), HasSubstr("does not go over"));
  EXPECT_THAT(error_with("only = {letter = \"b\"}", "only = {letter = [\"b\", \"c\"]}"),
              HasSubstr("wants only 'c' of 'letter'"));
  EXPECT_THAT(error_with("step = [\"make\", \"again\"]", "step = []"), HasSubstr("empty list"));
  EXPECT_THAT(error_with("step = [\"make\", \"again\"]", "step = [\"make\", \"agin\"]"),
              HasSubstr("no step 'agin'"));
  EXPECT_THAT(error_with("value = [\"n\", \"kind\"]", "value = [\"n\", \"knd\"]"), HasSubstr("column 'knd'"));
}

TEST_F(Descriptions, TheSmallFormIsRefusedForAChoiceThatTheFullOneLacks) {
  error_with("only = {letter = \"b\"}", "only = {letter = \"c\"}");
  EXPECT_THROW(load(true), ExperimentError);
}

TEST_F(Descriptions, BorrowingInACircleIsRefused) {
  const std::string itself = error_with("experiment = \"lender\"", "experiment = \"borrower\"");
  EXPECT_THAT(itself, HasSubstr("leads back to 'borrower'"));
  EXPECT_THAT(itself, HasSubstr("borrower.toml:"));
  write("borrower", kBorrower);
  std::string lender = kLender;
  write("lender", lender.replace(lender.find("[matrix]"), 8,
                                 "[from]\nexperiment = \"borrower\"\nsteps = [\"again\"]\n[matrix]"));
  for (const bool small : {false, true}) {
    try {
      load(small);
      ADD_FAILURE() << "A borrows from B, B from A";
    } catch (const ExperimentError& error) {
      EXPECT_THAT(error.what(), HasSubstr("leads back to 'borrower'"));
      EXPECT_THAT(error.what(), HasSubstr("lender.toml:"));
    }
  }
}

}  // namespace
}  // namespace regraft::launch
