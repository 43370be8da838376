#include "core/exec/runtime/session_settings.h"

#include <gmock/gmock.h>

#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/ort_session.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> names(const std::vector<SessionSetting>& settings) {
  std::vector<std::string> names;
  for (const SessionSetting& setting : settings) names.push_back(setting.name);
  return names;
}

TEST(SettingsToTry, ThreadsAreTriedWhereThereAreSeveralAndNoneAreAskedFor) {
  const auto free = settings_to_try(8, true);
  EXPECT_EQ(free[0].name, "intra_op_num_threads");
  EXPECT_THAT(free[0].values, ElementsAre("8", "4", "1"));
  EXPECT_THAT(settings_to_try(2, true)[0].values, ElementsAre("2", "1"));
  EXPECT_THAT(names(settings_to_try(8, false)), Not(Contains("intra_op_num_threads")));
  EXPECT_THAT(names(settings_to_try(8, false)), Contains("execution_mode"));
  EXPECT_THAT(names(settings_to_try(1, true)), Not(Contains("intra_op_num_threads")));
  EXPECT_THAT(names(settings_to_try(1, true)), Not(Contains("execution_mode")));
}

TEST(SettingsToTry, ASessionTakesEachValue) {
  const testing::TempFolder folder;
  const auto model = testing::affine(2, 1).write(folder / "m.onnx");
  for (const SessionSetting& setting : settings_to_try(2, true))
    for (const std::string& value : setting.values) {
      const SessionSettings settings = with_value({}, setting, value);
      EXPECT_NO_THROW(OrtSession(model, {Optimisation::all, 2, {}, {}, settings})) << describe(settings);
    }
  EXPECT_THROW(OrtSession(model, {Optimisation::all, 1, {}, {}, {{"speed", "high"}}}), ExecError);
}

TEST(SettingsToTry, EachOptimiserOfAListIsDisabled) {
  const testing::TempFolder folder;
  testing::ModelBuilder builder;
  builder.input("x", {2, 2}).output("y", {2, 2});
  builder.weight("w", {2, 2}, {1, 2, 3, 4}).weight("b", {2}, {1, 2});
  builder.node("MatMul", {"x", "w"}, {"a"});
  builder.node("Add", {"a", "b"}, {"y"});
  const auto model = builder.write(folder / "m.onnx");
  const auto is_fused = [&](const SessionSettings& settings) {
    const std::filesystem::path rewritten = folder / "rewritten.onnx";
    const OrtSession writes(model, {Optimisation::all, 1, {}, rewritten, settings});
    ::onnx::ModelProto proto;
    EXPECT_TRUE(proto.ParseFromString(read_file(rewritten)));
    return proto.graph().node(0).op_type() == "Gemm";
  };
  const std::string name = "optimization.disable_specified_optimizers";
  const SessionSetting list{name, {"AttentionFusion", "MatMulAddFusion", "TransposeOptimizer"}, true};
  SessionSettings settings;
  EXPECT_TRUE(is_fused(settings));
  for (const std::string& optimiser : list.values) settings = with_value(settings, list, optimiser);
  EXPECT_FALSE(is_fused(settings));
}

TEST(WithValue, ADefaultIsNoSettingAndAListHoldsSome) {
  const SessionSetting mode{"mode", {"a", "b"}}, list{"off", {"x", "y"}, true};
  const SessionSettings other = with_value({}, mode, "b");
  EXPECT_EQ(other, (SessionSettings{{"mode", "b"}}));
  EXPECT_THAT(with_value(other, mode, "a"), IsEmpty());
  const SessionSettings both = with_value(with_value({}, list, "y"), list, "x");
  EXPECT_EQ(both, (SessionSettings{{"off", "x;y"}}));
  EXPECT_EQ(with_value(both, list, "x"), (SessionSettings{{"off", "y"}}));
  EXPECT_THAT(with_value(with_value(both, list, "x"), list, "y"), IsEmpty());
}

TEST(PythonSession, IsWhatAProgramWrites) {
  EXPECT_THAT(python_session("a.onnx", {{"execution_mode", "ORT_PARALLEL"},
                                        {"intra_op_num_threads", "4"},
                                        {"session.set_denormal_as_zero", "1"}}),
              ElementsAre("options = onnxruntime.SessionOptions()",
                          "options.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL",
                          "options.intra_op_num_threads = 4",
                          "options.add_session_config_entry(\"session.set_denormal_as_zero\", \"1\")",
                          "session = onnxruntime.InferenceSession(\"a.onnx\", options)"));
}

TEST(ParseSettings, ReadsAnObjectOfTextsAlone) {
  EXPECT_EQ(parse_settings("{\"a\": \"1\"}", "f"), (SessionSettings{{"a", "1"}}));
  EXPECT_THROW(parse_settings("{\"a\": 1}", "f"), ExecError);
  EXPECT_THROW(parse_settings("a=1", "f"), ExecError);
}

}  // namespace
}
