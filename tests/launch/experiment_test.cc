#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <functional>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "launch/experiment/plan.h"
#include "launch/experiment/plot.h"
#include "launch/experiment/publish.h"
#include "launch/experiment/report.h"

namespace regraft::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string thrown(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

/// An experiment whose program is the shell: two steps, the second reads what the runs of the first wrote.
constexpr const char* kShellExperiment = R"(
title = "Numbers"
question = "What do they add up to?"
cpu_minutes = 1
[matrix]
letter = ["a", "b"]
seed = ["1", "2", "3"]
[values]
factor = "10"
[small]
cpu_minutes = 0.5
seed = ["1"]
factor = "2"
[[step]]
name = "make"
over = ["letter", "seed"]
run = ["-c", "echo run >> {out}/calls; echo '{\"items\": [{\"n\": '$(({seed} * {factor}))', \"list\": [1, {seed}]}]}' > {out}/x.json"]
[[step]]
name = "count"
over = ["letter"]
run = ["-c", "ls \"$@\" | wc -l > {out}/count; echo letter,files > {out}/c.csv; echo '{letter},'$(cat {out}/count) >> {out}/c.csv", "sh", "{all:make}/x.json"]
[[rows]]
table = "numbers"
step = "make"
file = "x.json"
each = "/items"
columns = {n = "/n", last = "/list:last", mean = "/list:mean"}
[[rows]]
table = "numbers"
step = "count"
file = "c.csv"
columns = {files = "files"}
[[plot]]
kind = "bars"
name = "bars"
title = "N"
table = "numbers"
x = "letter"
y = "n"
[[summary]]
name = "sums"
title = "Interquartile means"
table = "numbers"
by = ["letter"]
value = "n"
)";

class ShellExperiment : public testing::Test {
 protected:
  ShellExperiment() { write(kShellExperiment); }

