#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <map>
#include <sstream>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/stats.h"
#include "core/env/synthetic.h"
#include "core/exec/tiny_models.h"
#include "core/nn/model/policy_file.h"
#include "launch/program.h"
#include "launch/random_bundle.h"
#include "support/models.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::json_of;
using testing::run;

struct BadCall {
  std::vector<std::string> arguments;
  int code;
  std::string says;
};

TEST(Cli, WrongCallsSayWhatIsWrongAndWhatIsNear) {
  const std::vector<BadCall> calls{
      {{"trian"}, 2, "did you mean 'train'"},
      {{"trian"}, 2, "run `regraft --help`"},
      {{"rules", "generate", "--deep", "3"}, 2, "run `regraft rules generate --help`"},
      {{"optimise", "x.onnx", "-o", "y.onnx", "--serch", "greedy"}, 2, "did you mean '--search'"},
      {{"optimise", "x.onnx", "-o", "y.onnx", "--search", "greedi"}, 2, "did you mean 'greedy'"},
      {{"optimise", "x.onnx", "-o", "y.onnx", "--search", "sweep"},
       2,
       "'sweep' is called 'all_sites_descent' now"},
      {{"evaluate", "--models", "x.onnx", "--searches", "greedy,sweep"},
       2,
       "'sweep' is called 'all_sites_descent' now"},
      {{"optimise", "missing.onnx", "-o", "/tmp/y.onnx", "--search", "greedy"}, 1, "missing.onnx"},
      {{"optimise", "missing.onnx", "-o", "/proc/none/x.onnx"}, 1, "/proc/none"},
      {{"optimise", "x.onnx", "-o", "y.onnx", "--log", "./y.onnx"}, 2, "is the path of --output too"},
      {{"train", "--run", "/tmp/regraft-none", "--set", "ppo.learning_rat=1"}, 2, "ppo.learning_rate"},
      {{"train", "--run", "/tmp/regraft-none", "--set", "ppo.learning_rate=-1"}, 2, "ppo.learning_rate"},
      {{"train", "--run", "/tmp/regraft-none", "--set", "workload.everywhere=true"},
       2,
       "'workload.everywhere' is called 'workload.action_mode' now"},
      {{"train", "--run", "/tmp/regraft-none"}, 2, "workload.models"},
      {{"train", "--run", "/proc/none/run", "--set", "workload.models=synthetic:4:1:1:0"},
       1,
       "/proc/none/run"},
      {{"train", "--resume", "--run", "/tmp/regraft-none", "--set", "workload.models=synthetic:4:1:1:0"},
       1,
       "no run to resume"},
      {{"train", "--run", "/proc/version"},
       2,
       "--run /proc/version: is no folder (name a folder; it is made"},
      {{"train", "--run", "/proc/version", "--resume"}, 2, "--run /proc/version: is no folder"},
      {{"keys", "list", "--run", "/tmp/regraft-none"}, 2, "/tmp/regraft-none: there is no run (give --run"},
      {{"keys", "add", "a", "--run", "/tmp", "--key", "/tmp/regraft-none"}, 2, "/tmp: there is no run"},
      {{"keys", "list"}, 2, "--run is required"},
      {{"keys"}, 2, "run `regraft keys --help`"},
      {{"actor", "--join", "/tmp/regraft-none/run.json", "--key", "k", "--name", "a"}, 2, "there is no run"},
      {{"relay", "--join", "/tmp", "--key", "k", "--name", "a"}, 2, "name its run file, /tmp/run.json"},
      {{"collect", "synthetic:4:1:1:0", "-o", "/proc/none/x"}, 1, "/proc/none"},
      {{"inspect", std::string(300, 'x')}, 1, "x: File name too long (check the path"},
      {{"rules", "show", "conv-bm"}, 2, "conv-bn"},
      {{"verify", "missing.onnx", "missing.onnx"}, 1, "missing.onnx"},
      {{"bench", "missing.onnx"}, 1, "missing.onnx"},
      {{"calibrate", "--graphs", "3"}, 2, "--graphs requires MODEL"},
      {{"calibrate", "x.onnx", "--path", "1"}, 2, "give 2 or more, or 0"},
      {{"calibrate", "x.onnx", "--kernels", "x"}, 2, "MODEL excludes --kernels"},
      {{"calibrate", "--bind", "n=1"}, 2, "name a MODEL"},
      {{"calibrate", "--database", "/proc"}, 1, "(measured kernels are kept there: name another file"},
      {{"evaluate", "--models", "synthetic:4:1:1:0", "--searches", "policy"}, 2, "give one with --policy"},
  };
  for (const BadCall& call : calls) {
    const Captured result = run(call.arguments);
    EXPECT_EQ(result.status.code, call.code) << call.arguments[0] << ": " << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(call.says));
  }
  EXPECT_FALSE(fs::exists("/tmp/regraft-none"));
}

