#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <set>

#include "core/nn/model/world_bundle.h"
#include "launch/job/curves.h"
#include "launch/program.h"
#include "replay/rollout/rollout.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::json_of;
using testing::Running;
using testing::train;

/// A fit of seconds, on a graph of the synthetic family.
std::vector<std::string> small(std::vector<std::string> more) {
  std::vector<std::string> words;
  for (const char* setting :
       {"train.phase=world-model", "train.deterministic=true", "world.collect_steps=400", "world.noop=0.1",
        "world.latent=8", "world.hidden=16", "world.mixtures=2", "world.encoder_updates=10",
        "world.encoder_states=32", "world.dynamics_updates=30", "world.lanes=4", "world.time=8",
        "world.reward_hidden=8", "world.reward_updates=5", "world.evaluate_every=10",
        "world.scheduled_sampling=0.5", "world.reward_unit=0.01"})
    words.insert(words.end(), {"--set", setting});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class WorldPhaseTest : public ::testing::Test {
 protected:
  static std::string model_of(const fs::path& run) { return read_file(run / "world" / "model.world"); }
  TempDir dir;
};

TEST_F(WorldPhaseTest, ManyActorsCollectAndWhatIsFittedDependsOnTheSeedAlone) {
  std::vector<std::string> models;
  for (const char* actors : {"actors.count=1", "actors.count=3"}) {
    const fs::path folder = dir.path() / actors;
    Running job(train(folder, small({"--set", actors})));
    ASSERT_EQ(job.finish().code, 0) << job.seen();
    const nlohmann::json summary = json_of(folder / "summary.json");
    EXPECT_TRUE(summary.at("finished"));
    EXPECT_TRUE(summary.at("ticket_counts_balance"));
    EXPECT_GE(summary.at("steps").get<int>(), 400);
    EXPECT_EQ(summary.at("retained"), summary.at("episodes")) << "all that was admitted is in the replay";
    models.push_back(model_of(folder));
    const nn::WorldBundle bundle = nn::load_bundle(folder / "world" / "model.world");
    EXPECT_TRUE(bundle.controller.empty());
    EXPECT_EQ(bundle.world.config.dynamics.latent, 8u);
    EXPECT_TRUE(fs::exists(folder / "world" / "open_loop.csv"));
    const auto collected = testing::newest(folder / "events" / "collect");
    testing::expect_job_curves(folder / "events" / "collect");
    EXPECT_EQ(collected.at("collect/steps"), summary.at("steps").get<double>());
    EXPECT_EQ(collected.at("collect/episodes"), summary.at("episodes").get<double>());
    EXPECT_LE(collected.at("collect/return"), collected.at("collect/best_return"));
    const auto fitted = read_scalars(folder / "events" / "fit");
    for (const char* tag : {"encoder/train_cost", "encoder/held_out_total", "dynamics/rate",
                            "dynamics/held_out_nll", "reward/held_out_apart", "ledger/admitted"})
      EXPECT_TRUE(fitted.contains(tag)) << tag;
    ASSERT_EQ(fitted.at("dynamics/held_out_nll").size(), 3u) << "every tenth of thirty updates";
    EXPECT_EQ(fitted.at("dynamics/held_out_nll").back().step, 10 + 30);
  }
  EXPECT_EQ(models[0] == models[1], true);

  const fs::path folder = dir.path() / "other seed";
  Running job(train(folder, small({"--set", "train.seed=5"})));
  ASSERT_EQ(job.finish().code, 0) << job.seen();
  EXPECT_EQ(model_of(folder) == models[0], false);
}

// Learner and actors die in the midst of a round, which is played again as it was.
TEST_F(WorldPhaseTest, KilledWhileCollectingAndResumedItEndsInTheSameBits) {
  const std::vector<std::string> settings = {"--set", "train.phase=collect",
                                             "--set", "world.collect_steps=30000",
                                             "--set", "train.checkpoint_minutes=0.01"};
  Running whole(train(dir.path() / "whole", small(settings)));
  ASSERT_EQ(whole.finish().code, 0) << whole.seen();

  const fs::path folder = dir.path() / "killed";
  Running job(train(folder, small(settings)));
  ASSERT_TRUE(job.wait_for_line("checkpoint ")) << job.seen();
  const auto learner = job.workers("learner");
  ASSERT_EQ(learner.size(), 1u);
  kill(learner.front(), SIGKILL);
  for (const pid_t actor : job.workers("actor")) kill(actor, SIGKILL);
  ASSERT_TRUE(job.wait_for_line("resumed with ")) << job.seen();
  const std::string seen = job.seen();
  const int episodes = std::stoi(seen.substr(seen.rfind("resumed with ") + 13));
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  const auto rollouts = [](const fs::path& run) {
    return replay::load_rollouts(run / "world" / "collected.rollouts").rollouts;
  };
  const auto expected = rollouts(dir.path() / "whole");
  EXPECT_GT(episodes, 0);
  EXPECT_LT(static_cast<std::size_t>(episodes), expected.size()) << "it was killed when all was collected";
  EXPECT_EQ(episodes % 16, 0) << "a checkpoint holds whole rounds";
  EXPECT_EQ(rollouts(folder) == expected, true);
  const nlohmann::json summary = json_of(folder / "summary.json");
  EXPECT_TRUE(summary.at("ticket_counts_balance"));
  EXPECT_EQ(summary.at("retained"), summary.at("episodes"))
      << "what a dead learner had of a round is not kept";
}

TEST_F(WorldPhaseTest, KilledWhileFittingAndResumedItEndsInTheSameBits) {
  const std::vector<std::string> settings = {"--set", "world.dynamics_updates=300", "--set",
                                             "train.checkpoint_minutes=0.01"};
  Running whole(train(dir.path() / "whole", small(settings)));
  ASSERT_EQ(whole.finish().code, 0) << whole.seen();

  const fs::path folder = dir.path() / "killed";
  Running job(train(folder, small(settings)));
  ASSERT_TRUE(job.wait_for_line("fitting from update 0 on")) << job.seen();
  ASSERT_TRUE(job.wait_for_line("checkpoint ")) << job.seen();
  for (const pid_t actor : job.workers("actor")) kill(actor, SIGKILL);
  const auto learner = job.workers("learner");
  ASSERT_EQ(learner.size(), 1u);
  kill(learner.front(), SIGKILL);
  ASSERT_TRUE(job.wait_for_line("fitting from update ")) << "it began anew:\n" << job.seen();
  const std::string seen = job.seen();
  EXPECT_GT(std::stoi(seen.substr(seen.rfind("from update ") + 12)), 0);
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  EXPECT_EQ(model_of(folder) == model_of(dir.path() / "whole"), true);
  const auto once = read_scalars(dir.path() / "whole" / "events" / "fit");
  const auto twice = read_scalars(folder / "events" / "fit");
  for (const char* tag : {"encoder/held_out_total", "dynamics/held_out_nll"}) {
    ASSERT_EQ(twice.at(tag).size(), once.at(tag).size()) << tag;
    for (std::size_t i = 0; i < once.at(tag).size(); ++i)
      EXPECT_EQ(twice.at(tag)[i].value, once.at(tag)[i].value);
  }
  EXPECT_TRUE(json_of(folder / "summary.json").at("ticket_counts_balance"));
}

// A second world model is fitted to the first one's rollouts and to those of the controller that dreamt in
// it: where a controller goes, the next model must be right.
TEST_F(WorldPhaseTest, AFurtherRoundAddsRolloutsOfTheControllerToEarlierOnes) {
  const fs::path first = dir.path() / "first", dreamt = dir.path() / "dreamt";
  Running collects(train(first, small({})));
  ASSERT_EQ(collects.finish().code, 0) << collects.seen();
  Running dreams(train(dreamt, {"--set", "train.phase=dream", "--set",
                                "dream.world=" + (first / "world" / "model.world").string(), "--set",
                                "actors.dream=1", "--set", "actors.count=0", "--set", "train.updates=3"}));
  ASSERT_EQ(dreams.finish().code, 0) << dreams.seen();

  const std::string earlier = (first / "world" / "collected.rollouts").string();
  const replay::RolloutFile before = replay::load_rollouts(earlier);
  std::vector<replay::RolloutFile> after;
  for (const char* share : {"world.on_policy=1", "world.on_policy=0"}) {
    const fs::path folder = dir.path() / share;
    Running again(train(folder, small({"--set", "world.rollouts=" + earlier, "--set",
                                       "world.policy=" + (dreamt / "policies" / "latest.world").string(),
                                       "--set", share, "--set", "world.collect_steps=800"})));
    ASSERT_EQ(again.finish().code, 0) << again.seen();
    EXPECT_TRUE(json_of(folder / "summary.json").at("ticket_counts_balance"));
    after.push_back(replay::load_rollouts(folder / "world" / "collected.rollouts"));
    const auto& rollouts = after.back().rollouts;
    ASSERT_GT(rollouts.size(), before.rollouts.size());
    std::set<std::uint64_t> sequences;
    std::size_t steps = 0;
    for (const replay::Rollout& rollout : rollouts) {
      sequences.insert(rollout.sequence);
      steps += rollout.steps.size();
    }
    EXPECT_EQ(sequences.size(), rollouts.size()) << "no ticket is played twice";
    EXPECT_GE(steps, 800u);
    for (std::size_t i = 0; i < before.rollouts.size(); ++i) EXPECT_EQ(rollouts[i], before.rollouts[i]);
  }
  // The same tickets, played by the controller in one file and at random in the other.
  std::size_t apart = 0, both = 0;
  for (const replay::Rollout& played : after[0].rollouts)
    for (const replay::Rollout& drawn : after[1].rollouts) {
      if (played.sequence != drawn.sequence) continue;
      ++both;
      apart += played == drawn ? 0 : 1;
    }
  EXPECT_GT(both, before.rollouts.size());
  EXPECT_GT(apart * 2, both - before.rollouts.size());

  Running other(train(dir.path() / "other", small({"--set", "world.rollouts=" + earlier, "--set",
                                                   "workload.models=synthetic:4:1:1:7"})));
  EXPECT_NE(other.finish().code, 0);
  EXPECT_THAT(other.seen(), HasSubstr("other rules or models"));
}

TEST_F(WorldPhaseTest, TrainMinutesEndCollectingAndFitWithAModelOfWhatThereIs) {
  const std::vector<std::string> endless{
      "--set", "train.deterministic=false",      "--set", "train.minutes=0.05",
      "--set", "world.dynamics_updates=1000000", "--set", "world.collect_steps=1000000000"};
  const fs::path folder = dir.path() / "endless";
  const Captured ended = capture_output({.argv = train(folder, small(endless))}, std::chrono::minutes(2));
  ASSERT_EQ(ended.status.code, 0) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr("train.minutes ended the collecting: world.collect_steps asks for"));
  EXPECT_THAT(ended.output, ContainsRegex("train.minutes ended the fit after [0-9]+ of 1000015 updates"));
  const nlohmann::json summary = json_of(folder / "summary.json");
  EXPECT_TRUE(summary.at("finished"));
  EXPECT_GE(summary.at("updates").get<int>(), 3) << "one of each stage";
  EXPECT_NO_THROW(nn::load_bundle(folder / "world" / "model.world"));

  Running both(train(dir.path() / "both", small({"--set", "train.minutes=1"})));
  EXPECT_EQ(both.finish().code, 2);
  EXPECT_THAT(both.seen(), HasSubstr("what the clock ends is not deterministic"));
}

