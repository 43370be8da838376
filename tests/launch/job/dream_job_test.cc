#include <gmock/gmock.h>

#include <csignal>
#include <set>

#include "core/env/synthetic.h"
#include "core/graph/op_kind_names.h"
#include "core/nn/dream_world.h"
#include "core/nn/model/controller_file.h"
#include "core/nn/model/world_bundle.h"
#include "launch/job/curves.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using testing::json_of;
using testing::Running;
using testing::train;

constexpr std::uint64_t kSeed = 3001;

/// A job whose controller learns in a world model of random weights, bound to the synthetic family's rules.
class DreamJobTest : public ::testing::Test {
 protected:
  DreamJobTest() {
    const rules::RuleSet rules = env::make_synthetic_rules(1);
    nn::WorldModel world =
        test::random_world(kSeed, static_cast<std::uint32_t>(rules.size() + 1), 0, graph::op_kind_names());
    world.rule_set_hash = rules.hash().hex();
    world.model_names = {"synthetic:4:1:1:0"};
    world.starts.front().model = world.model_names.front();
    world.horizon = 12;
    world.location_limit = 200;
    nn::save_bundle({world, {}, {}, {}}, dir.path() / "model.world");
  }
  fs::path run() const { return dir.path() / "run"; }
  Running start(const char* dreaming, const char* real, std::vector<std::string> more) const {
    std::vector<std::string> words{
        "--set", "train.phase=dream",
        "--set", "dream.world=" + (dir.path() / "model.world").string(),
        "--set", std::string("actors.dream=") + dreaming,
        "--set", std::string("actors.count=") + real,
        "--set", "train.steps_per_update=400",
        "--set", "ppo.learning_rate=3e-3",
        "--set", "dream.width=32",
    };
    words.insert(words.end(), more.begin(), more.end());
    return Running(train(run(), words));
  }
  nlohmann::json clean_summary() const {
    const nlohmann::json summary = json_of(run() / "summary.json");
    EXPECT_TRUE(summary.at("ticket_counts_balance"));
    EXPECT_LT(summary.at("ratio_error_lag0_max").get<double>(), 1e-4);
    return summary;
  }
  /// Holds for a run by PPO in deterministic mode.
  static void expect_lag_0(const nlohmann::json& summary) {
    EXPECT_EQ(summary.at("lag0_steps"), summary.at("dreamed_steps"));
    EXPECT_LT(summary.at("ratio_error_lag0_max").get<double>(), 1e-5);
  }
  TempDir dir;
};

TEST_F(DreamJobTest, TwoDreamActorsRaiseTheReturnAndTheTicketCountsBalance) {
  Running job = start("2", "0", {"--set", "train.updates=60"});
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  const nlohmann::json summary = clean_summary();
  EXPECT_EQ(summary.at("updates"), 60);
  EXPECT_EQ(summary.at("real_steps"), 0) << "a dream touches no real environment";
  EXPECT_GT(summary.at("dreamed_return").get<double>(),
            summary.at("first_dreamed_return").get<double>() + 0.15);
  const nn::WorldBundle bundle = nn::load_bundle(run() / "policies" / "latest.world");
  EXPECT_EQ(bundle.controller_of, bundle.world.version());
  testing::expect_job_curves(run() / "events");
  for (const char* tag : {"staleness/mean", "staleness/max", "dreamed/return", "controller/entropy"})
    EXPECT_TRUE(testing::newest(run() / "events").contains(tag)) << tag;
  EXPECT_EQ(nn::decode_controller(bundle.controller, "test").config.width, 32u);
}

