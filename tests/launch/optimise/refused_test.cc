// `regraft optimise` under rules that are wrong, or that hold over the reals and not in the model's numbers.
#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/exec/tiny_models.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::json_of;
using testing::run;

constexpr int kWidth = 64;

/// y is x[64, 64], or what was made of it, times two matrices.
void add_products(exec::testing::ModelBuilder& model, const std::string& first) {
  model.input("x", {kWidth, kWidth}).output("y", {kWidth, kWidth});
  for (const char* name : {"w", "u"}) {
    std::vector<float> values(kWidth * kWidth);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((i * 37 + static_cast<std::size_t>(name[0])) % 101) / 101.0f - 0.5f;
    model.weight(name, {kWidth, kWidth}, values);
  }
  model.node("MatMul", {first, "w"}, {"h"});
  model.node("MatMul", {"h", "u"}, {"y"});
}

fs::path two_products(const fs::path& path) {
  exec::testing::ModelBuilder model;
  add_products(model, "x");
  return model.write(path);
}

class RefusedRules : public ::testing::Test {
 protected:
  /// Greedy search under these rules.
  Captured optimise(const std::string& rules, fs::path (*model)(const fs::path&) = two_products,
                    const std::vector<std::string>& more = {}) {
    fs::create_directories(output().parent_path());
    write_file_atomic(dir_.path() / "some.rules", rules);
    return testing::run_with(
        {"optimise", model(dir_.path() / "in.onnx").string(), "-o", output().string(), "--search", "greedy",
         "--accept", "cost", "--quiet", "--rules", "tested:" + (dir_.path() / "some.rules").string(),
         "--json", json().string(), "--log", (dir_.path() / "log").string()},
        more);
  }
  fs::path output() const { return dir_.path() / "out" / "model.onnx"; }
  fs::path json() const { return dir_.path() / "r.json"; }

  TempDir dir_;
};

constexpr const char* kRight = "right: MatMul(MatMul(x, w), u), const(w, u) => MatMul(x, MatMul(w, u))\n";

TEST_F(RefusedRules, AWrongRuleIsNamedAndLeftOut) {
  const Captured result = optimise(
      "wrong: MatMul(MatMul(x, w), u), const(w, u) => MatMul(x, MatMul(u, w))\n" + std::string(kRight));
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("warning: searched without rule wrong: rewrite 0: "));
  const nlohmann::json report = json_of(json());
  ASSERT_EQ(report.at("refused_rules").size(), 1u);
  EXPECT_EQ(report.at("refused_rules")[0].at("rule"), "wrong");
  EXPECT_THAT(report.at("refused_rules")[0].at("reason"), HasSubstr("relative error"));
  EXPECT_TRUE(report.at("accepted"));
  EXPECT_EQ(report.at("rules"), (nlohmann::json{{"right", 1}}));
  EXPECT_EQ(report.at("nodes_after"), 1);
  EXPECT_EQ(run({"verify", (dir_.path() / "in.onnx").string(), output().string(), "--rules",
                 "tested:" + (dir_.path() / "some.rules").string(), "--log", (dir_.path() / "log").string()})
                .status.code,
            0)
      << "the log replays under all rules, the refused one among them";
}

/// Equal over the reals; in fp64 the large constant takes twelve of sixteen digits.
TEST_F(RefusedRules, ARightRuleThatTheCheckRefusesIsLeftOutToo) {
  const std::string coarse =
      "coarse: MatMul(MatMul(x, w), u), const(w, u) => Sub(Add(MatMul(x, MatMul(w, u)), 1e12), 1e12)\n";
  const Captured with_another = optimise(coarse + kRight);
  ASSERT_EQ(with_another.status.code, 0) << with_another.errors;
  EXPECT_EQ(json_of(json()).at("rules"), (nlohmann::json{{"right", 1}}));

  const Captured alone = optimise(coarse);
  ASSERT_EQ(alone.status.code, 0) << alone.errors;
  const nlohmann::json report = json_of(json());
  EXPECT_EQ(report.at("refused_rules")[0].at("rule"), "coarse");
  EXPECT_FALSE(report.at("accepted"));
  EXPECT_EQ(read_file(output()) == read_file(dir_.path() / "in.onnx"), true);
}

