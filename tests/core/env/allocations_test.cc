#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/cost/analytic.h"
#include "core/env/environment.h"
#include "core/onnx/import.h"
#include "core/rules/cleanup.h"
#include "support/models.h"

namespace {

std::atomic<std::uint64_t> allocations = 0;

void* counted(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// Of this whole program: what a step asks of the heap is counted here.
void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new[](std::size_t size) {
  return counted(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace regraft::env {
namespace {

/// Steps of a random legal policy, resets included.
class Walk {
 public:
  Walk(Environment& environment, std::uint64_t seed) : environment_(environment), rng_(seed, "walk") {}

  void take(std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) {
      if (environment_.done()) environment_.reset(++episode_);
      const std::size_t legal = environment_.observation().candidate_count() - 1;
      environment_.step_candidate(legal == 0 ? 0 : rng_.below(legal));
    }
  }

 private:
  Environment& environment_;
  Rng rng_;
  std::uint64_t episode_ = 0;
};

// Once everything has had its size, observing, matching and costing a step ask nothing of the heap; carrying
// out its rewrite does, for the attributes and lists of what it makes.
TEST(Allocations, AreFewAStepOnceAWalkHasWarmedUp) {
  const std::string root = REGRAFT_SOURCE_DIR;
  const onnx::ImportedModel imported = onnx::import_model(regraft::testing::unpacked_model("resnet50"));
  graph::Graph start = imported.graph();
  rules::clean_up(start);
  start.commit();
  const rules::RuleSet rules = rules::RuleSet::load(root + "/configs/rules");
  const cost::AnalyticFactory costs(cost::load_device(root + "/configs/devices/cpu-1core.toml"));
  const SystemClock clock;
  Environment environment(start, rules, costs, {}, clock);
  Walk walk(environment, 1);
  constexpr std::size_t kWarmUp = 3000, kSteps = 1000;
  walk.take(kWarmUp);
  const std::uint64_t before = allocations;
  walk.take(kSteps);
  const double each = static_cast<double>(allocations - before) / kSteps;
  RecordProperty("allocations_a_step", std::to_string(each));
  std::printf("resnet50: %.1f allocations a step\n", each);
  EXPECT_LT(each, 70);
}

}  // namespace
}  // namespace regraft::env