TEST_F(DreamJobTest, AKilledDreamActorComesBackBesideOneInTheRealEnvironment) {
  Running job = start("2", "1", {"--set", "train.updates=60"});
  ASSERT_TRUE(job.wait_for_line("generation 1")) << job.seen();
  const auto actors = job.workers("actor");
  ASSERT_FALSE(actors.empty());
  kill(actors.front(), SIGKILL);
  ASSERT_TRUE(job.wait_for_line("killed by signal 9")) << job.seen();
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  const nlohmann::json summary = clean_summary();
  EXPECT_GT(summary.at("real_steps").get<std::uint64_t>(), 0u);
  EXPECT_GT(summary.at("dreamed_steps").get<std::uint64_t>(), 0u);
}

TEST_F(DreamJobTest, AKilledLearnerGoesOnFromItsCheckpoint) {
  Running job = start("2", "0", {"--set", "train.updates=60", "--set", "train.checkpoint_minutes=0.01"});
  ASSERT_TRUE(job.wait_for_line("checkpoint ")) << job.seen();
  const auto learner = job.workers("learner");
  ASSERT_EQ(learner.size(), 1u);
  kill(learner.front(), SIGKILL);
  ASSERT_TRUE(job.wait_for_line("resumed at update ")) << "it began anew:\n" << job.seen();
  const std::string seen = job.seen();
  EXPECT_GT(std::stoi(seen.substr(seen.rfind("resumed at update ") + 18)), 0);
  ASSERT_TRUE(job.wait_for_line("generation 2")) << job.seen();
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  const nlohmann::json summary = clean_summary();
  EXPECT_EQ(summary.at("updates"), 60);
  EXPECT_GE(summary.at("dreamed_steps").get<int>(), 60 * 400) << "of both generations";
}

TEST_F(DreamJobTest, AWorldModelOfOtherRulesIsRefused) {
  Running job = start("1", "0", {"--set", "workload.models=synthetic:4:1:2:0", "--set", "train.updates=1"});
  EXPECT_EQ(job.finish().code, 2) << "starting again would not help";
  EXPECT_THAT(job.seen(), ::testing::HasSubstr("other rules"));
}

TEST_F(DreamJobTest, AWorldModelThatIsNotThereOrIsCutShortEndsTheJobAtOnce) {
  const fs::path world = dir.path() / "model.world";
  fs::resize_file(world, fs::file_size(world) / 2);
  for (const bool there : {true, false}) {
    if (!there) fs::remove(world);
    Running job = start("1", "0", {"--set", "train.updates=1"});
    EXPECT_EQ(job.finish().code, 2) << job.seen();
    EXPECT_THAT(job.seen(), ::testing::HasSubstr(world.string()));
    EXPECT_THAT(job.seen(), ::testing::Not(::testing::HasSubstr("restarted")));
    fs::remove_all(run());
  }
}

TEST_F(DreamJobTest, AWorldModelOfAnotherJobIsRefusedWithAllThatDiffers) {
  Running job =
      start("1", "0",
            {"--set", "train.updates=1", "--set", "workload.models=synthetic:4:1:1:1", "--set",
             "workload.horizon=13", "--set", "workload.locations=100", "--set", "workload.reward=terminal"});
  EXPECT_EQ(job.finish().code, 2);
  for (const char* difference : {"synthetic:4:1:1:1", "workload.horizon: fitted to 12, the job has 13",
                                 "workload.locations: fitted to 200, the job has 100",
                                 "workload.reward: fitted to incremental, the job has terminal"})
    EXPECT_THAT(job.seen(), ::testing::HasSubstr(difference));
}

