// The phase model-based as real processes: rounds of collecting, fitting and dreaming, a choice and an
// evaluation.
#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <csignal>
#include <optional>

#include "core/base/atomic_file.h"
#include "core/base/stats.h"
#include "core/nn/model/world_bundle.h"
#include "launch/evaluate/controller_choice.h"
#include "launch/job/job_config.h"
#include "launch/job/model_based.h"
#include "launch/program.h"
#include "launch/small_model_based.h"
#include "replay/rollout/rollout.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::json_of;
using ::testing::Not;
using testing::Running;
using testing::train;

std::vector<std::string> small(std::vector<std::string> more) {
  return testing::small_model_based(std::move(more));
}

/// SIGKILL to the program and to all that it started, none of which can do anything any more.
void kill_all(Running& job) {
  job.signal(SIGSTOP);
  for (const pid_t worker : job.workers("--run")) kill(worker, SIGKILL);
  job.signal(SIGKILL);
}

class ModelBasedTest : public ::testing::Test {
 protected:
  fs::path run() const { return dir.path() / "run"; }
  static std::string bundle_of(const fs::path& folder) {
    return read_file(folder / "policies" / "latest.world");
  }
  static bool finished(const fs::path& folder) { return json_of(folder / "summary.json").at("finished"); }
  /// All that a finished job leaves, of so many rounds.
  void expect_results(int rounds) const {
    const nlohmann::json summary = json_of(run() / "summary.json");
    EXPECT_TRUE(summary.at("finished"));
    EXPECT_EQ(summary.at("steps").size(), static_cast<std::size_t>(2 * rounds));
    for (const auto& [name, step] : summary.at("steps").items()) {
      EXPECT_TRUE(step.at("finished")) << name;
      EXPECT_TRUE(step.at("ticket_counts_balance")) << name;
    }
    const nlohmann::json& figures = summary.at("evaluation").at(0);
    EXPECT_EQ(figures.at("model"), "synthetic:4:1:1:0");
    int known = 0;
    for (const nlohmann::json& entry : json_of(run() / "evaluation.json")) {
      const auto expect_mean = [&](const char* figure, const char* list) {
        const auto values = entry.at(list).get<std::vector<double>>();
        EXPECT_DOUBLE_EQ(figures.at(figure).get<double>(), mean(values)) << figure;
        ++known;
      };
      const std::string kind = entry.at("kind");
      if (kind == "random" || kind == "greedy") expect_mean(kind.c_str(), "returns");
      if (kind == "policy") expect_mean("controller", "returns");
      if (kind != "dream-validity") continue;
      expect_mean("predicted", "predicted");
      expect_mean("real", "real");
      for (const char* name : {"mean_error", "rank_correlation", "illegal_share"})
        EXPECT_EQ(figures.at(name), entry.at(name)) << name;
    }
    EXPECT_EQ(known, 5);
    expect_choice(summary, "round-" + std::to_string(rounds) + "/dream");
    const nn::WorldBundle bundle = nn::load_bundle(run() / "policies" / "latest.world");
    EXPECT_FALSE(bundle.controller.empty());
    EXPECT_EQ(bundle.controller_of, bundle.world.version());
    const auto record = nlohmann::json::parse(bundle.world.training_record);
    EXPECT_GE(record.at("candidates").get<int>(), record.at("steps").get<int>());
  }
  /// The controller of some update of that dream is the job's, and the choice says which.
  void expect_choice(const nlohmann::json& summary, const std::string& dream) const {
    const nlohmann::json choice = json_of(run() / "choice.json"), &kept = summary.at("choice");
    EXPECT_EQ(choice.at("dream"), dream);
    EXPECT_EQ(kept.at("update"), choice.at("chosen").at("update"));
    EXPECT_EQ(kept.at("controllers"), choice.at("checked").size());
    const fs::path policies = run() / dream / "policies";
    const int update = kept.at("update"), last = json_of(run() / dream / "summary.json").at("updates");
    EXPECT_EQ(choice.at("checked").back().at("update"), last);
    const fs::path file =
        policies / (update == last ? "latest.world" : "update-" + std::to_string(update) + ".world");
    const nn::WorldBundle bundle =
        with_checks(nn::load_bundle(file), kept.at("real_steps"), kept.at("costed"));
    EXPECT_EQ(nn::load_bundle(run() / "policies" / "latest.world") == bundle, true);
  }
  TempDir dir;
};

