// Random rewrites of the real models, compared in ONNX Runtime. By default two seeds on the small ones; with
// the environment variable REGRAFT_MODEL_WALKS=N, N seeds on all eight (tests/run.sh --walks).
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "core/exec/rewrite_fuzzing/random_walk.h"
#include "core/exec/site/site_check.h"
#include "support/models.h"

namespace regraft::exec::rewrite_fuzzing {
namespace {

struct Model {
  const char* name;
  int seeds;  // in the default run
};

class ModelWalks : public ::testing::TestWithParam<Model> {};

constexpr int kRewrites = 100;
constexpr double kTolerance = 2e-3;  // what the whole-model check allows at most

TEST_P(ModelWalks, KeepTheirMeaning) {
  const char* wanted = std::getenv("REGRAFT_MODEL_WALKS");
  const int seeds = wanted == nullptr ? GetParam().seeds : std::atoi(wanted);
  if (seeds == 0) GTEST_SKIP() << "large: set REGRAFT_MODEL_WALKS";
  const rules::RuleSet rules = rules::RuleSet::load(
      std::filesystem::path(REGRAFT_SOURCE_DIR) / "configs/rules", rules::RuleStatus::tested);
  const auto model = regraft::testing::unpacked_model(GetParam().name);
  const TempDir folder;
  set_oracle_threads(1);
  int rewrites = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    WalkPlan plan;
    plan.seed = static_cast<std::uint64_t>(seed);
    plan.steps = kRewrites;
    plan.site_percent = 0;  // RulesSound looks at sites
    plan.clean_up = seed % 2 == 1;
    plan.tolerance = kTolerance;
    plan.bindings = {{{"batch", 1}}};
    const WalkOutcome outcome = Walk(model, rules, plan, folder.path()).run();
    EXPECT_EQ(outcome.failure, "") << "seed " << seed;
    EXPECT_EQ(outcome.not_runnable, "");
    rewrites += outcome.rewrites;
  }
  std::cout << seeds << " walks, " << rewrites << " rewrites\n";
}

INSTANTIATE_TEST_SUITE_P(All, ModelWalks,
                         ::testing::Values(Model{"nasrnn", 2}, Model{"squeezenet1_1", 2},
                                           Model{"resnet18", 1}, Model{"resnet50", 0},
                                           Model{"resnext50_32x4d", 0}, Model{"inception_v3", 0},
                                           Model{"vit_b_16", 0}, Model{"bert_base", 0}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}
