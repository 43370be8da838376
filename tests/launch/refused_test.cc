// `regraft optimise` under rules that are wrong, or that hold over the reals and not in the model's numbers.
#include <gmock/gmock.h>

#include "core/exec/tiny_models.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::json_of;
using testing::run;

constexpr int kWidth = 64;

/// x[64, 64] times two matrices.
fs::path two_products(const fs::path& path) {
  exec::testing::ModelBuilder model;
  model.input("x", {kWidth, kWidth}).output("y", {kWidth, kWidth});
  for (const char* name : {"w", "u"}) {
    std::vector<float> values(kWidth * kWidth);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((i * 37 + static_cast<std::size_t>(name[0])) % 101) / 101.0f - 0.5f;
    model.weight(name, {kWidth, kWidth}, values);
  }
  model.node("MatMul", {"x", "w"}, {"h"});
  model.node("MatMul", {"h", "u"}, {"y"});
  return model.write(path);
}

class RefusedRules : public ::testing::Test {
 protected:
  /// Greedy search under these rules.
  Captured optimise(const std::string& rules) {
    fs::create_directories(output().parent_path());
    write_file_atomic(dir_.path() / "some.rules", rules);
    return run({"optimise", two_products(dir_.path() / "in.onnx").string(), "-o", output().string(),
                "--search", "greedy", "--accept", "cost", "--quiet", "--rules",
                "tested:" + (dir_.path() / "some.rules").string(), "--json", json().string(), "--log",
                (dir_.path() / "log").string()});
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
TEST_F(RefusedRules, ADifferenceInTheWholeModelEndsWithoutOutput) {
  const Captured result = optimise(
      "overflow: MatMul(MatMul(x, w), u), const(w, u)"
      " => Mul(Mul(Mul(Mul(MatMul(x, MatMul(w, u)), 1e30), 1e30), 1e-30), 1e-30)\n");
  EXPECT_EQ(result.status.code, 3) << result.output;
  EXPECT_THAT(result.errors, HasSubstr("output y differs after rule overflow (rewrite 0)"));
  EXPECT_TRUE(fs::is_empty(output().parent_path()));
  EXPECT_FALSE(fs::exists(json()));
}

}  // namespace
}  // namespace regraft::launch