// An actor is killed in one step and the learner in the next, as in any job.
TEST_F(ModelBasedTest, OneCommandCollectsFitsDreamsAndEvaluatesAndARoundMayBeAdded) {
  Running one(train(
      run(), small({"--set", "model_based.rounds=1", "--set", "actors.count=2", "--set", "train.updates=200",
                    "--set", "train.checkpoint_minutes=0.01", "--set", "model_based.check_every=80"})));
  ASSERT_TRUE(one.wait_for_line("generation 1")) << one.seen();
  ASSERT_FALSE(one.workers("actor").empty());
  kill(one.workers("actor").front(), SIGKILL);
  ASSERT_TRUE(one.wait_for_line("restarted as incarnation 2")) << one.seen();
  ASSERT_TRUE(one.wait_for_line("step 2 of 4: round-1/dream")) << one.seen();
  ASSERT_TRUE(one.wait_for_line("checkpoint ")) << one.seen();
  ASSERT_FALSE(one.workers("learner").empty());
  kill(one.workers("learner").front(), SIGKILL);
  ASSERT_TRUE(one.wait_for_line("resumed at update ")) << one.seen();
  ASSERT_EQ(one.finish().code, 0) << one.seen();
  for (const char* step : {"step 1 of 4: round-1/fit", "step 2 of 4: round-1/dream", "step 3 of 4: choice\n",
                           "step 4 of 4: evaluation\n", "checked the controller of update 80:",
                           "checked the controller of update 160:", "checked the controller of update 200:"})
    EXPECT_THAT(one.seen(), HasSubstr(step));
  expect_results(1);

  const std::string kept = bundle_of(run());
  // A signal that comes while a step ends, or just before, stops the job all the same; the evaluation that
  // there is tells nothing of the round under way.
  Running stopped(train(run(), small({"--resume", "--set", "model_based.rounds=2"})));
  ASSERT_TRUE(stopped.wait_for_line("checkpoint 2 written")) << stopped.seen();
  stopped.signal(SIGTERM);
  EXPECT_EQ(stopped.finish().code, 0) << stopped.seen();
  EXPECT_THAT(stopped.seen(), Not(HasSubstr("step 4 of 6")));
  EXPECT_FALSE(finished(run()));
  EXPECT_FALSE(json_of(run() / "summary.json").contains("evaluation"));
  EXPECT_EQ(bundle_of(run()) == kept, true) << "until the next round has a controller";

  Running two(train(run(), small({"--resume", "--set", "model_based.rounds=2"})));
  ASSERT_EQ(two.finish().code, 0) << two.seen();
  for (const char* step : {"step 2 of 6: round-1/dream: done before\n", "step 3 of 6: round-2/fit",
                           "step 4 of 6: round-2/dream\n", "step 5 of 6: choice\n",
                           "checked the controller of update 3:", "step 6 of 6: evaluation\n"})
    EXPECT_THAT(two.seen(), HasSubstr(step));
  expect_results(2);
  const auto rollouts = [&](const char* step) {
    return replay::load_rollouts(run() / step / "world" / "collected.rollouts").rollouts;
  };
  const auto first = rollouts("round-1/fit"), second = rollouts("round-2/fit");
  ASSERT_GT(second.size(), first.size());
  const auto steps_in = [&](const char* step) {
    return json_of(run() / step / "summary.json").at("steps").get<int>();
  };
  EXPECT_GE(steps_in("round-2/fit"), steps_in("round-1/fit") + 100) << "what the first round overshot counts";
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(second[i], first[i]);
  EXPECT_THAT(read_file(run() / "round-2" / "fit" / "config.toml"),
              HasSubstr((run() / "round-1" / "dream" / "policies" / "latest.world").string()));

  const auto written = fs::last_write_time(run() / "evaluation.json");
  Running again(train(run(), {"--resume"}));  // nothing is left to do
  EXPECT_EQ(again.finish().code, 0) << again.seen();
  EXPECT_THAT(again.seen(), HasSubstr("step 5 of 6: choice: done before\n"));
  EXPECT_THAT(again.seen(), HasSubstr("step 6 of 6: evaluation: done before\n"));
  EXPECT_EQ(fs::last_write_time(run() / "evaluation.json"), written);
  expect_results(2);
  const Captured report = testing::run({"report", run().string(), "-o", (dir.path() / "page.html").string()});
  EXPECT_EQ(report.status.code, 0) << report.errors;
  EXPECT_THAT(read_file(dir.path() / "page.html"), HasSubstr("run/round-2/dream"));
  Running fewer(train(run(), {"--resume", "--set", "model_based.rounds=1"}));
  EXPECT_EQ(fewer.finish().code, 2) << fewer.seen();
  EXPECT_THAT(fewer.seen(), HasSubstr("model_based.rounds"));
}

