// regraft explain, its bisection, and verify on the user's own inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/find_config.h"
#include "launch/optimise/bisect.h"
#include "launch/program.h"
#include "support/models.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::run;

TEST(FirstBadStep, IsFoundWhereverItIs) {
  for (std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{9}}) {
    for (std::size_t bad = 0; bad < count; ++bad)
      EXPECT_EQ(first_bad_step(count, [&](std::size_t done) { return done <= bad; }), bad) << count;
    EXPECT_EQ(first_bad_step(count, [](std::size_t) { return true; }), std::nullopt);
  }
  EXPECT_THROW(first_bad_step(3, [](std::size_t) { return false; }), UsageError);
}

TEST(BisectedSteps, KeepWhatIsKnownWhenTheyAreStopped) {
  for (std::size_t bad = 0; bad < 16; ++bad) {
    int asked = 0;
    const Bisection known = bisect(
        16, [&](std::size_t done) { return done <= bad; }, [&] { return asked++ < 2; });
    EXPECT_EQ(known.bad - known.good, 4u) << "a quarter is left";
    EXPECT_LE(known.good, bad);
    EXPECT_GT(known.bad, bad);
    EXPECT_FALSE(known.culprit());
  }
}

class ExplainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    model_ = regraft::testing::unpacked_model("nasrnn");
    const Captured made = run({"optimise", model_.string(), "-o", (dir_.path() / "out.onnx").string(),
                               "--quiet", "--search", "greedy", "--accept", "cost", "--log", log_.string()});
    ASSERT_EQ(made.status.code, 0) << made.errors;
  }
  TempDir dir_;
  fs::path model_, log_ = dir_.path() / "rewrites.log";
};

TEST_F(ExplainTest, ListsWhatFiredWhereAndAtWhatCost) {
  const Captured named = run({"explain", log_.string(), "--model", model_.string()});
  ASSERT_EQ(named.status.code, 0) << named.errors;
  EXPECT_THAT(named.output, HasSubstr("MatMul"));
  EXPECT_THAT(named.output, HasSubstr("times"));
  const Captured listed = run({"explain", log_.string(), "--json", "-"});
  ASSERT_EQ(listed.status.code, 0) << listed.errors;
  const nlohmann::json report = nlohmann::json::parse(listed.output);
  ASSERT_GT(report.at("entries").size(), 0u);
  for (const nlohmann::json& entry : report.at("entries"))
    EXPECT_THAT(named.output, HasSubstr(entry.at("name").get<std::string>()));
  const nlohmann::json& last = report.at("entries").back();
  EXPECT_LT(last.at("cost_after_us").get<double>(), report.at("entries").at(0).value("cost_before_us", 1e9));
}

TEST_F(ExplainTest, BlamesARewriteOnlyForWhatTheLogMakes) {
  const LogReplay replay(model_, log_, find_config("configs/rules"));
  const auto always = [] { return true; };
  const auto has_no_split = [](const fs::path& model) {
    return read_file(model).find("Split") == std::string::npos;
  };
  const std::optional<Bisection> found = bisect_refused(replay, has_no_split, always);
  ASSERT_TRUE(found && found->culprit());
  const auto good_after = [&](std::size_t count) {
    replay.write_prefix(count, dir_.path() / "prefix.onnx");
    return has_no_split(dir_.path() / "prefix.onnx");
  };
  EXPECT_TRUE(good_after(found->good));
  EXPECT_FALSE(good_after(found->bad));
  EXPECT_EQ(bisect_refused(
                replay, [](const fs::path&) { return true; }, always),
            std::nullopt);
  EXPECT_EQ(bisect_refused(
                replay, [](const fs::path&) { return false; }, always),
            std::nullopt);
}

// A check that fails as soon as there is a Split: the first rewrite that makes one is found.
TEST_F(ExplainTest, BisectsForTheRewriteThatBreaksACheck) {
  const std::string check = "! grep -q Split";
  const Captured result = run({"explain", log_.string(), "--model", model_.string(), "--bisect", check});
  EXPECT_EQ(result.status.code, 3) << result.output << result.errors;
  EXPECT_THAT(result.output, HasSubstr("first bad: entry "));
  const Captured passes = run({"explain", log_.string(), "--model", model_.string(), "--bisect", "test -s"});
  EXPECT_EQ(passes.status.code, 0) << passes.errors;
  EXPECT_THAT(passes.output, HasSubstr("passes after all"));
  const Captured senseless = run({"explain", log_.string(), "--model", model_.string(), "--bisect", "false"});
  EXPECT_EQ(senseless.status.code, 2);
  EXPECT_EQ(run({"explain", log_.string(), "--bisect", "true"}).status.code, 2);
}

}  // namespace
}