TEST_F(DreamJobTest, AnEvolvedLinearControllerDependsOnTheSeedAloneHoweverManyActorsDie) {
  const std::vector<std::string> evolve{
      "--set", "dream.controller=linear", "--set", "train.updates=12",
      "--set", "dream.replicas=16",       "--set", "train.checkpoint_minutes=0.01"};
  Running alone = start("1", "0", evolve);
  ASSERT_EQ(alone.finish().code, 0) << alone.seen();
  const nlohmann::json summary = clean_summary();
  EXPECT_EQ(summary.at("updates"), 12);
  EXPECT_GT(summary.at("dreamed_return").get<double>(), summary.at("first_dreamed_return").get<double>());
  const fs::path policy = run() / "policies" / "latest.world";
  const nn::WorldBundle bundle = nn::load_bundle(policy);
  EXPECT_TRUE(bundle.work.empty());
  EXPECT_EQ(nn::decode_controller(bundle.controller, "test").config.kind, nn::ControllerKind::linear);
  const std::string expected = read_file(policy);
  const Captured evaluated =
      testing::run({"evaluate", "--policy", policy.string(), "--models", "synthetic:4:1:1:0", "--set",
                    "workload.horizon=12", "--episodes", "2", "--trajectories", "4", "--searches", "policy"});
  EXPECT_EQ(evaluated.status.code, 0) << evaluated.errors;

  fs::remove_all(run());
  Running many = start("3", "0", evolve);
  ASSERT_TRUE(many.wait_for_line("checkpoint ")) << many.seen();
  for (const char* who : {"actor", "learner"}) {
    const auto workers = many.workers(who);
    ASSERT_FALSE(workers.empty());
    kill(workers.front(), SIGKILL);
  }
  ASSERT_TRUE(many.wait_for_line("resumed at update ")) << many.seen();
  ASSERT_EQ(many.finish().code, 0) << many.seen();
  clean_summary();
  EXPECT_THAT(read_file(run() / "learner.log"), ::testing::Not(::testing::HasSubstr("rejected")));
  EXPECT_EQ(read_file(policy) == expected, true);
}

// By PPO too: which tickets an update is made of is a matter of their numbers, not of who was faster.
TEST_F(DreamJobTest, DeterministicPpoDependsOnTheSeedAloneHoweverManyActorsDie) {
  const std::vector<std::string> settings{
      "--set", "train.deterministic=true",
      "--set", "train.updates=20",
      "--set", "dream.replicas=8",
      "--set", "train.episodes_per_update=30",
      "--set", "train.checkpoint_minutes=0.01",
  };
  const fs::path policy = run() / "policies" / "latest.world";
  Running alone = start("1", "0", settings);
  ASSERT_EQ(alone.finish().code, 0) << alone.seen();
  nlohmann::json summary = clean_summary();
  EXPECT_TRUE(summary.at("finished"));
  EXPECT_EQ(summary.at("dreamed_episodes"), 20 * 4 * 8) << "four tickets of eight dreams make thirty";
  expect_lag_0(summary);
  const std::string expected = read_file(policy);

  fs::remove_all(run());
  Running many = start("3", "0", settings);
  ASSERT_TRUE(many.wait_for_line("generation 1")) << many.seen();
  ASSERT_FALSE(many.workers("actor").empty());
  kill(many.workers("actor").front(), SIGKILL);
  ASSERT_TRUE(many.wait_for_line("restarted as incarnation 2")) << many.seen();
  ASSERT_EQ(many.finish().code, 0) << many.seen();
  summary = clean_summary();
  EXPECT_EQ(summary.at("dreamed_episodes"), 20 * 4 * 8);
  expect_lag_0(summary);
  EXPECT_EQ(read_file(policy) == expected, true);
}

TEST_F(DreamJobTest, BundlesAreExportedEverySoManyUpdatesInBothPhases) {
  const auto exported = [&] {
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(run() / "policies")) {
      names.insert(entry.path().filename().string());
      const nn::WorldBundle bundle = nn::load_bundle(entry.path());
      EXPECT_EQ(bundle.controller_of, bundle.world.version());
      EXPECT_TRUE(bundle.work.empty());
    }
    return names;
  };
  const std::vector<std::string> every{"--set", "train.updates=5", "--set", "train.export_every=2"};
  Running dream = start("1", "0", every);
  ASSERT_EQ(dream.finish().code, 0) << dream.seen();
  const std::set<std::string> expected{"latest.world", "update-2.world", "update-4.world"};
  EXPECT_EQ(exported(), expected);
  EXPECT_NE(
      read_file(run() / "policies" / "update-2.world") == read_file(run() / "policies" / "update-4.world"),
      true);

  fs::remove_all(run());
  Running dyna =
      start("1", "1",
            {"--set", "train.phase=dyna", "--set", "dyna.episodes=3", "--set", every[1], "--set", every[3]});
  ASSERT_EQ(dyna.finish().code, 0) << dyna.seen();
  EXPECT_EQ(exported(), expected);
}

