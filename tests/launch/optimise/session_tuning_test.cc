// `regraft optimise --settings`: settings of the runtime's session, for the input and for the result.
#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/exec/tiny_models.h"
#include "launch/optimise/session_tuning.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::json_of;
using ::testing::Not;
using testing::run;

class SettingsTest : public ::testing::Test {
 protected:
  /// Two Relus in a row, one of which a rule takes away.
  std::string model() const {
    exec::testing::ModelBuilder builder;
    builder.input("x", {64, 64}).output("y", {64, 64});
    builder.node("Relu", {"x"}, {"a"});
    builder.node("Relu", {"a"}, {"y"});
    return builder.write(path("in.onnx")).string();
  }
  std::string path(const char* name) const { return (dir_.path() / name).string(); }
  Captured optimise(std::vector<std::string> more) const {
    more.insert(more.begin(), {"optimise", model(), "--settings", "--quiet"});
    return run(more);
  }
  Captured refused(std::vector<std::string> more) const {
    const Captured result = optimise(std::move(more));
    EXPECT_EQ(result.status.code, 2) << result.errors;
    return result;
  }

  TempDir dir_;
};

TEST_F(SettingsTest, AreSearchedForWrittenAndChecked) {
  const Captured result =
      optimise({"-o", path("out.onnx"), "--threads", "1", "--search", "greedy", "--budget", "2",
                "--trial-budget", "0", "--measure-budget", "8", "--json", path("r.json")});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json settings = json_of(path("r.json")).at("settings");
  EXPECT_EQ(settings.at("input").at("intra_op_num_threads"), "1") << "asked for";
  EXPECT_GT(settings.at("tried"), 0);
  EXPECT_GT(settings.at("known"), settings.at("tried"));
  EXPECT_EQ(json_of(path("out.onnx.session.json")), settings.at("output"));
  EXPECT_THAT(result.output, AllOf(HasSubstr("settings  of the input: "), HasSubstr("changes tried\n"),
                                   HasSubstr("options.intra_op_num_threads = 1\n"),
                                   HasSubstr("InferenceSession(\"" + path("out.onnx") + "\", options)")));
  const Captured verified =
      run({"verify", model(), path("out.onnx"), "--session", path("out.onnx.session.json")});
  EXPECT_EQ(verified.status.code, 0) << verified.errors;
}

TEST_F(SettingsTest, WithoutThemNothingIsWritten) {
  ASSERT_EQ(run({"optimise", model(), "-o", path("out.onnx"), "--accept", "cost", "--search", "greedy",
                 "--json", path("r.json")})
                .status.code,
            0);
  const nlohmann::json settings = json_of(path("r.json")).at("settings");
  EXPECT_EQ(settings.at("input"), nlohmann::json::object());
  EXPECT_EQ(settings.at("output"), nlohmann::json::object());
  EXPECT_TRUE(settings.at("speedup").is_null());
  EXPECT_FALSE(std::filesystem::exists(path("out.onnx.session.json")));
}

TEST_F(SettingsTest, ThoseOfAnEarlierResultGoOnceAnotherIsInItsPlace) {
  const std::string file = path("out.onnx.session.json");
  std::string in = model();
  const auto optimise_to = [&](const std::string& out, std::vector<std::string> more = {}) {
    more.insert(more.begin(),
                {"optimise", in, "-o", out, "--accept", "cost", "--search", "greedy", "--quiet"});
    return run(more);
  };
  write_file_atomic(file, R"({"enable_mem_pattern": "False"})");
  const Captured made = optimise_to(path("out.onnx"));
  ASSERT_EQ(made.status.code, 0) << made.errors;
  EXPECT_THAT(made.errors, HasSubstr("removed " + file + ": it held settings of an earlier result"));
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_THAT(optimise_to(path("out.onnx")).errors, Not(HasSubstr("removed")));

  // What holds no settings, the report of this call too, is somebody's.
  ASSERT_EQ(optimise_to(path("out.onnx"), {"--json", file}).status.code, 0);
  EXPECT_TRUE(json_of(file).contains("accepted"));

  // An input that stays in its place keeps what belongs to it.
  exec::testing::ModelBuilder one;
  one.input("x", {64}).output("y", {64}).node("Relu", {"x"}, {"y"});
  in = one.write(path("one.onnx")).string();
  write_file_atomic(in + ".session.json", "{}");
  const Captured kept = optimise_to(in);
  EXPECT_THAT(kept.output, HasSubstr("input returned unchanged"));
  EXPECT_EQ(read_file(in + ".session.json"), "{}");
}

