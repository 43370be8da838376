// Sizes and inputs that the program finds unaided, and what it says of them.
#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/exec/tiny_models.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

using ::testing::HasSubstr;
using testing::json_of;
using testing::run;

class SizesTest : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return dir_.path() / name; }

  /// x (y z), of which (x y) z is less work where x has few rows.
  std::filesystem::path products(const char* rows) const {
    exec::testing::ModelBuilder model;
    model.input("x", {rows, 256}).input("y", {256, 256}).input("z", {256, 256}).output("o", {rows, 256});
    model.node("MatMul", {"y", "z"}, {"w"});
    model.node("MatMul", {"x", "w"}, {"o"});
    return model.write(path("products.onnx"));
  }
  std::vector<std::string> optimise(const std::filesystem::path& model,
                                    std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{
        "optimise", model.string(), "-o",     path("out.onnx").string(),   "--accept", "cost",
        "--search", "greedy",       "--json", path("report.json").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  TempDir dir_;
};

TEST_F(SizesTest, TheSizesTakenAreSaidAndWhereTheResultIsSlower) {
  const Captured result = run(optimise(products("n")));
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_TRUE(report.at("accepted"));
  EXPECT_EQ(report.at("dims"), nlohmann::json::parse(R"([{"name": "n", "size": 1, "why": "usual batch"}])"));
  ASSERT_EQ(report.at("sizes").size(), 2u);
  EXPECT_EQ(report.at("sizes")[1].at("dims").at("n"), 4);
  EXPECT_LT(report.at("sizes")[1].at("cost_after"), report.at("sizes")[1].at("cost_before"));
  EXPECT_GE(report.at("slower_at").at("n"), 256);
  EXPECT_THAT(result.output, HasSubstr("n=1 (usual batch)"));
}

TEST_F(SizesTest, WhatIsSlowerAtASizeThatIsBoundIsNotAccepted) {
  const Captured result = run(optimise(products("n"), {"--bind", "n=1,64,4096"}));
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(path("report.json"));
  EXPECT_FALSE(report.at("accepted"));
  EXPECT_EQ(report.at("sizes").size(), 3u);
}

TEST_F(SizesTest, EveryCommandCallsADimWithoutANameAlike) {
  const auto model = products("");
  const Captured inspected = run({"inspect", model.string()});
  EXPECT_THAT(inspected.output, HasSubstr("x: float32[x.0, 256]"));
  EXPECT_THAT(inspected.output, HasSubstr("x.0=1 (usual batch)"));
  const Captured profiled =
      run({"profile", model.string(), "--bind", "x.0=8", "--budget", "0.1", "--threads", "1"});
  ASSERT_EQ(profiled.status.code, 0) << profiled.errors;
  EXPECT_THAT(profiled.output, HasSubstr("x.0=8 (bound)"));
  ASSERT_EQ(run(optimise(model, {"--bind", "x.0=8"})).status.code, 0);
  EXPECT_EQ(json_of(path("report.json")).at("dims")[0].at("size"), 8);
}

/// As exporters write dims that they do not know.
TEST_F(SizesTest, DimsThatAreCalledUnknownMayDiffer) {
  exec::testing::ModelBuilder model;
  model.input("x", {"?", "?"}).output("y", {"?", "?"});
  model.node("Transpose", {"x"}, {"y"});
  const auto file = model.write(path("unknown.onnx")).string();
  const Captured result = run({"verify", file, file, "--bind", "x.0=3,x.1=5"});
  EXPECT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("compared at x.0=3, x.1=5"));
}

TEST_F(SizesTest, AMisspeltDimIsRefusedWithTheNearest) {
  const auto model = products("rows").string();
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{optimise(model, {"--bind", "row=8"}),
                                             {"profile", model, "--bind", "row=8"},
                                             {"verify", model, model, "--bind", "row=8"},
                                             {"bench", model, "--bind", "row=8"}}) {
    const Captured result = run(command);
    EXPECT_EQ(result.status.code, 2) << command[0];
    EXPECT_THAT(result.errors, HasSubstr("did you mean 'rows'")) << command[0];
  }
}

TEST_F(SizesTest, AModelThatRunsNowhereComesBackAsItIs) {
  exec::testing::ModelBuilder model;
  model.input("x", {"n"}).output("y", {3, 1009}).integers("shape", {3, 1009});
  model.node("Reshape", {"x", "shape"}, {"y"});
  const auto file = model.write(path("nowhere.onnx"));
  const Captured result = run(optimise(file));
  EXPECT_EQ(result.status.code, 0) << result.errors;
  EXPECT_EQ(read_file(path("out.onnx")), read_file(file));
  const std::string reason = json_of(path("report.json")).at("reason");
  EXPECT_THAT(reason, ::testing::StartsWith("the model fails when it runs: Reshape: The input tensor"));
  EXPECT_THAT(reason, HasSubstr("sizes of n with --bind"));
}

TEST_F(SizesTest, UserInputsGiveTheSizes) {
  const auto model = products("n");
  ::onnx::TensorProto tensor;
  tensor.set_name("x");
  tensor.set_data_type(::onnx::TensorProto::FLOAT);
  tensor.add_dims(3);
  tensor.add_dims(256);
  for (int i = 0; i < 3 * 256; ++i) tensor.add_float_data(0.5f);
  write_file_atomic(path("x.pb"), tensor.SerializeAsString());
  const Captured result = run(optimise(model, {"--inputs", path("x.pb").string()}));
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json dims = json_of(path("report.json")).at("dims");
  EXPECT_EQ(dims[0].at("size"), 3);
  EXPECT_EQ(dims[0].at("why"), "as in --inputs");
}

}  // namespace
}