TEST(Cli, RulesAreShownAndCheckedWithTheirPlaces) {
  const Captured shown = run({"rules", "show", "relu-relu"});
  EXPECT_EQ(shown.status.code, 0) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("relu-relu: Relu(Relu(x)) => Relu(x)\nfamily constants, proved"));

  const TempDir dir;
  const fs::path file = dir.path() / "own.rules";
  write_file_atomic(file, std::string_view("[own]\nfine: Relu(Relu(x)) => Relu(x)\n"));
  const Captured good = run({"rules", "check", file.string()});
  EXPECT_EQ(good.status.code, 0) << good.errors;
  EXPECT_THAT(good.output, HasSubstr("1 rule is well formed"));
  write_file_atomic(file, std::string_view("fine: Relu(Relu(x)) => Relu(x)\nbad: Relu(x) => Rel(x)\n"));
  const Captured bad = run({"rules", "check", file.string()});
  EXPECT_EQ(bad.status.code, 1);
  EXPECT_THAT(bad.errors, HasSubstr(file.string() + ":2:17: rule 'bad': unknown operation 'Rel'"));
}

/// "source family proved bounded_checked tested all" by row; the last one has no family.
std::vector<std::vector<std::string>> cells(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    rows.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return rows;
}

TEST(Cli, RulesAreCountedBySourceFamilyAndStatus) {
  std::map<std::string, std::map<std::string, std::size_t>> listed;  // by family and status
  const Captured list = run({"rules", "list"});
  ASSERT_EQ(list.status.code, 0) << list.errors;
  std::size_t total = 0;
  for (const auto& row : cells(list.output)) {
    if (row.size() < 3 || (row[1] != "proved" && row[1] != "bounded_checked" && row[1] != "tested")) continue;
    ++listed[row[0]][row[1]];
    ++total;
  }
  const Captured counted = run({"rules", "list", "--counts"});
  ASSERT_EQ(counted.status.code, 0) << counted.errors;
  auto table = cells(counted.output);
  EXPECT_THAT(table.front(),
              ::testing::ElementsAre("source", "family", "proved", "bounded_checked", "tested", "all"));
  EXPECT_EQ(table.back().front(), "all");
  EXPECT_EQ(table.back().back(), std::to_string(total));
  EXPECT_EQ(table.size() - 2, listed.size());
  for (std::size_t i = 1; i + 1 < table.size(); ++i) {
    const auto& row = table[i];
    ASSERT_EQ(row.size(), 6u);
    EXPECT_THAT(row[0], ::testing::EndsWith(".rules"));
    EXPECT_EQ(row[2], std::to_string(listed[row[1]]["proved"])) << row[1];
    EXPECT_EQ(row[3], std::to_string(listed[row[1]]["bounded_checked"])) << row[1];
    EXPECT_EQ(row[4], std::to_string(listed[row[1]]["tested"])) << row[1];
  }
  const Captured some = run({"rules", "list", "--counts", "--family", "einsum"});
  EXPECT_EQ(cells(some.output).size(), 3u) << some.output;
}

