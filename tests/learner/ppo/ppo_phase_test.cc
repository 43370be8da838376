#include "learner/ppo/ppo_phase.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/nn/model/policy_file.h"
#include "learner/ppo/episode.h"
#include "replay/rollout/random_observation.h"
#include "replay/rollout/replay_error.h"
#include "replay/rollout/segment_codec.h"

namespace regraft::learner {
namespace {

using enum env::ActionMode;

constexpr std::uint64_t kSeed = 5102;

/// A phase, and what an actor sends it.
class PpoPhaseTest : public ::testing::Test {
 protected:
  std::unique_ptr<Phase> phase(bool hierarchical, env::ActionMode mode) {
    PpoPhaseSetup setup;
    setup.job.folder = {folder_.path()};
    setup.job.options.device = "cpu";
    setup.job.options.steps_per_update = 1;
    setup.network.preset = "seeds";
    setup.network.head = hierarchical ? nn::Head::hierarchical : nn::Head::pointer;
    setup.network.action_mode = mode;
    setup.model_names = {"m"};
    setup.rule_names = {"a", "b", "c"};
    setup.rule_features.rule_count = setup.rule_names.size();
    setup.rule_features.action_mode = mode;
    setup.rule_features.features.resize(setup.rule_features.rows() * env::kRuleFeatures);
    setup.op_kind_names = {"u", "v", "w", "x", "y", "z"};
    return make_ppo_phase(std::move(setup));
  }
  /// An episode of one step.
  wire::Delivery played(bool hierarchical, env::ActionMode mode, std::uint64_t seed = 3) {
    wire::Delivery delivery;
    delivery.ticket.id = 1;
    delivery.ticket.generation = 1;
    delivery.ticket.seed = seed;
    replay::Segment segment;
    segment.ticket = segment.generation = 1;
    segment.weight_version = 1;
    segment.hierarchical = hierarchical;
    segment.seed = 3;
    segment.final_cost_ratio = segment.best_cost_ratio = 1;
    replay::Step step;
    step.observation = replay::testing::observation_on({1, 4, 5}, 3, rng_);
    step.observation.action_mode = mode;
    step.log_probability = -0.5F;
    step.terminated = true;
    segment.steps.push_back(step);
    wire::Part part;
    part.header.weight_version = 1;
    part.header.steps = 1;
    part.header.last = true;
    for (replay::Bytes& bytes : replay::encode_segment(segment))
      part.frames.push_back(wire::Frame::adopt(std::move(bytes)));
    delivery.parts.push_back(std::move(part));
    return delivery;
  }

  TempDir folder_;
  Rng rng_{kSeed, "ppo phase"};
};

TEST_F(PpoPhaseTest, AnEpisodeOfAnotherHeadIsRefused) {
  for (const bool trained : {false, true}) {
    SCOPED_TRACE(trained ? "a hierarchical policy is trained" : "a pointer policy is trained");
    const auto learning = phase(trained, one_site);
    EXPECT_THROW(learning->judge(played(!trained, one_site)), replay::ReplayError);
    const auto result = learning->judge(played(trained, one_site));
    EXPECT_EQ(result->steps, 1u);
    EXPECT_EQ(result->weight_version, 1u);
  }
}

TEST_F(PpoPhaseTest, AnEpisodeWithActionsOfAnotherKindIsRefused) {
  for (const auto& [trained, other] : {std::pair{one_site, all_sites}, {all_sites, one_site}}) {
    const auto learning = phase(false, trained);
    EXPECT_THROW(learning->judge(played(false, other)), replay::ReplayError);
    EXPECT_TRUE(learning->judge(played(false, trained)));
  }
}

TEST_F(PpoPhaseTest, AnEpisodeOfAnotherTicketIsRefused) {
  EXPECT_THROW(phase(false, one_site)->judge(played(false, one_site, 4)), replay::ReplayError);
}

/// Rules of an observation that have a location.
std::vector<std::string> legal_in(const wire::Delivery& delivery) {
  const std::vector<std::string> names{"a", "b", "c"};
  std::vector<std::string> legal;
  const Episode episode = assemble_episode(delivery);
  for (std::size_t rule = 0; rule < names.size(); ++rule)
    if (episode.segments.front().steps.front().observation.location_counts[rule] > 0)
      legal.push_back(names[rule]);
  return legal;
}

TEST_F(PpoPhaseTest, ThePolicyNamesTheRulesThatMatchedInTrainingInterruptedOrNot) {
  auto learning = phase(false, one_site);
  const auto exported = [&] {
    learning->export_as("latest", {});
    const nn::PolicyFile policy = nn::load_policy(RunFolder{folder_.path()}.latest_policy());
    return nlohmann::json::parse(policy.training_record)
        .at(nn::kMatchedRules)
        .get<std::vector<std::string>>();
  };
  EXPECT_TRUE(exported().empty());
  wire::Delivery delivery = played(false, one_site);
  std::vector<std::string> legal = legal_in(delivery);
  while (legal.empty() || legal.size() == 3) legal = legal_in(delivery = played(false, one_site));
  learning->admit(learning->judge(delivery), 0);
  ASSERT_TRUE(learning->status(0).ready);
  EXPECT_TRUE(learning->update({}).made);
  EXPECT_EQ(exported(), legal);
  const PhaseState saved = learning->save({}, {});
  learning = phase(false, one_site);
  learning->restore(&saved, 1);
  EXPECT_EQ(exported(), legal);
}

}  // namespace
}