/// In fp64 nothing overflows, so the site's check passes; the model's own numbers do.
constexpr const char* kOverflow =
    "overflow: MatMul(MatMul(x, w), u), const(w, u)"
    " => Mul(Mul(Mul(Mul(MatMul(x, MatMul(w, u)), 1e30), 1e30), 1e-30), 1e-30)\n";

TEST_F(RefusedRules, WhereNothingElseIsFoundADifferenceInTheWholeModelKeepsTheInput) {
  const Captured result = optimise(kOverflow);
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(json());
  EXPECT_FALSE(report.at("accepted"));
  EXPECT_EQ(report.at("refused_rules")[0].at("rule"), "overflow");
  const std::string why = report.at("refused_rules")[0].at("reason");
  EXPECT_THAT(why, HasSubstr("after rule overflow (rewrite 0): output y differs: "));
  EXPECT_EQ(why.find("output y differs"), why.rfind("output y differs")) << "said once: " << why;
  EXPECT_THAT(report.at("reason"), HasSubstr("no rewrite is left"));
  EXPECT_EQ(read_file(output()) == read_file(dir_.path() / "in.onnx"), true);
}

/// Fake quantisation, which rounds by adding 1.5 * 2^23 and taking it away again; behind it two products.
fs::path rounded_products(const fs::path& path) {
  exec::testing::ModelBuilder model;
  model.weight("scale", {}, {12.7f}).weight("up", {}, {12582912.0f}).weight("down", {}, {-12582912.0f});
  model.node("Mul", {"x", "scale"}, {"a"});
  model.node("Add", {"a", "up"}, {"b"});
  model.node("Add", {"b", "down"}, {"r"});
  add_products(model, "r");
  return model.write(path);
}

TEST_F(RefusedRules, OnlyTheRewriteToBlameIsLeftOut) {
  const Captured result = optimise(
      "untrick: Add(Add(x, c), d), const(c, d) => Add(x, c + d)\n" + std::string(kRight), rounded_products);
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(json());
  EXPECT_TRUE(report.at("accepted")) << report;
  EXPECT_EQ(report.at("rules"), (nlohmann::json{{"right", 1}}));
  ASSERT_EQ(report.at("refused_rules").size(), 1u);
  EXPECT_EQ(report.at("refused_rules")[0].at("rule"), "untrick");
  EXPECT_EQ(report.at("refused_rules")[0].at("left_out"), "rewrite");
  EXPECT_LT(report.at("cost_after"), report.at("cost_before"));
  EXPECT_THAT(result.output, HasSubstr("left out rewrites by rule untrick"));
  EXPECT_EQ(run({"verify", (dir_.path() / "in.onnx").string(), output().string(), "--rules",
                 "tested:" + (dir_.path() / "some.rules").string(), "--log", (dir_.path() / "log").string()})
                .status.code,
            0);
}

/// Two pairs of factors, one of which has a product beyond float32, each behind a Relu.
fs::path two_scaled(const fs::path& path) {
  exec::testing::ModelBuilder model;
  model.weight("large", {}, {1e30f}).weight("two", {}, {2.0f}).input("x", {kWidth}).output("y", {kWidth});
  model.node("Mul", {"x", "large"}, {"a"});
  model.node("Mul", {"a", "large"}, {"b"});
  model.node("Relu", {"b"}, {"c"});
  model.node("Mul", {"c", "two"}, {"d"});
  model.node("Mul", {"d", "two"}, {"e"});
  model.node("Relu", {"e"}, {"y"});
  return model.write(path);
}

