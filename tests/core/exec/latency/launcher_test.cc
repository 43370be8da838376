#include "core/exec/latency/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "core/exec/inputs/find_feed.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using testing::affine;
using ::testing::HasSubstr;
using testing::ModelBuilder;
using testing::TempFolder;

/// Sessions of a shell script, which has the request as its arguments.
ProcessLauncher shell(const std::string& script, std::chrono::seconds limit = std::chrono::seconds(60)) {
  return {"/bin/sh", {"-c", script, "sh"}, limit, "measuring in sh"};
}

MeasureRequest asking_for(const std::filesystem::path& model) {
  MeasureRequest request;
  request.model = model;
  return request;
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const ExecError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ProcessLauncher, SaysWhoPrintedGarbageDiedOrTookTooLong) {
  const MeasureRequest request = asking_for("m.onnx");
  const auto error = [&](const std::string& script) {
    return error_of([&] { shell(script).measure(request); });
  };
  EXPECT_THAT(error("echo hello"), HasSubstr("measuring in sh: not a measurement: "));
  EXPECT_THAT(error("true"), HasSubstr("measuring in sh: not a measurement: "));
  EXPECT_THAT(error("kill -9 $$"), HasSubstr("measuring in sh was killed by signal 9"));
  EXPECT_THAT(error("echo 'no such module' >&2; exit 1"),
              HasSubstr("measuring in sh ended with exit code 1: no such module"));
  EXPECT_THAT(error("echo 'regraft: it is not installed (pip install it)' >&2; exit 1"),
              "it is not installed (pip install it)");
  EXPECT_THAT(error_of([&] { shell("sleep 600", std::chrono::seconds(1)).measure(request); }),
              HasSubstr("m.onnx: measuring in sh took more than 1 s"));
}

TEST(ProcessLauncher, RefusesRunsThatTookNoTime) {
  const auto error = [&](const std::string& runs) {
    const std::string json = R"({"load_s": 1, "run_wall_s": 1, "peak_rss_bytes": 1, "run_ms": )" + runs + "}";
    return error_of([&] { shell("echo '" + json + "'").measure(asking_for("m.onnx")); });
  };
  EXPECT_EQ(error("[1, 2.5]"), "no error");
  for (const char* runs : {"[]", "[1, 0]", "[-1]", "[NaN]", "[\"1\"]", "3"})
    EXPECT_THAT(error(runs), HasSubstr("not a measurement")) << runs;
}

/// The inputs of a request as write_inputs leaves them, read back.
std::vector<Tensor> written(const MeasureRequest& request, const TempFolder& folder) {
  std::vector<Tensor> tensors;
  const std::filesystem::path list = write_inputs(request, folder / "");
  for (const nlohmann::json& one : nlohmann::json::parse(read_file(list))) {
    EXPECT_EQ(one.at("type"), "float32");
    const std::string bytes = read_file(folder / one.at("file").get<std::string>());
    const auto raw = std::as_bytes(std::span(bytes));
    tensors.push_back({DType::float32, one.at("dims"), {raw.begin(), raw.end()}, {}});
  }
  return tensors;
}

TEST(WriteInputs, WritesWhatASessionOfOurOwnWouldDraw) {
  const TempFolder folder;
  MeasureRequest request = asking_for(affine(2, 1).write(folder / "m.onnx"));
  request.seed = 3;
  const Feed feed = find_feed(request.model, {.several = false});
  Rng rng(3, "latency inputs");
  EXPECT_EQ(written(request, folder),
            feed.source()->draw(OrtSession(request.model).inputs(), feed.points[0].sizes, rng));
  request.seed = 4;
  EXPECT_NE(written(request, folder)[0],
            feed.source()->draw(OrtSession(request.model).inputs(), feed.points[0].sizes, rng)[0]);
}

TEST(WriteInputs, RefusesWhatOtherRuntimesAreNotGiven) {
  const TempFolder folder;
  ModelBuilder model;
  model.input("words", {2}, ::onnx::TensorProto::STRING).output("y", {2}, ::onnx::TensorProto::STRING);
  model.node("Identity", {"words"}, {"y"});
  EXPECT_THAT(error_of([&] { write_inputs(asking_for(model.write(folder / "m.onnx")), folder / ""); }),
              HasSubstr("input 'words' is no tensor of numbers"));
}

TEST(DrawnInputsLauncher, HasInputsWrittenOnceForEachPointAndSeed) {
  std::vector<std::filesystem::path> models;
  DrawnInputsLauncher launcher(shell(R"(while [ "$1" != --inputs ]; do shift; done; ms=$(cat "$2")
               echo '{"load_s": 1, "run_wall_s": 1, "peak_rss_bytes": 1, "run_ms": ['"$ms]}")"),
                               [&](const MeasureRequest& request, const std::filesystem::path& folder) {
                                 models.push_back(request.model);
                                 std::ofstream(folder / "inputs.json") << models.size();
                                 return folder / "inputs.json";
                               });
  MeasureRequest request = asking_for("a.onnx");
  EXPECT_EQ(launcher.measure(request).latency_ms(), 1);
  request.model = "b.onnx";
  EXPECT_EQ(launcher.measure(request).latency_ms(), 1);
  request.seed = 1;
  EXPECT_EQ(launcher.measure(request).latency_ms(), 2);
  request.point = 1;
  EXPECT_EQ(launcher.measure(request).latency_ms(), 3);
  EXPECT_THAT(models, ::testing::ElementsAre("a.onnx", "b.onnx", "b.onnx"));
}

}  // namespace
}