  void write(const std::string& text) { write_file_atomic(file_, text); }
  ExperimentResult run(bool small = false) {
    lines_.clear();
    return run_experiment(load_experiment(file_, small),
                          {"/bin/sh", out_, [this](const std::string& line) { lines_.push_back(line); }}, {});
  }
  std::string replaced(const std::string& from, const std::string& to) const {
    std::string text = kShellExperiment;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  std::string load_error(const std::string& from, const std::string& to) {
    write(replaced(from, to));
    return thrown([&] { plan_runs(load_experiment(file_, false), out_); });
  }

  TempDir folder_;
  fs::path file_ = folder_.path() / "numbers.toml", out_ = folder_.path() / "out";
  std::vector<std::string> lines_;
};

TEST_F(ShellExperiment, EveryCombinationRunsAndItsRowsCarryItsValues) {
  const ExperimentResult result = run();
  EXPECT_TRUE(result.complete());
  ASSERT_EQ(result.runs.size(), 8u);
  const Table table = parse_csv(read_file(out_ / "numbers.csv"), "numbers.csv");
  EXPECT_THAT(table.columns(), ElementsAre("letter", "seed", "n", "last", "mean", "files"));
  ASSERT_EQ(table.rows().size(), 8u);
  EXPECT_THAT(table.rows()[1], ElementsAre("a", "2", "20", "2", "1.5", ""));
  EXPECT_THAT(table.rows()[6], ElementsAre("a", "", "", "", "", "3"));
}

TEST_F(ShellExperiment, WhatIsDoneIsNotDoneAgainUnlessItsCommandChanged) {
  run();
  const ExperimentResult again = run();
  for (const RunRecord& record : again.runs) EXPECT_TRUE(record.reused) << record.label;
  const fs::path calls = out_ / "runs/make/letter=a,seed=1/calls";
  EXPECT_EQ(read_file(calls), "run\n");
  write(replaced("factor = \"10\"", "factor = \"20\""));
  const ExperimentResult changed = run();
  EXPECT_FALSE(changed.runs.front().reused);
  EXPECT_EQ(changed.tables.front().second.rows()[0][2], "20");
}

TEST_F(ShellExperiment, WhatIsDoneIsDoneAgainWhenItsConfigFileChanged) {
  const fs::path config = folder_.path() / "preset.toml";
  write_file_atomic(config, "rate = 1");
  write(replaced("[[rows]]", "[[step]]\nname = \"with\"\nrun = [\"-c\", \"true\", \"sh\", \"--config\", \"" +
                                 config.string() + "\"]\n[[rows]]"));
  run();
  EXPECT_TRUE(run().runs.back().reused);
  write_file_atomic(config, "rate = 2");
  const ExperimentResult changed = run();
  EXPECT_FALSE(changed.runs.back().reused);
  EXPECT_TRUE(changed.runs.front().reused);
}

TEST_F(ShellExperiment, AnInterruptedRunIsResumedByItsResumeArguments) {
  write(replaced("[[rows]]", R"([[step]]
name = "long"
run = ["-c", "echo \"$@\" >> {out}/calls; test \"$1\" = again", "sh"]
resume = ["again"]
[[rows]])"));
  EXPECT_FALSE(run().complete());
  EXPECT_TRUE(run().complete());
  EXPECT_EQ(read_file(out_ / "runs/long/once/calls"), "\nagain\n");
}

TEST_F(ShellExperiment, ARunThatEndedBeforeItLeftAnythingBeginsAnew) {
  write(replaced("[[rows]]", "[[step]]\nname = \"long\"\nrun = [\"-c\", \"echo $#; test -e " +
                                 (folder_.path() / "ready").string() +
                                 "\", \"sh\"]\nresume = [\"again\"]\n[[rows]]"));
  EXPECT_FALSE(run().complete());
  write_file_atomic(folder_.path() / "ready", "");
  EXPECT_TRUE(run().complete());
  EXPECT_EQ(read_file(out_ / "runs/long/once/log.txt"), "0\n") << "there was nothing to resume";
}

TEST_F(ShellExperiment, AFolderIsMadeForAnExperimentAllOfWhoseRunsAreSharedAndDone) {
  std::string text = replaced("name = \"make\"\n", "name = \"make\"\nshared = true\n");
  write(text.replace(text.find("name = \"count\"\n"), 15, "name = \"count\"\nshared = true\n"));
  run();
  out_ = folder_.path() / "other";
  for (const RunRecord& record : run().runs) EXPECT_TRUE(record.reused) << record.label;
  EXPECT_TRUE(fs::exists(out_ / "numbers.csv"));
}

TEST_F(ShellExperiment, AFailedRunIsNamedWithTheEndOfItsLogAndTheOthersGoOn) {
  write(replaced("echo run >> {out}/calls;", "test {letter}{seed} != b2 || { echo broken >&2; exit 7; };"));
  const ExperimentResult result = run();
  EXPECT_FALSE(result.complete());
  EXPECT_THAT(result.runs[7].failure, HasSubstr("not run: needs make letter=b seed=2"));
  EXPECT_THAT(result.runs[4].failure, HasSubstr("exit code 7"));
  EXPECT_THAT(result.runs[4].failure, HasSubstr("broken"));
  EXPECT_TRUE(result.runs[5].failure.empty());
  EXPECT_EQ(result.tables.front().second.rows().size(), 6u);
}

TEST_F(ShellExperiment, WhatIsDoneIsDoneAgainWhenARuleChanged) {
  const fs::path before = fs::current_path(), rules = folder_.path() / "here/configs/rules";
  fs::create_directories(rules);
  fs::current_path(folder_.path() / "here");
  write_file_atomic(rules / "a.rules", "one");
  run();
  for (const RunRecord& record : run().runs) EXPECT_TRUE(record.reused) << record.label;
  write_file_atomic(rules / "a.rules", "another");
  for (const RunRecord& record : run().runs) EXPECT_FALSE(record.reused) << record.label;
  fs::current_path(before);
}

TEST_F(ShellExperiment, WhatReadsFromARunThatIsDoneAgainIsDoneAgain) {
  run();
  fs::remove(out_ / "runs/make/letter=a,seed=1/done.json");
  const ExperimentResult again = run();
  EXPECT_FALSE(again.runs[0].reused);
  EXPECT_TRUE(again.runs[1].reused);
  EXPECT_FALSE(again.runs[6].reused);  // counts the files of letter a
  EXPECT_TRUE(again.runs[7].reused);
}

TEST_F(ShellExperiment, ExperimentsShareRunsOfOneCommand) {
  const std::string shared = replaced("name = \"make\"\n", "name = \"make\"\nshared = true\n");
  write(shared);
  const ExperimentResult first = run();
  out_ = folder_.path() / "other";
  const ExperimentResult second = run();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(second.runs[i].reused) << second.runs[i].label;
  EXPECT_FALSE(second.runs[6].reused);
  EXPECT_EQ(second.tables.front().second.to_csv(), first.tables.front().second.to_csv());
  std::string text = shared;
  write(text.replace(text.find("factor = \"10\""), 13, "factor = \"30\""));
  EXPECT_FALSE(run().runs.front().reused);
  write(replaced("name = \"make\"\n", "name = \"make\"\nshared = 1\n"));
  EXPECT_THAT(thrown([&] { load_experiment(file_, false); }), HasSubstr("neither true nor false"));
}

TEST_F(ShellExperiment, RowsMayBeOfSomeItemsOfAList) {
  const std::string rows = R"([[rows]]
table = "lists"
step = "scores"
file = "x.json"
where = {"/kind" = "b"}
each = "/list"
columns = {value = ""}
[[plot]])";
  const std::string step = R"([[step]]
name = "scores"
run = ["-c", "echo '[{\"kind\": \"a\", \"list\": [1]}, {\"kind\": \"b\", \"list\": [2, 3]}]' > {out}/x.json"]
[[rows]])";
  std::string text = replaced("[[plot]]", rows);
  text.replace(text.find("[[rows]]"), 8, step);
  write(text);
  const ExperimentResult result = run();
  const Table& table = result.tables.back().second;
  ASSERT_EQ(table.rows().size(), 2u);
  EXPECT_EQ(table.rows()[1][0], "3");
  text.replace(text.find("= \"b\"}"), 6, "= \"c\"}");
  write(text);
  EXPECT_THAT(thrown([&] { run(); }), HasSubstr("none of its items"));
}

