// What of a run's files becomes rows of a table.
#include "core/base/atomic_file.h"
#include "launch/experiment/extract.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <map>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/tensorboard.h"

namespace regraft::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string thrown(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Extraction, EventsBecomeRowsOfStepTagAndValue) {
  const TempDir folder;
  {
    EventWriter events(folder.path() / "events", SystemClock());
    events.scalar("return/m", 3, 0.5);
    events.scalar("loss", 3, 1);
  }
  ExperimentRows rows;
  rows.file = "events";
  rows.tags = "return/";
  rows.columns = {{"at", "step"}, {"who", "tag"}, {"r", "value"}};
  EXPECT_THAT(extract_rows(rows, folder.path()), ElementsAre(ElementsAre("3", "m", "0.5")));
}

TEST(Extraction, EventsMayCarryWhatOtherCurvesHaveAtTheirStep) {
  const TempDir folder;
  {
    EventWriter events(folder.path() / "events", SystemClock());
    for (const int update : {1, 2, 3}) events.scalar("return/m", update, 0.25 * update);
    for (const int update : {1, 3}) events.scalar("train/steps", update, 100 * update);
  }
  ExperimentRows rows;
  rows.file = "events";
  rows.tags = "return/";
  rows.columns = {{"steps", "@train/steps"}, {"cpu_seconds", "@train/cpu_seconds"}, {"r", "value"}};
  EXPECT_THAT(extract_rows(rows, folder.path()),
              ElementsAre(ElementsAre("100", "", "0.25"), ElementsAre("", "", "0.5"),
                          ElementsAre("300", "", "0.75")));
  rows.columns = {{"steps", "steps"}};
  EXPECT_THROW(extract_rows(rows, folder.path()), ExperimentError);
}

TEST(Extraction, AColumnMayBeTheSameTextInEveryRowOfAnyFile) {
  const TempDir folder;
  {
    EventWriter events(folder.path() / "events", SystemClock());
    events.scalar("return/m", 3, 0.5);
  }
  write_file_atomic(folder.path() / "x.csv", std::string("a,b\n1,2\n"));
  write_file_atomic(folder.path() / "x.json", std::string(R"([{"a": 1}])"));
  ExperimentRows rows;
  for (const auto& [file, source] :
       std::map<std::string, std::string>{{"events", "step"}, {"x.csv", "b"}, {"x.json", "/a"}}) {
    rows.file = file;
    rows.columns = {{"round", "=first"}, {"value", source}};
    const auto cells = extract_rows(rows, folder.path());
    ASSERT_EQ(cells.size(), 1u) << file;
    EXPECT_EQ(cells[0][0], "first") << file;
  }
}

TEST(Extraction, WhatIsNotThereIsNamed) {
  const TempDir folder;
  write_file_atomic(folder.path() / "x.json", std::string(R"({"a": [1, "b"]})"));
  ExperimentRows rows;
  rows.file = "x.json";
  const auto error = [&](const std::string& source) {
    rows.columns = {{"c", source}};
    return thrown([&] { extract_rows(rows, folder.path()); });
  };
  EXPECT_THAT(error("/b"), HasSubstr("no '/b'"));
  EXPECT_THAT(error("/a:mean"), HasSubstr("no number"));
  EXPECT_THAT(error("/a:sum"), HasSubstr("reduction"));
  EXPECT_EQ(error("/a:count"), "nothing");
  write_file_atomic(folder.path() / "x.json", std::string("{\"a\": "));
  EXPECT_THAT(error("/a"), HasSubstr("x.json"));
}

TEST(Extraction, EachValueThatIsWantedIsOfSomeItemOfSomeFile) {
  const TempDir folder;
  const auto one = folder.path() / "one", other = folder.path() / "other";
  for (const auto& path : {one, other}) std::filesystem::create_directories(path);
  write_file_atomic(one / "x.json", std::string(R"([{"kind": "a"}, {"kind": "b"}])"));
  write_file_atomic(other / "x.json", std::string(R"([{"kind": "c"}])"));
  ExperimentRows rows;
  rows.table = "t";
  rows.file = "x.json";
  rows.where = {{"/kind", {"a", "c"}}};
  EXPECT_EQ(thrown([&] { require_wanted(rows, {one, other}); }), "nothing");
  const std::string error = thrown([&] { require_wanted(rows, {one}); });
  EXPECT_THAT(error, HasSubstr("table 't' wants items with '/kind' = 'c'"));
  EXPECT_THAT(error, HasSubstr("x.json"));
}

}  // namespace
}  // namespace regraft::launch