class OptimiseTest : public ::testing::Test {
 protected:
  Captured optimise(const fs::path& input, const std::vector<std::string>& more) {
    return testing::run_with(
        {"optimise", input.string(), "-o", output().string(), "--quiet", "--threads", "1"}, more);
  }
  fs::path output() const { return dir.path() / "out" / "model.onnx"; }
  bool nothing_left() const { return fs::is_empty(dir.path() / "out"); }
  void SetUp() override { fs::create_directories(dir.path() / "out"); }
  TempDir dir;
};

TEST_F(OptimiseTest, DamagedModelsGiveAnErrorAndLeaveNothing) {
  const std::string whole = read_file(regraft::testing::unpacked_model("nasrnn"));
  const fs::path bad = dir.path() / "bad.onnx";
  for (const std::string& contents :
       {std::string("\x89PNG\r\n\x1a\n0000"), whole.substr(0, whole.size() / 2), std::string()}) {
    std::ofstream(bad, std::ios::binary) << contents;
    const Captured result = optimise(bad, {"--search", "greedy"});
    EXPECT_EQ(result.status.code, 1) << contents.size();
    EXPECT_THAT(result.errors, HasSubstr("bad.onnx"));
    EXPECT_TRUE(nothing_left());
  }
}

TEST_F(OptimiseTest, APolicyOfAnotherSchemaIsRefused) {
  nn::PolicyFile policy;
  policy.network = nn::preset("cpu", 8);
  policy.weights = nn::initial_weights(policy.network, 0);
  policy.observation_schema = 999;
  const fs::path file = dir.path() / "other.policy";
  write_file_atomic(file, nn::encode_policy(policy));
  const Captured result = optimise(regraft::testing::unpacked_model("nasrnn"), {"--policy", file.string()});
  EXPECT_EQ(result.status.code, 1);
  EXPECT_THAT(result.errors, HasSubstr("schema"));
  EXPECT_TRUE(nothing_left());
}

// A search by a policy goes no deeper than the episodes that the policy was trained on.
TEST_F(OptimiseTest, ASearchByAPolicyGoesOnBehindTheHorizonOfItsTraining) {
  nn::PolicyFile policy = nn::load_policy(fs::path(REGRAFT_SOURCE_DIR) / "configs/policies/default.policy");
  const auto rules_used = [&](std::uint32_t horizon) {
    policy.limits.horizon = horizon;
    const fs::path file = dir.path() / "short.policy", report = dir.path() / "report.json";
    nn::save_policy(policy, file);
    const Captured result = optimise(regraft::testing::unpacked_model("nasrnn"),
                                     {"--policy", file.string(), "--search", "policy", "--expansions", "200",
                                      "--budget", "600", "--accept", "cost", "--json", report.string()});
    EXPECT_EQ(result.status.code, 0) << result.errors;
    return json_of(report).at("rules").size();
  };
  EXPECT_GT(rules_used(1), 1u);
  EXPECT_GT(rules_used(40), 1u);
}

TEST_F(OptimiseTest, WithoutSearchTheModelIsBitEqual) {
  const fs::path model = regraft::testing::unpacked_model("nasrnn");
  const Captured result = optimise(model, {"--search", "none", "--json", (dir.path() / "r.json").string()});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(dir.path() / "r.json");
  EXPECT_TRUE(report.at("verified"));
  EXPECT_EQ(report.at("max_relative_error"), 0);
  EXPECT_EQ(report.at("nodes_before"), report.at("nodes_after"));
  const fs::path log = dir.path() / "none.log";
  ASSERT_EQ(optimise(model, {"--search", "none", "--log", log.string()}).status.code, 0);
  EXPECT_EQ(run({"verify", model.string(), output().string(), "--log", log.string()}).status.code, 0);
}

