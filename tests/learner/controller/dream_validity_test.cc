#include "replay/dream/dream_validity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/clock.h"
#include "core/env/synthetic.h"
#include "core/graph/op.h"
#include "core/nn/dream_world.h"
#include "core/nn/model/controller_file.h"

namespace regraft::replay {
namespace {

constexpr std::uint64_t kSeed = 3001;

/// Dreams of random weights, whose actions are often not legal in the real environment.
DreamValidity validity_with(double penalty) {
  const env::SyntheticTask task =
      env::make_synthetic_task({.chains = 3, .locked = 1, .valley = 1, .seed = 5});
  const rules::RuleSet rules = env::make_synthetic_rules(1);
  const env::TableCostFactory costs = env::make_synthetic_costs(1.0);
  const SystemClock clock;
  env::EnvOptions options;
  options.horizon = 12;
  options.invalid_penalty = penalty;
  env::Environment environment(*task.start, rules, costs, options, clock);
  std::vector<std::string> kinds;
  for (std::size_t i = 0; i < graph::kOpKinds; ++i)
    kinds.emplace_back(graph::op_info(static_cast<graph::OpKind>(i)).name);
  nn::WorldBundle bundle;
  bundle.world = test::random_world(kSeed, static_cast<std::uint32_t>(rules.size() + 1), 0, kinds);
  nn::ControllerFile file;
  const nn::DynamicsConfig& dynamics = bundle.world.config.dynamics;
  file.config.state = dynamics.latent + dynamics.hidden;
  file.config.rules = dynamics.rules;
  file.config.locations = bundle.world.config.locations;
  file.config.width = 8;
  file.weights = nn::initial_weights(file.config, kSeed);
  bundle.controller = nn::encode_controller(file);
  bundle.controller_of = bundle.world.version();
  return measure_validity(bundle, {}, environment, 20, kSeed);
}

TEST(DreamValidity, TheRealReturnIsTheEnvironmentsPenaltiesAndAll) {
  SCOPED_TRACE(kSeed);
  const DreamValidity free = validity_with(0), dear = validity_with(0.5);
  EXPECT_EQ(free.predicted, dear.predicted);
  ASSERT_GT(free.illegal_share, 0);
  double penalties = 0;
  for (std::size_t i = 0; i < free.real.size(); ++i) {
    const double count = (free.real[i] - dear.real[i]) / 0.5;
    EXPECT_NEAR(count, std::round(count), 1e-9) << "each illegal action costs one penalty";
    penalties += count;
  }
  EXPECT_GE(penalties, 1);
  EXPECT_NEAR(penalties, free.illegal_share * static_cast<double>(free.real_steps), 1e-9);
}

/// How many are smaller, and half of the others that are equal.
double rank_of(double value, const std::vector<double>& all) {
  double rank = 0;
  for (const double other : all) rank += other < value ? 1 : other == value ? 0.5 : 0;
  return rank;
}

TEST(DreamValidity, FiguresAreThoseOfItsTrajectories) {
  SCOPED_TRACE(kSeed);
  const DreamValidity validity = validity_with(0.5);
  const std::size_t count = validity.real.size();
  ASSERT_EQ(validity.predicted.size(), count);
  double error = 0, products = 0, predicted_squares = 0, real_squares = 0;
  const double center = static_cast<double>(count) / 2;
  for (std::size_t i = 0; i < count; ++i) {
    error += std::abs(validity.predicted[i] - validity.real[i]) / static_cast<double>(count);
    const double a = rank_of(validity.predicted[i], validity.predicted) - center;
    const double b = rank_of(validity.real[i], validity.real) - center;
    products += a * b;
    predicted_squares += a * a;
    real_squares += b * b;
  }
  EXPECT_GT(error, 0) << "a world model of random weights is wrong";
  EXPECT_NEAR(validity.mean_error, error, 1e-12);
  ASSERT_GT(real_squares, 0);
  EXPECT_LE(validity.real_steps, 12 * count) << "the horizon";
  EXPECT_GE(validity.real_steps, count);
  const double legal = (1 - validity.illegal_share) * static_cast<double>(validity.real_steps);
  EXPECT_LE(static_cast<double>(validity.costed), legal + 1e-9) << "one a rewrite, none for NO-OP";
  EXPECT_GT(validity.costed, 0u);
  EXPECT_NEAR(validity.rank_correlation, products / std::sqrt(predicted_squares * real_squares), 1e-12);
}

}  // namespace
}