TEST_F(ShellExperiment, AStopLeavesTheRestForTheNextCall) {
  std::stop_source stop;
  const ExperimentSpec spec = load_experiment(file_, false);
  int finished = 0;
  const ExperimentResult result = run_experiment(spec,
                                                 {"/bin/sh", out_,
                                                  [&](const std::string&) {
                                                    if (++finished == 2) stop.request_stop();
                                                  }},
                                                 stop.get_token());
  EXPECT_FALSE(result.complete());
  EXPECT_EQ(result.runs[2].failure, "not run");
  EXPECT_TRUE(run().complete());
}

TEST_F(ShellExperiment, TheSmallFormReplacesValues) {
  const ExperimentResult result = run(true);
  EXPECT_EQ(result.runs.size(), 4u);
  EXPECT_EQ(result.tables.front().second.rows()[0][2], "2");
}

TEST_F(ShellExperiment, AWrongDescriptionIsRefusedWithItsLine) {
  EXPECT_THAT(load_error("question =", "qestion ="), HasSubstr("'question' is missing"));
  EXPECT_THAT(load_error("factor = \"10\"", "factor = 10"), HasSubstr("numbers.toml:9"));
  write(replaced("[small]\ncpu_minutes = 0.5\nseed", "[small]\ncpu_minutes = 0.5\nsead"));
  EXPECT_THAT(thrown([&] { load_experiment(file_, true); }),
              HasSubstr("neither in [matrix] nor in [values]"));
}

TEST_F(ShellExperiment, ANameThatMeansNothingIsRefused) {
  EXPECT_THAT(load_error("{all:make}", "{all:mak}"), HasSubstr("names 'mak'"));
  EXPECT_THAT(load_error("{all:make}", "{make}"), HasSubstr("means 3 runs"));
  EXPECT_THAT(load_error("over = [\"letter\"]", "over = [\"lettr\"]"),
              HasSubstr("'lettr', which is not in [matrix]"));
  EXPECT_THAT(load_error("table = \"numbers\"\nx", "table = \"figures\"\nx"),
              HasSubstr("which no [[rows]] fills"));
  EXPECT_THAT(load_error("y = \"n\"", "y = \"m\""), HasSubstr("column 'm' of table 'numbers'"));
  EXPECT_THAT(load_error("value = \"n\"", "value = \"m\""), HasSubstr("summary 'sums' reads column 'm'"));
  EXPECT_THAT(load_error("name = \"sums\"", "name = \"numbers\""), HasSubstr("would overwrite the table"));
  EXPECT_THAT(load_error("kind = \"bars\"", "kind = \"pie\""),
              HasSubstr("choose lines, bars, heat or scatter"));
}

TEST_F(ShellExperiment, TheReportHoldsTablesPicturesAndCommands) {
  publish(load_experiment(file_, false), run(), false, out_);
  const std::string page = report_html({out_});
  EXPECT_THAT(page, HasSubstr("What do they add up to?"));
  EXPECT_THAT(page, HasSubstr("<td>a</td><td>3</td><td>20</td>"));
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, HasSubstr("make letter=b seed=3"));
  EXPECT_THAT(thrown([&] { report_html({folder_.path()}); }),
              HasSubstr("neither an experiment's nor a run's"));
}

TEST(ShippedExperiments, AllLoadInBothFormsAndPlanTheirRuns) {
  int found = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(REGRAFT_SOURCE_DIR) / "configs/experiments")) {
    if (entry.path().extension() != ".toml") continue;
    ++found;
    for (const bool small : {false, true}) {
      const ExperimentSpec spec = load_experiment(entry.path(), small);
      EXPECT_FALSE(plan_runs(spec, "out").empty()) << entry.path();
      EXPECT_GT(spec.cpu_minutes, 0) << entry.path();
    }
    EXPECT_LE(load_experiment(entry.path(), true).cpu_minutes, 20) << entry.path();
  }
  EXPECT_GE(found, 14) << "the experiments of the design";
}