TEST_F(RefusedRules, AConstantThatOverflowsTakesOnlyItsRewriteAway) {
  const Captured result = optimise("mul-mul: Mul(Mul(x, a), b), const(a, b) => Mul(x, a * b)\n", two_scaled);
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(json());
  EXPECT_TRUE(report.at("accepted")) << report;
  EXPECT_EQ(report.at("rules"), (nlohmann::json{{"mul-mul", 1}}));
  ASSERT_EQ(report.at("refused_rules").size(), 1u);
  EXPECT_EQ(report.at("refused_rules")[0].at("left_out"), "rewrite");
  EXPECT_THAT(report.at("refused_rules")[0].at("reason"), HasSubstr("a constant of 1e+60 overflows float32"));
}

constexpr const char* kMarked =
    "right (finite): MatMul(MatMul(x, w), u), const(w, u) => MatMul(x, MatMul(w, u))\n";

TEST_F(RefusedRules, MarksOfTheRulesUsedAreInReportAndLog) {
  const Captured result = optimise(kMarked);
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_EQ(json_of(json()).at("marks"), (nlohmann::json{{"finite", {"right"}}}));
  EXPECT_THAT(result.output, HasSubstr("holds for finite activations (rules right)\n"));
  EXPECT_THAT(read_file(dir_.path() / "log"), HasSubstr("\"marks\":[\"finite\"]"));
}

TEST_F(RefusedRules, StrictLeavesMarkedRulesOut) {
  const Captured result = optimise(kMarked, two_products, {"--strict"});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_FALSE(json_of(json()).at("accepted"));
  EXPECT_EQ(json_of(json()).at("marks"), nlohmann::json::object());
  ASSERT_EQ(optimise(kRight, two_products, {"--strict"}).status.code, 0);
  EXPECT_TRUE(json_of(json()).at("accepted"));
}

// The program beside a runtime that does not survive its checks.
TEST_F(RefusedRules, WhereTheRuntimeCrashesOnTheResultTheInputIsReturned) {
  const fs::path folder = dir_.path() / "bin", crashes = folder / "regraft_runtime";
  fs::create_directories(folder);
  fs::create_directories(output().parent_path());
  fs::copy_file(testing::program(), folder / "regraft");
  fs::create_directory_symlink(REGRAFT_SOURCE_DIR "/configs", folder / "configs");
  write_file_atomic(crashes, "#!/bin/sh\n[ \"$1\" = verify ] && kill -SEGV $$\nexec " +
                                 fs::path(testing::program()).parent_path().string() +
                                 "/regraft_runtime \"$@\"\n");
  fs::permissions(crashes, fs::perms::owner_all);
  write_file_atomic(dir_.path() / "some.rules", std::string(kRight));
  SpawnOptions spawn;
  spawn.environment = {testing::own_cache()};
  spawn.argv = {(folder / "regraft").string(),
                "optimise",
                two_products(dir_.path() / "in.onnx").string(),
                "-o",
                output().string(),
                "--search",
                "greedy",
                "--accept",
                "cost",
                "--rules",
                "tested:" + (dir_.path() / "some.rules").string()};
  const Captured result = capture_output(spawn);
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("input returned unchanged: "));
  EXPECT_THAT(result.output, HasSubstr("the check failed: "));
  EXPECT_EQ(read_file(output()) == read_file(dir_.path() / "in.onnx"), true);
}

TEST_F(RefusedRules, AScriptThatMakesAnotherModelEndsWithoutOutput) {
  fs::create_directories(output().parent_path());
  write_file_atomic(dir_.path() / "some.rules", std::string(kOverflow));
  write_file_atomic(dir_.path() / "some.script", std::string("overflow\n"));
  const Captured result =
      run({"optimise", two_products(dir_.path() / "in.onnx").string(), "-o", output().string(), "--script",
           (dir_.path() / "some.script").string(), "--accept", "cost", "--quiet", "--rules",
           "tested:" + (dir_.path() / "some.rules").string()});
  EXPECT_EQ(result.status.code, 3) << result.output;
  EXPECT_THAT(result.errors, HasSubstr("after rule overflow (rewrite 0): output y differs: "));
  EXPECT_TRUE(fs::is_empty(output().parent_path()));
}

}  // namespace
}