TEST_F(WorldPhaseTest, CollectAloneGivesAFileOfRollouts) {
  const fs::path folder = dir.path() / "collected";
  Running job(train(folder, {"--set", "train.phase=collect", "--set", "world.collect_steps=200"}));
  ASSERT_EQ(job.finish().code, 0) << job.seen();
  const replay::RolloutFile by_actors = replay::load_rollouts(folder / "world" / "collected.rollouts");
  std::size_t steps = 0;
  for (const replay::Rollout& rollout : by_actors.rollouts) steps += rollout.steps.size();
  EXPECT_GE(steps, 200u);
  EXPECT_FALSE(fs::exists(folder / "world" / "model.world"));

  Running other(train(dir.path() / "other",
                      {"--set", "train.phase=collect", "--set", "workload.action_mode=all_sites", "--set",
                       "world.rollouts=" + (folder / "world" / "collected.rollouts").string()}));
  EXPECT_NE(other.finish().code, 0);
  EXPECT_THAT(other.seen(), HasSubstr("these rollouts were played with another workload.action_mode"));
  EXPECT_FALSE(fs::exists(dir.path() / "other" / "world"));

  const fs::path file = dir.path() / "plain.rollouts";
  const Captured plain = testing::run({"collect", by_actors.models.front(), "-o", file.string(), "--set",
                                       "world.collect_steps=200", "--set", "workload.horizon=12"});
  ASSERT_EQ(plain.status.code, 0) << plain.errors;
  const replay::RolloutFile alone = replay::load_rollouts(file);
  EXPECT_EQ(alone.rule_set_hash, by_actors.rule_set_hash);
  EXPECT_EQ(alone.rollouts.front(), by_actors.rollouts.front()) << "a ticket's seed decides alone";
}

}  // namespace
}
