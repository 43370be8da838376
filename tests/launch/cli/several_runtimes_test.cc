// Several runtimes in one call: small adapters of these tests, and OpenVINO where it is.
#include <gmock/gmock.h>

#include "launch/runtimes_fixture.h"

namespace regraft::launch {
namespace {

using testing::adapter;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::json_of;

class SeveralRuntimes : public testing::RuntimesTest {};

TEST_F(SeveralRuntimes, TheFastestResultOfAllRuntimesCounts) {
  const std::string both = runtime(adapter("3", "3")) + "," + runtime(adapter("4", "1"), "eight");
  const Captured result = run(optimise(both));
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_EQ(report.at("runtime"), "eight");
  EXPECT_TRUE(report.at("accepted")) << report.at("reason");
  EXPECT_NEAR(report.at("speedup"), 3, 0.4) << "over the input where that is fastest";
  EXPECT_NEAR(report.at("latency_before_ms"), 3, 0.4);
  EXPECT_GT(report.at("seconds").at("for seven"), 0);
  EXPECT_NEAR(report.at("runtimes")[0].at("latency_after_ms"), 3, 0.4);
  EXPECT_NEAR(report.at("runtimes")[1].at("latency_after_ms"), 1, 0.2);
  EXPECT_THAT(report.at("fastest").get<std::string>(), HasSubstr("the result in eight"));
  EXPECT_THAT(result.errors, HasSubstr("goes on for eight"));
}

TEST_F(SeveralRuntimes, ThoseFarFromTheFastestHaveNoTurn) {
  const Captured result =
      run(optimise(runtime(adapter("30", "1"), "thirty") + "," + runtime(adapter("4", "4"), "four") + "," +
                   runtime(adapter("2", "2"), "two")));
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_EQ(report.at("runtime"), "two");
  EXPECT_FALSE(report.at("accepted"));
  EXPECT_TRUE(report.at("seconds").contains("for four"));
  EXPECT_FALSE(report.at("seconds").contains("for thirty"));
  EXPECT_NEAR(report.at("runtimes")[0].at("latency_before_ms"), 30, 4);
  EXPECT_EQ(read_file(path("out.onnx")), read_file(path("in.onnx"))) << "byte copy";
}

TEST_F(SeveralRuntimes, OneThatCannotRunTheInputCostsNoOtherItsTurn) {
  std::string broken = adapter("1", "1");
  broken.insert(broken.find("\n    end_ms = "), "\n    assert False, \"is gone\"");
  const Captured result = run(optimise(runtime(broken, "broken") + "," + runtime(adapter("3", "1")) + "," +
                                       runtime(adapter("2", "2"), "two")));
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_THAT(report.at("runtimes")[0].at("problem").get<std::string>(), HasSubstr("is gone"));
  EXPECT_EQ(report.at("runtime"), "seven") << "the second in order, the last to have its turn";
  EXPECT_NEAR(report.at("speedup"), 2, 0.3);
}

TEST_F(SeveralRuntimes, OneThatTakesAllTheTimeLeavesNoTurn) {
  std::vector<std::string> words =
      optimise(runtime(adapter("2", "2"), "two") + "," + runtime(adapter("3", "1")));
  words.insert(words.end(), {"--seconds", "1"});
  const Captured result = run(words);
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("no time is left to search for other runtimes"));
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_EQ(report.at("runtime"), "two");
  EXPECT_FALSE(report.at("seconds").contains("for seven"));
}

TEST_F(SeveralRuntimes, NamesAreRefusedThatSayNothing) {
  for (const auto& [names, why] :
       {std::pair{"auto,onnxruntime", "'auto' stands alone"}, std::pair{"onnxruntime,", "one of onnxruntime"},
        std::pair{"", "one of onnxruntime"}, std::pair{"onnxruntime,onnxruntime", "name each once"}})
    EXPECT_THAT(run(optimise(names)).errors, HasSubstr(why)) << names;
}

TEST_F(SeveralRuntimes, ARuntimeThatFailsCostsNoOthersResult) {
  std::string failing = adapter("3", "1");
  const std::string loads = path("loads");
  const std::string second_fails = "\n    if os.path.basename(model) != \"in.onnx\":\n        with open(\"" +
                                   loads + "\", \"a\") as file:\n            file.write(\"x\")\n" +
                                   "        assert os.path.getsize(\"" + loads + "\") < 2, \"is gone\"";
  failing.insert(failing.find("\n    end_ms = "), second_fails);
  const Captured result = run(optimise(runtime(adapter("2", "1")) + "," + runtime(failing, "eight")));
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.errors, AllOf(HasSubstr("nothing was found for eight"), HasSubstr("is gone")));
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_EQ(report.at("runtime"), "seven");
  EXPECT_NEAR(report.at("speedup"), 2, 0.3);
  EXPECT_NE(read_file(path("out.onnx")), read_file(path("in.onnx")));
  EXPECT_EQ(run({"verify", path("in.onnx"), path("out.onnx")}).status.code, 0);
}

TEST_F(SeveralRuntimes, AutoGoesWithoutWhatIsNotInstalled) {
  const Captured result = run(optimise("auto"));
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_EQ(report.at("runtime"), "onnxruntime");
  ASSERT_EQ(report.at("runtimes").size(), 2u);
  EXPECT_EQ(report.at("runtimes")[0].at("problem"), "");
  EXPECT_GT(report.at("runtimes")[0].at("latency_before_ms"), 0);
  EXPECT_THAT(report.at("runtimes")[1].at("problem").get<std::string>(),
              HasSubstr("openvino is not installed"));
  EXPECT_EQ(report.at("fastest"), "");
}

TEST_F(SeveralRuntimes, AutoMeasuresInOpenVinoToo) {
  if (!std::filesystem::exists(REGRAFT_OPENVINO_PREFIX))
    GTEST_SKIP() << "no OpenVINO in " REGRAFT_OPENVINO_PREFIX ": run launch/setup.sh";
  const Captured result = run(optimise("auto"), REGRAFT_OPENVINO_PREFIX);
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_TRUE(report.at("accepted")) << report.at("reason");
  for (const nlohmann::json& one : report.at("runtimes")) {
    EXPECT_EQ(one.at("problem"), "") << one.at("name");
    EXPECT_LT(one.at("latency_after_ms"), one.at("latency_before_ms")) << one.at("name");
  }
  EXPECT_THAT(result.output, HasSubstr("runtime   openvino 2"));
  EXPECT_THAT(report.at("fastest").get<std::string>(), HasSubstr("the result in "));
}

}  // namespace
}