TEST(Tables, CsvComesBackAsItWas) {
  Table table({"a", "b, c"});
  table.add({"1", "say \"x\""});
  table.add({"", "two\nlines"});
  const Table again = parse_csv(table.to_csv(), "t");
  EXPECT_EQ(again.columns(), table.columns());
  EXPECT_EQ(again.rows(), table.rows());
  EXPECT_THAT(thrown([] { parse_csv("a,b\n1\n", "t.csv"); }), HasSubstr("t.csv:2"));
  EXPECT_THAT(thrown([] { parse_csv("a\n\"1\n", "t.csv"); }), HasSubstr("never closed"));
  EXPECT_THAT(thrown([] { parse_csv("", "t.csv"); }), HasSubstr("empty"));
}

TEST(Tables, SummariesAreInterquartileMeansByGroup) {
  Table table({"model", "value"});
  for (const char* value : {"0", "1", "2", "100"}) table.add({"m", value});
  for (const char* none : {"nan?", "nan", "inf"}) table.add({"n", none});
  table.add({"n", "5"});
  const Table summary = summarise(table, {"model"}, "value");
  ASSERT_EQ(summary.rows().size(), 2u);
  EXPECT_EQ(summary.rows()[0][1], "4");
  EXPECT_EQ(summary.rows()[0][2], "1.5");
  EXPECT_THAT(summary.rows()[1], ElementsAre("n", "1", "5", "5", "5"));
}

TEST(Plots, GnuplotDrawsEveryKind) {
  const TempDir folder;
  Table table({"x", "y", "name", "value"});
  for (int i = 0; i < 100; ++i)
    table.add({std::to_string(i), std::to_string(i * i % 17),
               i % 2 == 0 ? "ev\"en_{ `echo $((6*7))` o'clock" : "odd", "3"});
  for (const auto kind : {ExperimentPlot::Kind::lines, ExperimentPlot::Kind::bars, ExperimentPlot::Kind::heat,
                          ExperimentPlot::Kind::scatter}) {
    ExperimentPlot plot{kind, "p", "A \"title\" of `echo $((6*7))`", "t", "x", "y", "name", "value", "", ""};
    if (kind == ExperimentPlot::Kind::bars || kind == ExperimentPlot::Kind::heat) plot.x = "name";
    const fs::path svg = folder.path() / "p.svg";
    draw(plot_script(plot, table), svg);
    EXPECT_THAT(read_file(svg), HasSubstr("</svg>"));
    EXPECT_THAT(read_file(svg), HasSubstr("`echo $((6*7))`")) << "text stays text";
    fs::remove(svg);
    plot.x = "nowhere";
    EXPECT_THAT(thrown([&] { plot_script(plot, table); }), HasSubstr("no column 'nowhere'"));
  }
  EXPECT_THAT(thrown([&] { draw("plot nonsense(", folder.path() / "q.svg"); }), HasSubstr("gnuplot refused"));
}

TEST(Plots, WhatAHeatMapShowsIsATableToo) {
  const TempDir folder;
  ExperimentSpec spec;
  spec.plots = {{ExperimentPlot::Kind::heat, "used", "Uses", "uses", "model", "rule", "", "count", "", ""}};
  Table table({"model", "rule", "count"});
  for (const auto& [model, rule, count] :
       {std::array{"m", "fuse", "2"}, {"m", "fold", "1"}, {"n", "fold", "5"}, {"n", "fold", "1"}})
    table.add({model, rule, count});
  ExperimentResult result;
  result.tables = {{"uses", table}};
  publish(spec, result, false, folder.path());
  EXPECT_EQ(read_file(folder.path() / "used_figures.csv"), "rule,m,n\nfuse,2,\nfold,1,6\n");
  const std::string page = report_html({folder.path()});
  EXPECT_THAT(page, HasSubstr("<td>fold</td><td>1</td><td>6</td>"));
  EXPECT_THAT(page, HasSubstr("<svg"));
}

TEST(Plots, WithoutPointsAreLeftOut) {
  const TempDir folder;
  ExperimentSpec spec;
  ExperimentPlot plot;
  plot.name = plot.title = "by_cpu";
  plot.table = "returns";
  plot.x = "cpu";
  plot.y = "return";
  spec.plots = {plot};
  ExperimentResult result;
  Table table({"cpu", "return"});
  table.add({"", "0.5"});  // a run of before CPU time was a curve
  result.tables = {{"returns", table}};
  EXPECT_TRUE(publish(spec, result, false, folder.path()).plots.empty());
  table.add({"3", "0.6"});
  result.tables = {{"returns", table}};
  EXPECT_EQ(publish(spec, result, false, folder.path()).plots.size(), 1u);
}

}  // namespace
}  // namespace regraft::launch
