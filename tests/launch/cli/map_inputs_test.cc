// Models of ONNX-ML whose inputs are maps, which no command can feed.
#include <gmock/gmock.h>

#include "core/exec/tiny_models.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

using exec::testing::ModelBuilder;
using ::testing::HasSubstr;
using testing::json_of;
using ::testing::Not;
using testing::run;

constexpr const char* kWhy = "maps are neither drawn nor read, and its input m holds one";

/// Two Relus behind a map's values, and two Negs of a tensor with a dynamic dim.
class MapInputs : public ::testing::Test {
 protected:
  MapInputs() {
    ModelBuilder builder;
    builder.input("m", {}).input("x", {"n", 4}).output("y", {1, 3}).output("z", {"n", 4});
    ModelBuilder::make_map(builder.graph().mutable_input(0)->mutable_type());
    ::onnx::NodeProto& cast = builder.import_domain("ai.onnx.ml").node("CastMap", {"m"}, {"c"});
    cast.set_domain("ai.onnx.ml");
    exec::testing::set_text(cast, "map_form", "SPARSE");
    exec::testing::set_int(cast, "max_map", 3);
    builder.node("Relu", {"c"}, {"r"});
    builder.node("Relu", {"r"}, {"y"});
    builder.node("Neg", {"x"}, {"a"});
    builder.node("Neg", {"a"}, {"z"});
    builder.write(model);
  }
  TempDir dir;
  const std::filesystem::path model = dir.path() / "map.onnx", output = dir.path() / "out.onnx";
};

TEST_F(MapInputs, TheModelIsReturnedAsItIsWithTheReasonAndWhatToDo) {
  const auto report = dir.path() / "report.json";
  const Captured result = run({"optimise", model.string(), "-o", output.string(), "--json", report.string()});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_TRUE(read_file(output) == read_file(model));
  EXPECT_FALSE(json_of(report).at("accepted"));
  EXPECT_EQ(json_of(report).at("reason"), std::string(kWhy) + " (export the model with tensors as inputs)");
}

TEST_F(MapInputs, WhatItHoldsIsShown) {
  const Captured result = run({"inspect", model.string()});
  EXPECT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr(kWhy));
  EXPECT_THAT(result.output, HasSubstr("input  m: map of int64 to float32["));
}

TEST_F(MapInputs, CommandsThatMustRunItSayWhyTheyCannot) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"verify", model.string(), model.string()},
                                             {"profile", model.string()},
                                             {"bench", model.string()}}) {
    const Captured result = run(command);
    EXPECT_EQ(result.status.code, 1) << command[0];
    EXPECT_EQ(result.errors,
              "regraft: " + model.string() + ": " + kWhy + " (export the model with tensors as inputs)\n")
        << command[0];
  }
}

TEST_F(MapInputs, PoliciesAreComparedOnItAllTheSame) {
  const Captured result = run({"evaluate", "--models", model.string(), "--episodes", "1", "--bind", "n=8"});
  EXPECT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr(std::string("map: no sizes found: ") + kWhy));
  EXPECT_THAT(result.errors, Not(HasSubstr("count as 1")));
}

}  // namespace
}