TEST_F(DreamJobTest, AnUpdateMayBeOfSoManyEpisodes) {
  Running job = start("1", "0",
                      {"--set", "train.steps_per_update=0", "--set", "train.episodes_per_update=30", "--set",
                       "dream.replicas=10", "--set", "train.updates=4"});
  ASSERT_EQ(job.finish().code, 0) << job.seen();
  EXPECT_EQ(clean_summary().at("dreamed_episodes"), 4 * 30);
}

TEST_F(DreamJobTest, AStoppedJobIsNotFinished) {
  Running job = start("1", "0", {});  // no limit: it ends by the signal
  ASSERT_TRUE(job.wait_for_line("generation 1")) << job.seen();
  job.signal(SIGTERM);
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  EXPECT_FALSE(clean_summary().at("finished"));
}

TEST_F(DreamJobTest, DynaPausesDreamsOfAWorldModelThatKnowsNothing) {
  Running job =
      start("1", "1", {"--set", "train.phase=dyna", "--set", "train.updates=4", "--set", "dyna.episodes=3"});
  ASSERT_EQ(job.finish().code, 0) << job.seen();
  const nlohmann::json summary = clean_summary();
  EXPECT_EQ(summary.at("dreamed_steps"), 0);
  EXPECT_GE(summary.at("real_episodes").get<int>(), 12);
  EXPECT_EQ(summary.at("dyna").at("paused_updates"), 4);
}

TEST_F(DreamJobTest, DynaBranchesOffRealEpisodesWhereItsGuardsAllowIt) {
  Running job = start("1", "1",
                      {"--set", "train.phase=dyna", "--set", "train.updates=6", "--set", "dyna.episodes=3",
                       "--set", "dyna.updates=3", "--set", "dyna.bias=100", "--set", "dyna.mask_f1=0",
                       "--set", "dyna.branch_steps=5"});
  ASSERT_EQ(job.finish().code, 0) << job.seen();
  const nlohmann::json summary = clean_summary();
  EXPECT_GT(summary.at("dreamed_steps").get<int>(), 0);
  EXPECT_LE(summary.at("dreamed_steps").get<int>(), 5 * summary.at("dreamed_episodes").get<int>())
      << "no branch is longer";
  EXPECT_GE(summary.at("real_episodes").get<int>(), 6) << "at the first update and at the fourth";
  EXPECT_EQ(summary.at("dyna").at("branch_steps"), 5);
  testing::expect_job_curves(run() / "events");
  EXPECT_TRUE(testing::newest(run() / "events").contains("staleness/mean"));
}

TEST_F(DreamJobTest, ActorsOfNoUseAreRefused) {
  Running evolution = start("1", "1", {"--set", "dream.controller=linear", "--set", "train.updates=1"});
  EXPECT_EQ(evolution.finish().code, 2) << evolution.seen();
  Running mixed = start("1", "1", {"--set", "train.deterministic=true", "--set", "train.updates=1"});
  EXPECT_EQ(mixed.finish().code, 2) << mixed.seen();
  EXPECT_FALSE(fs::exists(run())) << "refused before anything is written";
  Running dyna = start("1", "0", {"--set", "train.phase=dyna", "--set", "train.updates=1"});
  EXPECT_EQ(dyna.finish().code, 2) << dyna.seen();
}

}  // namespace
}
