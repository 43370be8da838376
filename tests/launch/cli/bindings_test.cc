// Sizes of symbolic dims reach every environment: of training, collecting, evaluation and the bench.
#include <gmock/gmock.h>

#include <algorithm>

#include "core/exec/tiny_models.h"
#include "core/nn/model/policy_file.h"
#include "core/task/workload.h"
#include "launch/program.h"
#include "replay/rollout/rollout.h"

namespace regraft::launch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::json_of;
using ::testing::Not;
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

TEST_F(BindingsTest, AModelsOwnSizesAreItsOwn) {
  const SystemClock clock;
  task::WorkloadOptions options = workload({"model:batch=512", "other:batch=4"});
  const auto cost = [&](std::size_t number) {
    const auto task = task::load_task(options, number);
    return task::make_environment(*task, options, clock).initial_cost().latency_us;
  };
  const double large = cost(0);
  options.models.push_back(model.string());  // model-2, of which nothing is bound
  EXPECT_EQ(cost(0), large);
  EXPECT_GT(large, 10 * cost(1));
}

/// It runs on images of 3 by 3 and more.
std::filesystem::path write_image_model(const std::filesystem::path& path) {
  exec::testing::ModelBuilder builder;
  builder.input("x", {"n", 2, "h", "h"}).output("y", {"n", 4, "a", "a"});
  builder.weight("w", {4, 2, 3, 3}, std::vector<float>(72, 0.1f));
  builder.node("Conv", {"x", "w"}, {"c"});
  builder.node("Relu", {"c"}, {"r"});
  builder.node("Relu", {"r"}, {"y"});
  return builder.write(path);
}

TEST_F(BindingsTest, TrainingTakesTheSizesAtWhichAModelRunsAndGoesOnWithThem) {
  const std::string image = write_image_model(dir.path() / "image.onnx").string();
  const auto folder = dir.path() / "run";
  const std::vector<std::string> start{
      "train",
      "--run",
      folder.string(),
      "--bind",
      "batch=8",
      "--set",
      "train.steps_per_update=8",
      "--set",
      "workload.models=" + model.string() + "," + image,
  };
  std::vector<std::string> begin = start, go_on = start;
  begin.insert(begin.end(), {"--set", "train.updates=1"});
  go_on.insert(go_on.end(), {"--set", "train.updates=2", "--resume"});
  const Captured trained = run(begin);
  ASSERT_EQ(trained.status.code, 0) << trained.errors;
  EXPECT_THAT(trained.errors, HasSubstr("regraft: model: sizes: batch=8 (bound)\n"));
  EXPECT_THAT(trained.errors,
              HasSubstr("regraft: image: sizes: n=1 (usual batch), h=224 (usual image size)\n"));
  EXPECT_THAT(trained.errors, Not(HasSubstr("count as 1")));
  const char* const kSizes = R"(workload.bind = ["batch=8", "image:h=224", "image:n=1"])";
  const auto record = [&] {
    const nn::PolicyFile policy = nn::load_policy(folder / "policies" / "latest.policy");
    return nlohmann::json::parse(policy.training_record).at("config").get<std::string>();
  };
  EXPECT_THAT(record(), HasSubstr(kSizes));
  EXPECT_THAT(read_file(folder / "learner.log"), HasSubstr("costs are predicted at batch=8, image:h=224"));

  const Captured resumed = run(go_on);
  ASSERT_EQ(resumed.status.code, 0) << resumed.errors;
  EXPECT_THAT(record(), HasSubstr(kSizes));
  *std::ranges::find(go_on, "batch=8") = "batch=16";
  EXPECT_THAT(failure(go_on, 1), HasSubstr("workload.bind"));
}

TEST_F(BindingsTest, EvaluationAndBenchTakeTheSizesAtWhichAModelRuns) {
  const std::string image = write_image_model(dir.path() / "image.onnx").string();
  const auto cost = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"bench", "--env", image, "--steps", "20", "--json", json.string()});
    const Captured result = run(more);
    EXPECT_EQ(result.status.code, 0) << result.errors;
    return json_of(json).at("initial_cost_us").get<double>();
  };
  EXPECT_EQ(cost({}), cost({"--bind", "n=1,h=224"}));
  EXPECT_GT(cost({}), 2 * cost({"--bind", "h=64"}));
  const Captured result = run({"evaluate", "--models", image, "--episodes", "1"});
  EXPECT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.errors,
              HasSubstr("regraft: image: sizes: n=1 (usual batch), h=224 (usual image size)\n"));
}

TEST_F(BindingsTest, DimsOfAModelThatDoesNotRunCountAsOneWithAWarning) {
  exec::testing::ModelBuilder builder;
  builder.input("x", {"n"}).output("y", {"n"}).import_domain("nobody");
  builder.node("Unheard", {"x"}, {"u"}).set_domain("nobody");
  builder.node("Relu", {"u"}, {"y"});
  const Captured result =
      run({"evaluate", "--models", builder.write(dir.path() / "odd.onnx").string(), "--episodes", "1"});
  EXPECT_EQ(result.status.code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("regraft: odd: no sizes found: "));
  EXPECT_THAT(result.errors, HasSubstr("warning: odd: dims without a size count as 1: n; bind them"));
}

TEST_F(BindingsTest, EvaluationComparesCostsAtTheSizesGiven) {
  const auto greedy = [&](const std::vector<std::string>& more) {
    const Captured result = testing::run_with({"evaluate", "--models", model.string(), "--searches", "greedy",
                                               "--episodes", "1", "--json", json.string()},
                                              more);
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
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"evaluate", "--models", file}, {"bench", "--env", file}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--bind", "bacth=2"});
    EXPECT_THAT(failure(arguments, 2), AllOf(HasSubstr("bacth"), HasSubstr("did you mean 'batch'?")));
  }
}

}  // namespace
}