// Rollouts, dreams and evaluation, where a rule at all of its sites is an action too.
TEST_F(ModelBasedTest, DreamsOfRulesAtAllOfTheirSites) {
  Running job(
      train(run(), small({"--set", "model_based.rounds=1", "--set", "workload.action_mode=all_sites"})));
  ASSERT_EQ(job.finish().code, 0) << job.seen();
  expect_results(1);
  const fs::path bundle = run() / "round-1" / "dream" / "policies" / "latest.world";
  const nn::WorldModel world = nn::load_bundle(bundle).world;
  EXPECT_EQ(world.action_mode, env::ActionMode::all_sites);
  const fs::path scores = dir.path() / "scores.json";
  const Captured evaluated = testing::run(
      {"evaluate", "--policy", bundle.string(), "--models", "synthetic:4:1:1:0", "--searches", "policy",
       "--candidates", "200", "--episodes", "2", "--trajectories", "4", "--json", scores.string()});
  ASSERT_EQ(evaluated.status.code, 0) << evaluated.errors;
  std::size_t guided = 0;
  for (const auto& entry : json_of(scores)) {
    if (entry.at("kind") != "policy-search") continue;
    ++guided;
    EXPECT_EQ(entry.at("costed_in_training"), nlohmann::json::parse(world.training_record).at("candidates"))
        << "dreams cost nothing";
    EXPECT_GE(entry.at("amortised_at_best"), entry.at("costed_in_training"));
  }
  EXPECT_EQ(guided, 1u);
  const Captured crossed =
      testing::run({"train", "--run", (dir.path() / "other").string(), "--set", "train.phase=dream", "--set",
                    "workload.models=synthetic:4:1:1:0", "--set", "dream.world=" + bundle.string()});
  EXPECT_NE(crossed.status.code, 0);
  EXPECT_THAT(crossed.errors, HasSubstr("workload.action_mode: fitted to all_sites, the job has one_site"));
}

/// Runs the command until a line holds the text, then stops it in order: all that it said.
std::string stopped_at(const std::vector<std::string>& command, const std::string& text) {
  Running job(command);
  EXPECT_TRUE(job.wait_for_line(text)) << job.seen();
  job.signal(SIGTERM);
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  return job.seen();
}

