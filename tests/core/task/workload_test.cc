#include "core/task/workload.h"

#include <gmock/gmock.h>

#include "core/base/file.h"
#include "core/base/find_config.h"
#include "core/cost/analytic_cost.h"
#include "core/cost/kernel_database.h"
#include "support/models.h"

namespace regraft::task {
namespace {

WorkloadOptions workload(std::vector<std::string> models) {
  WorkloadOptions options;
  options.models = std::move(models);
  return options;
}

TEST(Workload, ASyntheticGraphIsNamedByItsSize) {
  const auto task = load_task(workload({"synthetic:4:1:1:7"}), 0);
  EXPECT_EQ(task->name(), "synthetic:4:1:1:7");
  EXPECT_EQ(task->rules().hash(), load_rules(workload({"synthetic:4:1:1:7"})).hash());
  for (const char* name : {"synthetic:", "synthetic:4:1:1", "synthetic:4:1:1:7:0", "synthetic:4:1:x:7"})
    EXPECT_THROW(load_task(workload({name}), 0), WorkloadError) << name;
}

TEST(Workload, ModelsAreCalledByTheirStems) {
  EXPECT_THAT(model_names({"a/m.onnx", "b/m.onnx", "synthetic:4:1:1:7"}),
              ::testing::ElementsAre("m", "m-2", "synthetic:4:1:1:7"));
}

TEST(Workload, AModelOfTheCorpusIsMadeByItsName) {
  const auto task = load_task(workload({"corpus:recommender:0"}), 0);
  EXPECT_EQ(task->name(), "corpus:recommender:0");
  EXPECT_GT(task->start().live_count(), 20u);
  const TempDir folder;
  task->write(task->start(), folder.path() / "model.onnx");
  EXPECT_GT(std::filesystem::file_size(folder.path() / "model.onnx"), 1000u);
  EXPECT_THAT(expanded_models({"a.onnx", "corpus:vit:3-4"}),
              ::testing::ElementsAre("a.onnx", "corpus:vit:3", "corpus:vit:4"));
  EXPECT_THROW(load_task(workload({"corpus:no-such:0"}), 0), Error);
}

TEST(Workload, ModelsWithOtherRulesAreNoJob) {
  EXPECT_THROW(load_rules(workload({"synthetic:4:1:1:7", "model.onnx"})), WorkloadError);
  EXPECT_THROW(load_rules(workload({"synthetic:4:1:1:7", "synthetic:4:1:2:7"})), WorkloadError);
  EXPECT_NO_THROW(load_rules(workload({"synthetic:4:1:1:7", "synthetic:5:1:1:8"})));
}

TEST(Workload, AModelThatTheListDoesNotHaveIsAnError) {
  EXPECT_THROW(load_task(workload({"synthetic:4:1:1:7"}), 1), WorkloadError);
}

TEST(Workload, AMeasuredRewardWantsAMeter) {
  WorkloadOptions options = workload({"synthetic:4:1:1:7"});
  options.environment.reward = env::RewardKind::measured;
  EXPECT_THROW(load_task(options, 0), WorkloadError);
}

TEST(Workload, MeasuredCostsAreThoseOfThisMachinesKernels) {
  const TempDir cache;
  ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  WorkloadOptions options = workload({regraft::testing::unpacked_model("squeezenet1_1").string()});
  options.environment.horizon = 1;
  const auto latency_us = [&] {
    const auto task = load_task(options, 0);
    return task->costs().make(task->start())->latency_us();
  };
  const double by_rates = latency_us();
  for (const CostKind kind : {CostKind::measured, CostKind::alone}) {
    options.cost = kind;
    EXPECT_THROW(load_task(options, 0), WorkloadError) << "nothing was measured";
  }
  std::vector<cost::KernelSample> twice;
  const auto task = load_task(workload(options.models), 0);
  const cost::DeviceProfile device = cost::device_of_this_machine(find_config(options.device));
  for (const auto& kernel : cost::AnalyticCost(device, task->bindings(), task->start()).kernels())
    if (!kernel.view) twice.push_back({kernel.features, kernel.analytic_us, 2 * kernel.analytic_us});
  cost::KernelDatabase(cost::default_kernel_database()).write(kernel_fingerprint(options), twice);
  options.cost = CostKind::measured;
  EXPECT_NEAR(latency_us() / by_rates, 2, 0.1);
  options.cost = CostKind::alone;
  EXPECT_GT(latency_us(), 2 * by_rates) << "an activation is a kernel too";
}

}  // namespace
}