TEST_F(SettingsTest, TheirFileIsAnOutputAsOthersAre) {
  EXPECT_THAT(refused({"-o", path("out.onnx"), "--json", path("out.onnx.session.json")}).errors,
              HasSubstr("is the path of --json too"));
  std::filesystem::copy_file(model(), path("o.session.json"));
  const Captured result = run({"optimise", path("o.session.json"), "-o", path("o"), "--settings"});
  EXPECT_EQ(result.status.code, 2);
  EXPECT_THAT(result.errors, HasSubstr("an output never replaces what the call reads"));
  EXPECT_THAT(refused({"-o", "-"}).errors, HasSubstr("writes a file beside the output"));
  EXPECT_THAT(refused({"-o", path("out.onnx"), "--accept", "cost"}).errors, HasSubstr("--settings"));
  EXPECT_THAT(refused({"-o", path("out.onnx"), "--search", "none"}).errors, HasSubstr("--settings"));
  EXPECT_THAT(refused({"-o", path("out.onnx"), "--runtime", "openvino"}).errors, HasSubstr("--settings"));
}

TEST_F(SettingsTest, AFailureLeavesTheFileAsItWas) {
  write_file_atomic(path("out.onnx.session.json"), "{}");
  write_file_atomic(path("bad.onnx"), "no model");
  EXPECT_EQ(run({"optimise", path("bad.onnx"), "-o", path("out.onnx"), "--settings"}).status.code, 1);
  EXPECT_EQ(run({"optimise", path("bad.onnx"), "-o", path("out.onnx")}).status.code, 1);
  EXPECT_EQ(read_file(path("out.onnx.session.json")), "{}");
}

// Denormal outputs become zeros: the check must see what the setting does.
TEST_F(SettingsTest, OnesThatChangeTheResultDoNotPassTheCheck) {
  exec::testing::ModelBuilder builder;
  builder.input("x", {64}).output("y", {64});
  builder.weight("small", {1}, {1e-20f});
  builder.node("Mul", {"x", "small"}, {"a"});
  builder.node("Mul", {"a", "small"}, {"y"});
  const std::string tiny = builder.write(path("tiny.onnx")).string();
  const auto verify = [&](const std::string& settings) {
    write_file_atomic(path("s.json"), settings);
    return run({"verify", tiny, tiny, "--session", path("s.json")}).status.code;
  };
  EXPECT_EQ(verify("{}"), 0);
  EXPECT_EQ(verify(R"({"session.set_denormal_as_zero": "1"})"), 3);
  EXPECT_EQ(verify(R"({"speed": "high"})"), 3) << "the model does not run so";
  EXPECT_EQ(verify("[]"), 1);
}

TEST(SettingsReport, SplitsTheGain) {
  SettingsReport report;
  EXPECT_THAT(report.lines("m.onnx", 1.5), IsEmpty()) << "nothing was searched";
  report.known = 12;
  report.tried = 5;
  EXPECT_THAT(report.lines("m.onnx", 1.5),
              ElementsAre("of the input: the runtime's own; 5 of 12 changes tried",
                          "in all 1.500x as fast: settings 1.000x, rewrites 1.500x"));
  report.input = {{"a.b", "1"}};
  report.output = {{"enable_mem_pattern", "False"}};
  report.gain = exec::SpeedupEstimate{1.2, 1.1, 1.3};
  EXPECT_THAT(
      report.lines("m.onnx", 1.5),
      ElementsAre("of the input: a.b=1; 5 of 12 changes tried", "of the result: enable_mem_pattern=False",
                  "in all 1.800x as fast: settings 1.200x, rewrites 1.500x",
                  "    options = onnxruntime.SessionOptions()", "    options.enable_mem_pattern = False",
                  "    session = onnxruntime.InferenceSession(\"m.onnx\", options)"));
  EXPECT_EQ(report.to_json().at("speedup_low"), 1.1);
}

}  // namespace
}