TEST_F(OptimiseTest, RewritesAreVerifiedAndTheLogReplaysToTheByte) {
  const fs::path model = regraft::testing::unpacked_model("nasrnn"), log = dir.path() / "rewrites.log";
  const Captured result = optimise(model, {"--search", "greedy", "--accept", "cost", "--json",
                                           (dir.path() / "r.json").string(), "--log", log.string()});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(dir.path() / "r.json");
  EXPECT_TRUE(report.at("accepted"));
  EXPECT_LT(report.at("cost_after").get<double>(), report.at("cost_before").get<double>() / 1.3);
  EXPECT_LT(report.at("max_relative_error").get<double>(), 1e-4);

  const Captured verified = run({"verify", model.string(), output().string(), "--log", log.string()});
  EXPECT_EQ(verified.status.code, 0) << verified.output << verified.errors;
  const Captured differs = run({"verify", model.string(), output().string(), "--bit-equal"});
  EXPECT_EQ(differs.status.code, 3) << differs.output;

  const std::string text = read_file(log);
  std::ofstream(log, std::ios::trunc) << text.substr(0, text.size() - 20);
  EXPECT_EQ(run({"verify", model.string(), output().string(), "--log", log.string()}).status.code, 1);
}

/// Nothing can be said of a model that gives something else each time.
TEST_F(OptimiseTest, ARandomModelIsReturnedAsItIs) {
  exec::testing::ModelBuilder model;
  model.input("x", {4, 4}).output("y", {4, 4});
  model.node("RandomNormalLike", {"x"}, {"noise"});
  model.node("Relu", {"noise"}, {"once"});
  model.node("Relu", {"once"}, {"twice"});
  model.node("Add", {"x", "twice"}, {"y"});
  const fs::path input = model.write(dir.path() / "random.onnx");
  const Captured result = optimise(input, {"--search", "greedy", "--accept", "cost"});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("it is random"));
  EXPECT_EQ(read_file(output()), read_file(input));
}

TEST_F(OptimiseTest, NothingToGainReturnsTheInputItself) {
  const fs::path model = regraft::testing::unpacked_model("resnet18");
  const fs::path log = dir.path() / "kept.log", json = dir.path() / "kept.json";
  const Captured result = optimise(
      model, {"--budget", "600", "--least-gain", "3", "--log", log.string(), "--json", json.string()});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("input returned unchanged"));
  const nlohmann::json report = json_of(json);
  EXPECT_THAT(result.output, HasSubstr("GEMM and convolution kernels take"));
  EXPECT_GT(report.at("dense_share"), 0.9);
  EXPECT_LT(report.at("candidates_costed"), 2000u) << "nothing is left: only greedy has looked";
  EXPECT_EQ(run({"verify", model.string(), output().string(), "--log", log.string()}).status.code, 0);
  EXPECT_EQ(read_file(output()) == read_file(model), true);
}

TEST(Profile, SharesAddUpAndTheCeilingFollows) {
  const Captured result = run({"profile", regraft::testing::unpacked_model("squeezenet1_1").string(),
                               "--threads", "1", "--json", "-"});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = nlohmann::json::parse(result.output);
  EXPECT_EQ(report.at("threads"), 1);
  double shares = 0, time_us = 0;
  for (const nlohmann::json& op : report.at("ops")) {
    shares += op.at("share").get<double>();
    time_us += op.at("time_us").get<double>();
  }
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_NEAR(time_us, report.at("total_us").get<double>(), 1e-6 * time_us);
  EXPECT_NEAR(report.at("ceiling").get<double>() * report.at("dense_share").get<double>(), 1, 1e-9);
  EXPECT_GT(report.at("dense_share"), 0.5);
}

TEST(Inspect, SaysWhatABundleHolds) {
  const TempDir dir;
  const fs::path file = dir.path() / "c.world";
  nn::save_bundle(testing::random_bundle(7, env::make_synthetic_rules(2), 12, 200), file);
  const Captured shown = run({"inspect", file.string()});
  EXPECT_EQ(shown.status.code, 0) << shown.errors;
  for (const char* text : {"world model: ", "of at most 12 steps, 200 locations", "controller: hierarchical"})
    EXPECT_THAT(shown.output, HasSubstr(text));
  write_file_atomic(file, read_file(file).substr(0, 1000));
  EXPECT_THAT(run({"inspect", file.string()}).errors, HasSubstr("truncated or damaged"));
}

