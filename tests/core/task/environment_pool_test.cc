#include "core/task/environment_pool.h"

#include <gmock/gmock.h>

namespace regraft::task {
namespace {

WorkloadOptions three_models(std::uint32_t environments) {
  WorkloadOptions options;
  options.models = {"synthetic:4:1:1:7", "synthetic:5:1:1:8", "synthetic:6:1:1:9"};
  options.environments = environments;
  return options;
}

TEST(EnvironmentPool, KeepsOneEnvironmentAModel) {
  const SystemClock clock;
  EnvironmentPool pool(three_models(3), clock);
  env::Environment& first = pool.environment(0);
  EXPECT_NE(&pool.environment(1), &first);
  EXPECT_EQ(&pool.environment(0), &first);
  EXPECT_EQ(pool.task(1).name(), "synthetic:5:1:1:8");
}

TEST(EnvironmentPool, LetsGoTheOneThatWasNotUsedForTheLongest) {
  const SystemClock clock;
  EnvironmentPool pool(three_models(2), clock);
  const auto steps = [&](std::uint32_t model) { return pool.environment(model).steps(); };
  for (const std::uint32_t model : {0, 1}) pool.environment(model).step_candidate(0);
  EXPECT_EQ(steps(0), 1u);
  EXPECT_EQ(steps(2), 0u) << "made in the place of 1";
  EXPECT_EQ(steps(0), 1u) << "used since 1 was";
  EXPECT_EQ(steps(1), 0u) << "made anew";
  EXPECT_EQ(pool.task(1).name(), "synthetic:5:1:1:8");
}

}  // namespace
}
