// Generated models under random rewrites: the default run makes some twenty thousand rewrites; the
// environment variables REGRAFT_WALKS (rewrites to make) and REGRAFT_WALK_SEED ask for more (tests/run.sh
// --walks N).
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include "core/exec/rewrite_fuzzing/grammar.h"
#include "core/exec/rewrite_fuzzing/random_walk.h"
#include "core/exec/site/site_check.h"

namespace regraft::exec::rewrite_fuzzing {
namespace {

constexpr std::int64_t kRewrites = 20000;
constexpr std::uint64_t kFirstSeed = 1;

std::int64_t setting(const char* name, std::int64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoll(text, nullptr, 10);
}

double tolerance_of(DType dtype) {
  return dtype == DType::float16 ? 3e-2 : dtype == DType::float64 ? 1e-9 : 1e-4;
}

struct Totals {
  std::int64_t models = 0, rewrites = 0, not_runnable = 0, failures = 0, opaque = 0;
  std::map<std::string, int> rules, refusals;
};

void print(const Totals& totals, const rules::RuleSet& rules) {
  std::cout << totals.models << " models, " << totals.rewrites << " rewrites, " << totals.failures
            << " failures, " << totals.not_runnable << " models that the runtime does not take, "
            << totals.opaque << " nodes left alone; " << totals.rules.size() << " of " << rules.size()
            << " rules fired\n";
  for (const auto& [reason, count] : totals.refusals)
    if (std::getenv("REGRAFT_WALK_VERBOSE")) std::cout << "  " << count << " x " << reason << "\n";
  if (!std::getenv("REGRAFT_WALK_VERBOSE")) return;
  for (std::uint32_t i = 0; i < rules.size(); ++i) {
    const auto fired = totals.rules.find(rules.info(i).name);
    std::cout << "  " << rules.info(i).name << " " << (fired == totals.rules.end() ? 0 : fired->second)
              << "\n";
  }
}

TEST(GeneratedWalks, KeepTheirMeaning) {
  const rules::RuleSet rules = rules::RuleSet::load(
      std::filesystem::path(REGRAFT_SOURCE_DIR) / "configs/rules", rules::RuleStatus::tested);
  const std::int64_t wanted = setting("REGRAFT_WALKS", kRewrites);
  auto seed = static_cast<std::uint64_t>(setting("REGRAFT_WALK_SEED", kFirstSeed));
  const TempDir scratch;
  const char* kept = std::getenv("REGRAFT_WALK_FOLDER");  // to look at what a seed gives
  const std::filesystem::path folder = kept == nullptr ? scratch.path() : std::filesystem::path(kept);
  set_oracle_threads(1);
  Totals totals;
  for (; totals.rewrites < wanted; ++seed) {
    const GeneratedModel model = generate_model(seed);
    const auto file = folder / "model.onnx";
    std::ofstream(file, std::ios::binary) << model.bytes;
    WalkPlan plan;
    plan.seed = seed;
    plan.clean_up = seed % 2 == 0;
    plan.tolerance = tolerance_of(model.real);
    if (model.dynamic) plan.bindings = {{{"N", 1}}, {{"N", 3}}};
    const WalkOutcome outcome = Walk(file, rules, plan, folder).run();
    ++totals.models;
    totals.rewrites += outcome.rewrites;
    totals.opaque += outcome.opaque;
    for (const auto& [rule, count] : outcome.rules) totals.rules[rule] += count;
    if (!outcome.not_runnable.empty()) {
      ++totals.not_runnable;
      ++totals.refusals[outcome.not_runnable.substr(0, 300)];
      continue;
    }
    if (outcome.failure.empty()) continue;
    ++totals.failures;
    ADD_FAILURE() << "seed " << seed << " (opset " << model.opset << ", " << graph::dtype_name(model.real)
                  << "): " << outcome.failure;
  }
  print(totals, rules);
}

}  // namespace
}
