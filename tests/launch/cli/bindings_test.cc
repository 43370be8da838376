// Sizes of symbolic dims reach every environment: of training, collecting, evaluation and the bench.
#include <gmock/gmock.h>

#include "core/exec/tiny_models.h"
#include "core/nn/policy_file.h"
#include "core/task/workload.h"
#include "launch/program.h"
#include "replay/rollout/rollout.h"

namespace regraft::launch {
namespace {

using ::testing::HasSubstr;
using testing::json_of;
using testing::run;

class BindingsTest : public ::testing::Test {
 protected:
  /// A product with weights, whose cost a small batch hardly changes, and two factors, of which one is
  /// enough.
  std::filesystem::path write_model() const {
    constexpr int kWidth = 64;
    exec::testing::ModelBuilder builder;
    builder.input("x", {"batch", kWidth}).output("y", {"batch", kWidth});
    builder.weight("w", {kWidth, kWidth}, std::vector<float>(kWidth * kWidth, 0.1f));
    builder.node("MatMul", {"x", "w"}, {"a"});
    builder.weight("c", {1}, {0.5f}).weight("d", {1}, {3});
    builder.node("Mul", {"a", "c"}, {"b"});
    builder.node("Mul", {"b", "d"}, {"y"});
    return builder.write(dir.path() / "model.onnx");
  }
  task::WorkloadOptions workload(const std::vector<std::string>& bind) const {
    task::WorkloadOptions options;
    options.models = {model.string()};
    options.rules = "configs/rules";
    options.device = "configs/devices/cpu-1core.toml";
    options.bind = task::parse_bindings(bind);
    return options;
  }
  std::string failure(std::vector<std::string> arguments, int code) const {
    const Captured result = run(std::move(arguments));
    EXPECT_EQ(result.status.code, code) << result.errors;
    return result.errors;
  }
  TempDir dir;
  std::filesystem::path model = write_model(), json = dir.path() / "out.json";
};

TEST_F(BindingsTest, AnEnvironmentCostsAndShowsWhatIsBound) {
  const SystemClock clock;
  std::vector<double> costs;
  std::vector<std::vector<float>> features;
  for (const std::vector<std::string>& bind :
       std::vector<std::vector<std::string>>{{}, {"batch=1"}, {"batch=512"}}) {
    const task::WorkloadOptions options = workload(bind);
    const auto task = task::load_task(options, 0);
    env::Environment environment = task::make_environment(*task, options, clock);
    costs.push_back(environment.initial_cost().latency_us);
    features.push_back(environment.observation().node_features);
  }
  EXPECT_EQ(costs[0], costs[1]);
  EXPECT_EQ(features[0], features[1]);
  EXPECT_GT(costs[2], 10 * costs[1]);
  EXPECT_NE(features[2], features[1]);
}

TEST_F(BindingsTest, OnlyOneOfSeveralModelsMustHaveTheDim) {
  task::WorkloadOptions options = workload({"seq=4"});
  EXPECT_THROW(task::load_task(options, 0), task::WorkloadError);
  options.models.push_back(model.string());
  EXPECT_NO_THROW(task::load_task(options, 0));
}

TEST_F(BindingsTest, EvaluationComparesCostsAtTheSizesGiven) {
  const auto greedy = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"evaluate",   "--models", model.string(), "--searches", "greedy",
                                       "--episodes", "1",        "--json",       json.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Captured result = run(arguments);
    EXPECT_EQ(result.status.code, 0) << result.errors;
    for (const auto& score : json_of(json))
      if (score.at("kind") == "greedy") return score.at("returns").at(0).get<double>();
    return 0.0;
  };
  const double one = greedy({}), many = greedy({"--bind", "batch=512"});
  EXPECT_GT(one, 0);
  EXPECT_GT(many, 0);
  EXPECT_GT(std::abs(many - one), 1e-3);
  EXPECT_EQ(greedy({"--set", "workload.bind=batch=512"}), many);
}

TEST_F(BindingsTest, TheBenchOfAnEnvironmentHonoursThem) {
  const auto cost = [&](const char* bind) {
    const Captured result =
        run({"bench", "--env", model.string(), "--steps", "20", "--bind", bind, "--json", json.string()});
    EXPECT_EQ(result.status.code, 0) << result.errors;
    return json_of(json).at("initial_cost_us").get<double>();
  };
  EXPECT_GT(cost("batch=512"), 10 * cost("batch=1"));
  EXPECT_THAT(failure({"bench", "--dream", "--bind", "batch=8"}, 2), HasSubstr("--bind"));
}

TEST_F(BindingsTest, TrainingUsesThemAndThePolicyRecordsThem) {
  const auto folder = dir.path() / "run";
  const Captured trained =
      run({"train", "--run", folder.string(), "--bind", "batch=512", "--set", "train.updates=1", "--set",
           "train.steps_per_update=8", "--set", "workload.models=" + model.string()});
  ASSERT_EQ(trained.status.code, 0) << trained.errors;
  const nn::PolicyFile policy = nn::load_policy(folder / "policies" / "latest.policy");
  EXPECT_THAT(nlohmann::json::parse(policy.training_record).at("config").get<std::string>(),
              HasSubstr(R"(workload.bind = ["batch=512"])"));
}

TEST_F(BindingsTest, CollectedRewardsAreThoseOfTheSizesGiven) {
  const auto collect = [&](const char* bind) {
    const auto file = dir.path() / "out.rollouts";
    const Captured result = run(
        {"collect", model.string(), "-o", file.string(), "--bind", bind, "--set", "world.collect_steps=20"});
    EXPECT_EQ(result.status.code, 0) << result.errors;
    const replay::RolloutFile rollouts = replay::load_rollouts(file);
    EXPECT_THAT(rollouts.record, HasSubstr(bind));
    float best = 1;
    for (const replay::Rollout& rollout : rollouts.rollouts) best = std::min(best, rollout.best_cost_ratio);
    return best;
  };
  EXPECT_GT(std::abs(collect("batch=512") - collect("batch=1")), 1e-3);
}

TEST_F(BindingsTest, WhatCannotBeBoundIsRefusedWithItsPlace) {
  const std::string file = model.string();
  EXPECT_THAT(failure({"evaluate", "--models", file, "--bind", "batch=0"}, 2), HasSubstr("batch=0"));
  EXPECT_THAT(failure({"evaluate", "--models", file, "--set", "workload.bind=batch"}, 2),
              HasSubstr("workload.bind"));
  EXPECT_THAT(failure({"evaluate", "--models", file, "--bind", "bacth=2"}, 1), HasSubstr("bacth"));
  EXPECT_THAT(failure({"bench", "--env", file, "--bind", "bacth=2"}, 1), HasSubstr("bacth"));
}

}  // namespace
}  // namespace regraft::launch
