#include <gmock/gmock.h>

#include "core/base/processors.h"
#include "launch/program.h"
#include "support/models.h"

namespace regraft::launch {
namespace {

using ::testing::HasSubstr;
using testing::json_of;
using testing::run;

TEST(BenchEnvironment, WritesSpeedMemoryAndShares) {
  const TempDir dir;
  const auto report = dir.path() / "speed.json";
  const Captured result = run({"bench", "--env", regraft::testing::unpacked_model("nasrnn").string(),
                               "--steps", "400", "--seed", "3", "--json", report.string()});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("steps/s"));
  const nlohmann::json speed = json_of(report);
  EXPECT_EQ(speed["model"], "nasrnn");
  EXPECT_EQ(speed["steps"], 400);
  EXPECT_EQ(speed["seed"], 3);
  EXPECT_GT(speed["steps_per_second"].get<double>(), 0);
  EXPECT_NEAR(speed["steps_per_second"].get<double>() * speed["seconds"].get<double>(), 400, 1e-6);
  EXPECT_GT(speed["rules"].get<int>(), 10);
  EXPECT_GT(speed["nodes"].get<double>(), 50);
  double sum = 0;
  for (const char* part : {"apply", "cost", "match", "observe", "reset"}) {
    const double share = speed["shares"][part].get<double>();
    EXPECT_GT(share, 0) << part;
    sum += share;
  }
  EXPECT_LE(sum, 1.0);
  EXPECT_GT(speed["peak_rss_bytes"].get<std::uint64_t>(), speed["rss_growth_bytes"].get<std::uint64_t>());
}

TEST(BenchLatency, SaysAtWhichOptimisationTheOtherRan) {
  const TempDir dir;
  const auto report = dir.path() / "latency.json";
  const Captured result =
      run({"bench", regraft::testing::unpacked_model("nasrnn").string(), "--other-optimisation", "none",
           "--budget", "1", "--threads", "1", "--json", report.string()});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("baseline all, OTHER (the baseline itself) none"));
  EXPECT_EQ(json_of(report)["optimisation_after"], "none");
  EXPECT_EQ(json_of(report)["control"], false);
}

TEST(BenchLatency, ASmallBudgetBuysTheLeastSessions) {
  const TempDir dir;
  const auto report = dir.path() / "latency.json";
  const std::string model = regraft::testing::unpacked_model("nasrnn").string();
  const auto bench = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"bench", model, "--budget", "1", "--json", report.string()});
    return run(more);
  };
  const std::string output = bench({"--threads", "1"}).output;
  EXPECT_THAT(output, HasSubstr("4 sessions a side, 1 thread\n"));
  EXPECT_THAT(output, HasSubstr("control: a model beside itself"));
  EXPECT_EQ(json_of(report)["accepted"], false);
  EXPECT_EQ(json_of(report)["control"], true);
  EXPECT_EQ(json_of(report)["sessions"], 4);
  EXPECT_EQ(json_of(report)["threads"], 1);
  ASSERT_EQ(bench({}).status.code, 0);
  EXPECT_EQ(json_of(report)["threads"], physical_cores()) << "as many as the runtime takes by itself";
  EXPECT_THAT(run({"bench", "--help"}).output, HasSubstr("at least 4 sessions a side"));
}

// So many steps would take a day.
TEST(BenchEnvironment, FindsOutBeforeTheFirstStepThatItCannotWrite) {
  const Captured refused = run({"bench", "--env", regraft::testing::unpacked_model("nasrnn").string(),
                                "--steps", "1000000000", "--json", "/nonexistent/x.json"});
  EXPECT_EQ(refused.status.code, 1);
  EXPECT_THAT(refused.errors, HasSubstr("/nonexistent/x.json: cannot be written: No such file"));
}

TEST(BenchEnvironment, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(run({"bench"}).status.code, 2);
  EXPECT_EQ(run({"bench", "a.onnx", "--env", "b.onnx"}).status.code, 2);
  EXPECT_EQ(run({"bench", "a.onnx", "--steps", "100"}).status.code, 2);
  EXPECT_EQ(run({"bench", "a.onnx", "--cost", "alone"}).status.code, 2);
  EXPECT_EQ(run({"bench", "--env", "b.onnx", "--cost", "real"}).status.code, 2);
  EXPECT_EQ(run({"bench", "--dream", "--other-optimisation", "none"}).status.code, 2);
  EXPECT_EQ(run({"bench", "a.onnx", "--other-optimisation", "some"}).status.code, 2);
  EXPECT_THAT(run({"bench", "--dream", "--xfers", "8"}).errors, HasSubstr("is called --rule-count now"));
  const Captured missing = run({"bench", "--env", "missing.onnx"});
  EXPECT_EQ(missing.status.code, 1);
  EXPECT_THAT(missing.errors, HasSubstr("missing.onnx"));
}

}  // namespace
}
