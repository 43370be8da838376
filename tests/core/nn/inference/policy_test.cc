#include "core/nn/inference/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/nn/inference/device.h"
#include "core/nn/model/nn_error.h"
#include "core/nn/synthetic_observation.h"

namespace regraft::nn {
namespace {

constexpr std::uint64_t kSeed = 411;

class PolicyTest : public testing::Test {
 protected:
  PolicyTest() {
    set_torch_threads(1);
    for (const std::size_t nodes : {1, 3, 40, 12}) {
      size.nodes = nodes;
      observations.push_back(test::synthetic_observation(size, rng));
    }
  }
  Policy make(Engine engine, const NetworkConfig& config) {
    Weights weights = initial_weights(config, kSeed);
    test::wake_up(weights);
    Rng rule_rng(kSeed, "rules");
    return {config,
            weights,
            test::synthetic_rules(size.rules, rule_rng, config.action_mode),
            {.device = "cpu", .engine = engine}};
  }

  test::SyntheticSize size;
  Rng rng{kSeed, "policy"};
  std::vector<env::Observation> observations;
};

TEST_F(PolicyTest, GivesADistributionForEachObservation) {
  auto policy = make(Engine::torch, preset("cpu", 20));
  const auto evaluations = policy.evaluate(test::pointers(observations));
  ASSERT_EQ(evaluations.size(), observations.size());
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    ASSERT_EQ(evaluations[i].log_probabilities.size(), observations[i].candidate_count());
    double sum = 0;
    for (const float value : evaluations[i].log_probabilities) sum += std::exp(static_cast<double>(value));
    EXPECT_NEAR(sum, 1.0, 1e-5);
    EXPECT_TRUE(std::isfinite(evaluations[i].value));
  }
  EXPECT_TRUE(policy.evaluate(std::span<const env::Observation* const>{}).empty());
}

TEST_F(PolicyTest, BatchedEqualsSingleOnEveryEngine) {
  for (const auto engine : {Engine::torch, Engine::automatic}) {
    auto policy = make(engine, preset("gpu", 20));
    const auto batched = policy.evaluate(test::pointers(observations));
    for (std::size_t i = 0; i < observations.size(); ++i) {
      const auto single = policy.evaluate(observations[i]);
      EXPECT_NEAR(single.value, batched[i].value, 2e-6);
      for (std::size_t c = 0; c < single.log_probabilities.size(); ++c) {
        EXPECT_NEAR(single.log_probabilities[c], batched[i].log_probabilities[c], 5e-6)
            << policy.description();
      }
    }
  }
}

TEST_F(PolicyTest, TheFusedEngineEqualsTheTorchEngine) {
  const std::size_t rules = size.rules;
  // Sums in another order, on vectors of another width: some 40 steps of a float.
  const auto bound = [](float expected) { return 5e-6 * std::max(1.0f, std::abs(expected)); };
  for (const NetworkConfig config :
       {preset("cpu", 20), preset("gpu", 20), NetworkConfig{16, 2, 20},
        test::hierarchical(preset("cpu", 20), rules), test::hierarchical(preset("gpu", 20), rules)}) {
    auto torch = make(Engine::torch, config);
    auto fused = make(Engine::fused, config);
    EXPECT_EQ(fused.description(), "fused cpu");
    for (const auto& observation : observations) {
      const auto expected = torch.evaluate(observation);
      const auto found = fused.evaluate(observation);
      EXPECT_NEAR(found.value, expected.value, 2e-6);
      for (std::size_t c = 0; c < expected.log_probabilities.size(); ++c) {
        EXPECT_NEAR(found.log_probabilities[c], expected.log_probabilities[c],
                    bound(expected.log_probabilities[c]))
            << config.width << " wide";
        if (config.head == Head::pointer) continue;
        EXPECT_NEAR(found.rule_log_probabilities[c], expected.rule_log_probabilities[c],
                    bound(expected.rule_log_probabilities[c]));
        EXPECT_NEAR(found.location_log_probabilities[c], expected.location_log_probabilities[c],
                    bound(expected.location_log_probabilities[c]));
      }
    }
  }
  EXPECT_THROW(make(Engine::fused, NetworkConfig{24, 2, 20}), NnError);
  EXPECT_EQ(make(Engine::automatic, NetworkConfig{24, 2, 20}).description(), "torch cpu");
}

/// Two locations of one rule with the same matched nodes, the first of which stands for all sites.
env::Observation two_alike(const test::SyntheticSize& size, Rng& rng) {
  env::Observation seen =
      test::synthetic_observation({.nodes = 12, .rules = size.rules, .locations = 0}, rng);
  seen.action_mode = env::ActionMode::all_sites;
  seen.candidate_rules = {1, 1, static_cast<std::uint16_t>(size.rules)};
  seen.candidate_locations = {0, 1, 0};
  seen.candidate_nodes = {3, 4, 3, 4};
  seen.candidate_offsets = {0, 2, 4, 4};
  seen.location_counts[1] = 2;
  return seen;
}

TEST_F(PolicyTest, ARuleAtAllOfItsSitesIsToldFromTheRuleAtOne) {
  const env::Observation seen = two_alike(size, rng);
  for (NetworkConfig config : {preset("cpu", 20), test::hierarchical(preset("cpu", 20), size.rules)}) {
    config.action_mode = env::ActionMode::all_sites;
    auto torch = make(Engine::torch, config), fused = make(Engine::fused, config);
    const auto expected = torch.evaluate(seen), found = fused.evaluate(seen);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(found.log_probabilities[c], expected.log_probabilities[c], 5e-6);
    EXPECT_GT(std::abs(found.log_probabilities[0] - found.log_probabilities[1]), 1e-4);
  }
}

TEST_F(PolicyTest, BeforeTrainingAllSitesOfARuleAreTakenAsOftenAsAnyOneOfThem) {
  env::Observation seen = two_alike(size, rng);
  seen.candidate_rules = {1, 1, 1, 3, static_cast<std::uint16_t>(size.rules)};
  seen.candidate_locations = {0, 1, 2, 0, 0};
  seen.candidate_nodes = {3, 4, 3, 4, 4};
  seen.candidate_offsets = {0, 2, 3, 4, 5, 5};
  seen.location_counts[1] = 3;
  seen.location_counts[3] = 1;
  for (NetworkConfig config : {preset("cpu", 20), test::hierarchical(preset("cpu", 20), size.rules)}) {
    config.action_mode = env::ActionMode::all_sites;
    const bool pointer = config.head == Head::pointer;
    Weights weights = initial_weights(config, 5);
    std::ranges::fill(weights.tensor(pointer ? "pointer.output" : "location.output"), 0.0F);
    for (const auto engine : {Engine::torch, Engine::fused}) {
      Policy policy = make(engine, config);
      policy.set_weights(weights);
      const Evaluation said = policy.evaluate(seen);
      const std::vector<float>& logs = pointer ? said.log_probabilities : said.location_log_probabilities;
      // Two sites at once, each of them, one site of another rule, NO-OP.
      const std::vector<double> expected = pointer ? std::vector{1 / 4.0, 1 / 8.0, 1 / 8.0, 1 / 4.0, 1 / 4.0}
                                                   : std::vector{1 / 2.0, 1 / 4.0, 1 / 4.0, 1.0, 1.0};
      for (std::size_t c = 0; c < expected.size(); ++c)
        EXPECT_NEAR(std::exp(logs[c]), expected[c], 1e-6) << policy.description() << ", candidate " << c;
    }
  }
}

TEST_F(PolicyTest, ActionsOfAnotherKindThanInTrainingAreRefused) {
  NetworkConfig knowing = preset("cpu", 20);
  knowing.action_mode = env::ActionMode::all_sites;
  const env::Observation with = two_alike(size, rng);
  env::Observation without = with;
  without.action_mode = env::ActionMode::one_site;
  for (const auto engine : {Engine::torch, Engine::fused}) {
    auto policy = make(engine, preset("cpu", 20)), other = make(engine, knowing);
    EXPECT_NO_THROW(policy.evaluate(without));
    EXPECT_NO_THROW(other.evaluate(with));
    EXPECT_THAT([&] { policy.evaluate(with); },
                testing::ThrowsMessage<NnError>(testing::HasSubstr("workload.action_mode=one_site")));
    EXPECT_THAT([&] { other.evaluate(without); },
                testing::ThrowsMessage<NnError>(testing::HasSubstr("workload.action_mode=all_sites")));
    EXPECT_THROW(other.set_rules(test::synthetic_rules(size.rules, rng)), NnError);
    EXPECT_THROW(policy.set_rules(test::synthetic_rules(size.rules, rng, env::ActionMode::all_sites)),
                 NnError);
    const env::Observation* both[] = {&with, &without};
    EXPECT_THROW(other.evaluate(both), NnError);
  }
}

// What is left of a model whose outputs are constants: no input, no node, NO-OP alone.
TEST_F(PolicyTest, AGraphWithoutNodesHasNoOpAlone) {
  env::Observation empty =
      test::synthetic_observation({.nodes = 0, .rules = size.rules, .locations = 0}, rng);
  ASSERT_EQ(empty.candidate_count(), 1u);
  for (const NetworkConfig& config : {preset("cpu", 20), test::hierarchical(preset("cpu", 20), size.rules)}) {
    auto torch = make(Engine::torch, config), fused = make(Engine::fused, config);
    const auto expected = torch.evaluate(empty), found = fused.evaluate(empty);
    EXPECT_THAT(found.log_probabilities, testing::ElementsAre(testing::FloatNear(0, 1e-6)));
    EXPECT_THAT(expected.log_probabilities, testing::ElementsAre(testing::FloatNear(0, 1e-6)));
    EXPECT_TRUE(std::isfinite(found.value));
    EXPECT_NEAR(found.value, expected.value, 5e-6);
    const env::Observation* both[] = {&observations[2], &empty};
    EXPECT_NEAR(torch.evaluate(both)[1].value, expected.value, 5e-6);
    EXPECT_NEAR(fused.evaluate(both)[0].value, fused.evaluate(observations[2]).value, 5e-6);
  }
}

TEST_F(PolicyTest, WrongObservationsAreRefused) {
  auto policy = make(Engine::automatic, preset("cpu", 20));
  auto bad = observations[2];
  bad.node_kinds[0] = 20;
  EXPECT_THROW(policy.evaluate(bad), NnError);
  bad = observations[2];
  bad.senders[0] = 40;
  EXPECT_THROW(policy.evaluate(bad), NnError);
  bad = observations[2];
  bad.senders[0] = -1;
  EXPECT_THROW(policy.evaluate(bad), NnError);
  bad = observations[2];
  bad.candidate_rules[0] = 9;
  EXPECT_THROW(policy.evaluate(bad), NnError);
  bad = observations[2];
  bad.node_features.pop_back();
  EXPECT_THROW(policy.evaluate(bad), NnError);
  bad = observations[2];
  bad.candidate_offsets.back() += 1;
  EXPECT_THROW(policy.evaluate(bad), NnError);
  EXPECT_THROW(policy.evaluate(env::Observation{}), NnError);
}

TEST_F(PolicyTest, SwapsWeightsAndKeepsTheOldOnesWhenTheNewAreForeign) {
  auto policy = make(Engine::automatic, preset("cpu", 20));
  const auto before = policy.evaluate(observations[2]);
  EXPECT_THROW(policy.set_weights(initial_weights(preset("gpu", 20), 1)), NnError);
  EXPECT_EQ(policy.evaluate(observations[2]).log_probabilities, before.log_probabilities);
  policy.set_weights(initial_weights(preset("cpu", 20), 1));
  EXPECT_NE(policy.evaluate(observations[2]).log_probabilities, before.log_probabilities);
}

TEST_F(PolicyTest, ReadsRuleSetsOfAnySize) {
  auto policy = make(Engine::automatic, preset("cpu", 20));
  size.rules = 30;
  policy.set_rules(test::synthetic_rules(30, rng));
  EXPECT_NO_THROW(policy.evaluate(test::synthetic_observation(size, rng)));
  EXPECT_THROW(policy.set_rules(env::RuleFeatureTable{3, {}}), NnError);
}

TEST_F(PolicyTest, AHierarchicalPolicySaysBothHalvesOfEveryChoice) {
  for (const auto engine : {Engine::torch, Engine::fused}) {
    auto policy = make(engine, test::hierarchical(preset("cpu", 20), size.rules));
    for (const auto& observation : observations) {
      const auto evaluation = policy.evaluate(observation);
      const auto candidates = observation.candidate_count();
      ASSERT_EQ(evaluation.rule_log_probabilities.size(), candidates);
      ASSERT_EQ(evaluation.location_log_probabilities.size(), candidates);
      EXPECT_EQ(evaluation.location_log_probabilities.back(), 0) << "NO-OP has one location";
      for (std::size_t c = 0; c < candidates; ++c)
        EXPECT_NEAR(evaluation.log_probabilities[c],
                    evaluation.rule_log_probabilities[c] + evaluation.location_log_probabilities[c], 1e-6);
      const Choice choice = sample(evaluation, rng);
      EXPECT_EQ(choice.log_probability, evaluation.rule_log_probabilities[choice.candidate]);
      EXPECT_EQ(choice.location_log_probability, evaluation.location_log_probabilities[choice.candidate]);
    }
  }
}

TEST_F(PolicyTest, AHierarchicalPolicyTakesNoOtherNumberOfRules) {
  auto policy = make(Engine::automatic, test::hierarchical(preset("cpu", 20), size.rules));
  EXPECT_THROW(policy.set_rules(test::synthetic_rules(30, rng)), NnError);
  EXPECT_THROW(make(Engine::automatic, test::hierarchical(preset("cpu", 20), 30)), NnError);
  NetworkConfig unbound = preset("cpu", 20);
  unbound.head = Head::hierarchical;
  EXPECT_THROW(make(Engine::automatic, unbound), NnError);
}

TEST(Choice, SamplesByProbabilityAndPicksTheMostLikely) {
  Evaluation evaluation;
  evaluation.log_probabilities = {std::log(0.2f), -INFINITY, std::log(0.5f), std::log(0.3f)};
  EXPECT_EQ(most_likely(evaluation).candidate, 2u);
  Rng rng(9, "sample");
  std::vector<int> counts(4);
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const Choice choice = sample(evaluation, rng);
    EXPECT_EQ(choice.log_probability, evaluation.log_probabilities[choice.candidate]);
    ++counts[choice.candidate];
  }
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[0] / double{kDraws}, 0.2, 0.01);
  EXPECT_NEAR(counts[2] / double{kDraws}, 0.5, 0.01);
  EXPECT_THROW(sample(Evaluation{}, rng), NnError);
}

TEST(Device, NamesResolveOrFailClearly) {
  EXPECT_EQ(resolve_device("cpu"), "cpu");
  EXPECT_THROW(resolve_device("abacus"), UsageError);
  const auto best = resolve_device("auto");
  EXPECT_TRUE(best == "cpu" || best == "cuda");
  if (best == "cpu") {
    EXPECT_THROW(resolve_device("cuda"), NnError);
  }
}

}  // namespace
}