// Killed with all its processes while it fits, stopped there and as the dreams begin, killed while it dreams,
// stopped there, as the choice begins and as the evaluation begins: what is done is not done again, and it
// ends in the same bits. A learner whose supervisor alone was killed still saves and writes its summary; a
// job that is resumed meanwhile waits, or its actors would read that summary and go home.
TEST_F(ModelBasedTest, KilledAndStoppedWithinAndBetweenStepsItEndsInTheSameBits) {
  const std::vector<std::string> settings =
      small({"--set", "model_based.rounds=1", "--set", "train.deterministic=true", "--set",
             "train.updates=150", "--set", "world.dynamics_updates=100", "--set",
             "train.checkpoint_minutes=0.01", "--set", "model_based.check_every=50"});
  const fs::path whole = dir.path() / "whole";
  Running uninterrupted(train(whole, settings));
  ASSERT_EQ(uninterrupted.finish().code, 0) << uninterrupted.seen();

  const fs::path fit = run() / "round-1" / "fit", dream = run() / "round-1" / "dream";
  std::vector<std::string> resumed = settings;
  resumed.emplace_back("--resume");
  {
    Running job(train(run(), settings));
    ASSERT_TRUE(job.wait_for_line("fitting from update 0 on")) << job.seen();
    job.signal(SIGCONT);  // save
    ASSERT_TRUE(job.wait_for_line("checkpoint ")) << job.seen();
    kill_all(job);
    EXPECT_NE(job.finish().code, 0);
    EXPECT_FALSE(fs::exists(fit / "summary.json"));

    std::optional<FileDescriptor> outlives(open((fit / "journal").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(flock(outlives->get(), LOCK_EX), 0);  // as a learner that still saves: the killed one is gone
    Running second(train(run(), resumed));
    EXPECT_TRUE(second.wait_for_line("waiting for the learner of an earlier start")) << second.seen();
    outlives.reset();
    ASSERT_TRUE(second.wait_for_line("fitting from update ")) << second.seen();
    EXPECT_THAT(second.seen(), Not(HasSubstr("from update 0 on"))) << "it began anew";
    second.signal(SIGTERM);
    EXPECT_EQ(second.finish().code, 0) << second.seen();
    EXPECT_FALSE(finished(fit));
  }
  EXPECT_THAT(stopped_at(train(run(), resumed), "step 2 of 4: round-1/dream"),
              HasSubstr("--resume` goes on"));
  EXPECT_TRUE(finished(fit));
  EXPECT_FALSE(finished(run()));
  EXPECT_FALSE(fs::exists(run() / "policies" / "latest.world"));
  {
    Running job(train(run(), resumed));
    ASSERT_TRUE(job.wait_for_line("step 2 of 4: round-1/dream")) << job.seen();
    EXPECT_THAT(job.seen(), HasSubstr("step 1 of 4: round-1/fit: done before"));
    ASSERT_TRUE(job.wait_for_line("checkpoint ")) << job.seen();
    kill_all(job);
    EXPECT_NE(job.finish().code, 0);
  }
  stopped_at(train(run(), resumed), "resumed at update ");
  EXPECT_FALSE(finished(dream)) << "a dream that was stopped is not done";
  EXPECT_LT(json_of(dream / "summary.json").at("updates").get<int>(), 150);

  EXPECT_THAT(stopped_at(train(run(), resumed), "step 3 of 4: choice"), Not(HasSubstr("step 4 of 4")));
  EXPECT_FALSE(finished(run()));

  stopped_at(train(run(), resumed), "step 4 of 4: evaluation");
  EXPECT_TRUE(finished(dream));
  EXPECT_FALSE(finished(run()));

  Running job(train(run(), resumed));
  ASSERT_TRUE(job.wait_for_line("step 4 of 4: evaluation")) << job.seen();
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);  // should it never start
  while (job.workers("evaluate").empty() && std::chrono::steady_clock::now() < until)
    if (fs::exists(run() / "evaluation.json")) break;
  job.signal(SIGCONT);  // nothing is saved here, nothing is lost
  ASSERT_EQ(job.finish().code, 0) << job.seen();
  EXPECT_THAT(job.seen(), Not(HasSubstr("killed by signal")));
  expect_results(1);
  EXPECT_EQ(read_file(run() / "choice.json"), read_file(whole / "choice.json"));
  EXPECT_EQ(bundle_of(run()) == bundle_of(whole), true);
  EXPECT_EQ(json_of(run() / "summary.json").at("evaluation"),
            json_of(whole / "summary.json").at("evaluation"));
}

TEST_F(ModelBasedTest, WhatMakesNoSenseIsRefusedBeforeAnythingIsWritten) {
  const auto refused = [&](const std::string& setting, const std::string& why, std::int64_t actors = 1) {
    try {
      Config config = load_job_config({}, {"train.updates=3", "workload.models=synthetic:4:1:1:0"});
      config.set("train.phase=model-based");
      config.set(setting);
      model_based_steps({run()}, config, actors);
      ADD_FAILURE() << setting << " is taken";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  refused("model_based.rounds=0", "model_based.rounds");
  refused("model_based.trajectories=1", "model_based.trajectories");
  refused("model_based.check_every=-1", "model_based.check_every");
  refused("model_based.check_every=2.5", "model_based.check_every");
  refused("model_based.dreams_per_check=0", "model_based.dreams_per_check");
  refused("model_based.trust=-0.02", "model_based.trust");
  refused("model_based.trust=nan", "model_based.trust");
  refused("actors.count=0", "actors.count", 0);
  refused("actors.dream=1", "actors.dream");
  refused("dream.world=other.world", "dream.world");
  refused("train.updates=0", "train.updates");
  refused("world.collect_steps=1000000000", "world.collect_steps");

  const fs::path config = dir.path() / "config.toml";
  write_file_atomic(config, "[train]\nphase = \"model-based\"\n[model_based]\nround = 2\n");
  for (const auto& [setting, why] : {std::pair<std::string, std::string>{"actors.count=0", "actors.count"},
                                     {"workload.models=no-such-model.onnx", "no-such-model.onnx"},
                                     {"workload.reward=measured", "workload.reward"},
                                     {"", config.string() + ":4"}}) {
    Running job(train(run(), small(setting.empty() ? std::vector<std::string>{"--config", config.string()}
                                                   : std::vector<std::string>{"--set", setting})));
    EXPECT_EQ(job.finish().code, 2) << job.seen();
    EXPECT_THAT(job.seen(), HasSubstr(why));
    EXPECT_FALSE(fs::exists(run())) << why;
  }
}

TEST_F(ModelBasedTest, RanksOfMpirunGoThroughTheStepsTogether) {
  if (std::system("command -v mpirun > /dev/null") != 0) GTEST_SKIP() << "mpirun is not installed";
  const auto start = [&](std::vector<std::string> words) {
    std::vector<std::string> argv{"mpirun", "-n", "3", "--oversubscribe", "--bind-to", "none"};
    argv.insert(argv.end(), words.begin(), words.end());
    return Running(argv, {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
  };
  Running stopped = start(train(run(), small({"--set", "model_based.rounds=1"})));
  ASSERT_TRUE(stopped.wait_for_line("fitting from update 0 on")) << stopped.seen();
  stopped.signal(SIGUSR1);  // forwarded at once
  EXPECT_EQ(stopped.finish().code, 0) << stopped.seen();
  EXPECT_FALSE(finished(run()));

  Running job = start(train(run(), {"--resume"}));
  EXPECT_EQ(job.finish().code, 0) << job.seen();
  expect_results(1);
  Running refused = start(train(run(), {"--resume", "--set", "network.preset=gpu"}));
  EXPECT_NE(refused.finish().code, 0);
  EXPECT_THAT(refused.seen(), HasSubstr("network.preset"));
}

}  // namespace
}