TEST(Calibrate, OneThatIsInterruptedLeavesNothingBehindOnceTheNextGoesOn) {
  const regraft::TempDir dir;
  const fs::path temporary = dir.path() / "tmp";
  fs::create_directory(temporary);
  std::vector<std::string> call{"calibrate", "--database", (dir.path() / "kernels.sqlite").string(),
                                "--threads", "1",          "--budget"};
  ::signal(SIGINT, SIG_DFL);  // which a shell in the background ignores, and so would what it starts
  std::vector<std::string> argv{testing::program()};
  argv.insert(argv.end(), call.begin(), call.end());
  argv.emplace_back("600");
  testing::Running first(argv, {{"TMPDIR", temporary.string()}});
  ASSERT_TRUE(first.wait_for_line("measuring: ")) << first.seen();
  first.signal(SIGINT);
  EXPECT_EQ(first.finish().signal, SIGINT);
  call.emplace_back("1");
  const Captured next = run(call, {{"TMPDIR", temporary.string()}});
  EXPECT_EQ(next.status.code, 0) << next.errors;
  EXPECT_EQ(next.errors.find("set aside"), std::string::npos) << next.errors;
  for (const auto& entry : fs::directory_iterator(temporary))  // ONNX Runtime may write a file there
    EXPECT_FALSE(entry.is_directory()) << entry.path() << " was left";
}

TEST(Calibrate, MeasuresEachGraphAndRanksThem) {
  const regraft::TempDir dir;
  const fs::path json = dir.path() / "calibration.json";
  const Captured result =
      run({"calibrate", regraft::testing::unpacked_model("nasrnn").string(), "--graphs", "6", "--path", "4",
           "--search-seconds", "10", "--session", "0.02", "--threads", "1", "--json", json.string()});
  ASSERT_EQ(result.status.code, 0) << result.errors;
  const nlohmann::json report = json_of(json);
  ASSERT_EQ(report.at("graphs").size(), 6u);
  EXPECT_EQ(report.at("graphs")[0].at("depth"), 0) << "the model itself";
  std::vector<double> predicted, measured, again, mean;
  for (const nlohmann::json& graph : report.at("graphs")) {
    predicted.push_back(graph.at("predicted_us"));
    measured.push_back(graph.at("measured_us"));
    again.push_back(graph.at("again_us"));
    mean.push_back((measured.back() + again.back()) / 2);
    EXPECT_GT(predicted.back(), 0);
    EXPECT_GT(std::min(measured.back(), again.back()), 0);
  }
  EXPECT_NE(measured, again) << "two processes";
  EXPECT_DOUBLE_EQ(report.at("rank_correlation"), spearman(predicted, mean));
  EXPECT_DOUBLE_EQ(report.at("again_rank_correlation"), spearman(again, measured));
  EXPECT_GT(report.at("graphs")[0].at("agreed_share"), 0.9);
  EXPECT_TRUE(report.at("graphs")[5].contains("agreed_share")) << "every fifth one is profiled";
  EXPECT_FALSE(report.at("graphs")[1].contains("agreed_share"));
  const nlohmann::json searched = report.at("searched").at("graphs");
  ASSERT_EQ(searched.size(), 4u) << "of a path that is longer";
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LT(searched[i].at("depth"), searched[i + 1].at("depth"));
  EXPECT_EQ(searched[0].at("depth"), 0);
  EXPECT_LT(searched[3].at("corrected_us"), searched[0].at("corrected_us")) << "what the search goes by";
  EXPECT_THAT(result.output, HasSubstr("graphs on the path of a search: 4, measured"));
}

}  // namespace
}
