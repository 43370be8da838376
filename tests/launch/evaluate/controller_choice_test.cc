// Which controller of a job's last round is kept: the rule, and the job's step as real processes.
#include "launch/evaluate/controller_choice.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/atomic_file.h"
#include "core/env/synthetic.h"
#include "core/nn/model/controller_file.h"
#include "core/nn/model/world_bundle.h"
#include "launch/policy/costed_in_training.h"
#include "launch/program.h"
#include "launch/random_bundle.h"
#include "launch/small_model_based.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using testing::json_of;
using ::testing::Not;
using testing::Running;
using testing::train;

CheckedController figures(std::uint64_t update, double mean_error, double real) {
  return {.update = update, .real = real, .mean_error = mean_error};
}

TEST(ChoiceOfAController, TheBestOfThoseWhoseDreamsAreBelieved) {
  const std::vector<CheckedController> checked{figures(5, 0.001, 0.1), figures(10, 0.02, 0.3),
                                               figures(15, 0.019, 0.2), figures(20, 0.0201, 0.9)};
  const ChosenController chosen = choose_controller(checked, 0.02);
  EXPECT_EQ(chosen.index, 1u) << "at most 0.02 is within trust";
  EXPECT_TRUE(chosen.within_trust);
  EXPECT_EQ(choose_controller(checked, 0.0199).index, 2u);
  EXPECT_EQ(choose_controller(checked, 1).index, 3u);
}

TEST(ChoiceOfAController, OfEqualOnesTheLastOne) {
  const std::vector<CheckedController> real{figures(5, 0.01, 0.3), figures(10, 0.015, 0.3),
                                            figures(15, 0.03, 0.3)};
  EXPECT_EQ(choose_controller(real, 0.02).index, 1u);
  const std::vector<CheckedController> error{figures(5, 0.5, 0.3), figures(10, 0.5, 0.1),
                                             figures(15, 0.7, 0.3)};
  EXPECT_EQ(choose_controller(error, 0.02).index, 1u);
}

TEST(ChoiceOfAController, WhereNoneIsBelievedTheLeastWrong) {
  const std::vector<CheckedController> checked{figures(5, 0.3, 0.9), figures(10, 0.1, -0.2),
                                               figures(15, 0.2, 0.9)};
  const ChosenController chosen = choose_controller(checked, 0.02);
  EXPECT_EQ(chosen.index, 1u);
  EXPECT_FALSE(chosen.within_trust);
}

TEST(ChoiceOfAController, OneAloneIsKeptBelievedOrNot) {
  for (const double error : {0.01, 0.1, std::numeric_limits<double>::quiet_NaN()}) {
    const std::vector<CheckedController> one{figures(3, error, 0.1)};
    const ChosenController chosen = choose_controller(one, 0.02);
    EXPECT_EQ(chosen.index, 0u);
    EXPECT_EQ(chosen.within_trust, error == 0.01);
  }
}

TEST(ChoiceOfAController, WhatIsNoNumberIsFarthestFromTheTruth) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const std::vector<CheckedController> checked{figures(5, kNone, kNone), figures(10, 7, -3),
                                               figures(15, kNone, kNone)};
  EXPECT_EQ(choose_controller(checked, 0.02).index, 1u);
  EXPECT_EQ(choose_controller(checked, 1e9).index, 1u);
}

TEST(ChoiceOfAController, FiguresAreMeansOverModelsAndCountsAreSums) {
  const std::vector<replay::DreamValidity> models{
      {.predicted = {0.2, 0.4},
       .real = {0.1, 0.2},
       .mean_error = 0.15,
       .illegal_share = 0.5,
       .real_steps = 10,
       .costed = 7},
      {.predicted = {0, 0.2},
       .real = {0, 0},
       .mean_error = 0.1,
       .illegal_share = 0,
       .real_steps = 4,
       .costed = 40},
  };
  const CheckedController all = checked_controller(20, models);
  EXPECT_EQ(all.update, 20u);
  EXPECT_NEAR(all.predicted, 0.2, 1e-12);
  EXPECT_NEAR(all.real, 0.075, 1e-12);
  EXPECT_NEAR(all.mean_error, 0.125, 1e-12);
  EXPECT_NEAR(all.illegal_share, 0.25, 1e-12);
  EXPECT_EQ(all.real_steps, 14u);
  EXPECT_EQ(all.costed, 47u);
}

TEST(ChoiceOfAController, ChecksCountAsTrainingAndChangeNothingElse) {
  nn::WorldBundle bundle = testing::random_bundle(1, env::make_synthetic_rules(1), 12, 200);
  bundle.world.training_record = R"({"candidates": 100})";
  ASSERT_EQ(costed_in_training(bundle), 100u);
  const nn::WorldBundle checked = with_checks(bundle, 50, 23);
  EXPECT_EQ(costed_in_training(checked), 123u);
  EXPECT_EQ(costed_in_training(with_checks(checked, 60, 30)), 130u) << "those of the choice, not of two";
  nn::ControllerFile before = nn::decode_controller(bundle.controller, "before"),
                     after = nn::decode_controller(checked.controller, "after");
  EXPECT_EQ(json::parse(after.training_record).at("checks"), json({{"real_steps", 50}, {"candidates", 23}}));
  after.training_record = before.training_record;
  EXPECT_EQ(after == before, true);
  EXPECT_EQ(checked.world == bundle.world, true);
}

/// One round with a controller exported after each of four updates.
class ChoiceOfAJob : public ::testing::Test {
 protected:
  fs::path run() const { return dir.path() / "run"; }
  fs::path kept() const { return run() / "policies" / "latest.world"; }
  fs::path choice_file() const { return run() / "choice.json"; }
  json choice() const { return json_of(choice_file()); }
  fs::path exported(int update) const {
    return run() / "round-1" / "dream" / "policies" /
           (update == 4 ? "latest.world" : "update-" + std::to_string(update) + ".world");
  }
  /// With rewards as they are, so small a world model makes errors that can be told from none.
  std::string job(const std::vector<std::string>& more) {
    std::vector<std::string> words =
        testing::small_model_based({"--set", "model_based.rounds=1", "--set", "train.updates=4", "--set",
                                    "model_based.check_every=1", "--set", "ppo.learning_rate=0.03", "--set",
                                    "world.scheduled_sampling=0", "--set", "world.reward_unit=0"});
    for (const std::string& setting : more) words.insert(words.end(), {"--set", setting});
    if (fs::exists(run())) words.emplace_back("--resume");
    Running running(train(run(), words));
    EXPECT_EQ(running.finish().code, 0) << running.seen();
    return running.seen();
  }
  static std::string line_of(int update) {
    return "checked the controller of update " + std::to_string(update) + ":";
  }
  /// The job's bundle is that of the chosen update but for its record, and that says what all checks took.
  void expect_kept() const {
    const json said = choice(), summary = json_of(run() / "summary.json").at("choice");
    std::uint64_t real_steps = 0, costed = 0;
    for (const json& each : said.at("checked")) {
      real_steps += each.at("real_steps").get<std::uint64_t>();
      costed += each.at("costed").get<std::uint64_t>();
    }
    EXPECT_GT(real_steps, 0u);
    for (const json& place : {said, summary}) {
      EXPECT_EQ(place.at("real_steps"), real_steps);
      EXPECT_EQ(place.at("costed"), costed);
    }
    EXPECT_EQ(summary.at("update"), said.at("chosen").at("update"));
    EXPECT_EQ(summary.at("why"), said.at("chosen").at("why"));
    const fs::path file = exported(summary.at("update"));
    EXPECT_EQ(costed_in_training(nn::load_bundle(kept())),
              costed_in_training(nn::load_bundle(file)).value() + costed);
    nn::WorldBundle bundle = nn::load_bundle(kept());
    nn::ControllerFile controller = nn::decode_controller(bundle.controller, "kept");
    controller.training_record =
        nn::decode_controller(nn::load_bundle(file).controller, "exported").training_record;
    bundle.controller = nn::encode_controller(controller);
    const std::vector<std::byte> bytes = nn::encode_bundle(bundle);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == read_file(file),
              true);
  }
  std::uint64_t amortised(const fs::path& policy) const {
    const fs::path scores = dir.path() / "scores.json";
    const Captured evaluated = testing::run(
        {"evaluate", "--policy", policy.string(), "--models", "synthetic:4:1:1:0", "--searches", "policy",
         "--candidates", "50", "--episodes", "1", "--trajectories", "2", "--json", scores.string()});
    EXPECT_EQ(evaluated.status.code, 0) << evaluated.errors;
    for (const json& entry : json_of(scores))
      if (entry.at("kind") == "policy-search") return entry.at("amortised_at_best");
    ADD_FAILURE() << "no search was guided";
    return 0;
  }
  TempDir dir;
};

TEST_F(ChoiceOfAJob, IsTheBestThatIsBelievedAndCostsWhatItsChecksTook) {
  const std::string seen = job({"model_based.trust=1000"});
  EXPECT_THAT(seen, HasSubstr("step 3 of 4: choice\n"));
  EXPECT_THAT(seen, HasSubstr("kept is the controller of update "));
  const json said = choice();
  EXPECT_EQ(said.at("dream"), "round-1/dream");
  EXPECT_EQ(said.at("dreams"), 3);
  ASSERT_EQ(said.at("checked").size(), 4u);
  double best = -1e9;
  int update = 0;
  for (int i = 0; i < 4; ++i) {
    const json& each = said.at("checked").at(static_cast<std::size_t>(i));
    EXPECT_EQ(each.at("update"), i + 1);
    EXPECT_THAT(seen, HasSubstr(line_of(i + 1)));
    EXPECT_LE(each.at("real_steps").get<int>(), 3 * 12) << "three dreams of twelve steps at most";
    EXPECT_GE(each.at("mean_error").get<double>() + 1e-12,
              std::abs(each.at("predicted").get<double>() - each.at("real").get<double>()));
    if (each.at("real").get<double>() >= best) {
      best = each.at("real");
      update = i + 1;
    }
  }
  EXPECT_EQ(said.at("chosen"), json({{"update", update}, {"why", "believed"}, {"trust", 1000}}));
  expect_kept();
  EXPECT_EQ(amortised(kept()), amortised(exported(update)) + said.at("costed").get<std::uint64_t>());
}

// Killed after two of four checks, of which one is of another file: the other one is not done again, and the
// choice is that of a job that was not killed.
TEST_F(ChoiceOfAJob, IsResumedBetweenChecksAndMadeAgainByAnotherRuleOrOtherDreams) {
  job({});
  expect_kept();
  const std::string all = read_file(choice_file()), bundle = read_file(kept());
  EXPECT_THAT(job({}), HasSubstr("step 3 of 4: choice: done before\n"));

  json part = json::parse(all);
  part.erase("chosen");
  part.at("checked").erase(2);
  part.at("checked").erase(0);
  part.at("checked").at(1)["bundle"] = std::string(64, '0');
  write_file_atomic(choice_file(), part.dump());
  fs::remove_all(kept());
  fs::remove(run() / "evaluation.json");
  const std::string resumed = job({});
  for (const int update : {1, 3, 4}) EXPECT_THAT(resumed, HasSubstr(line_of(update)));
  EXPECT_THAT(resumed, Not(HasSubstr(line_of(2))));
  EXPECT_EQ(read_file(choice_file()), all);
  EXPECT_EQ(read_file(kept()) == bundle, true);

  const std::string distrusting = job({"model_based.trust=0"});
  EXPECT_THAT(distrusting, Not(HasSubstr("checked the controller"))) << "their figures are there";
  EXPECT_THAT(distrusting, HasSubstr("the dreams of no controller are to be believed"));
  const json said = choice();
  double least = 1e9;
  for (const json& each : said.at("checked")) least = std::min(least, each.at("mean_error").get<double>());
  EXPECT_EQ(said.at("chosen").at("why"), "least error");
  EXPECT_EQ(json_of(run() / "summary.json").at("choice").at("mean_error"), least);
  expect_kept();

  const std::string more = job({"model_based.dreams_per_check=4"});
  for (const int update : {1, 2, 3, 4}) EXPECT_THAT(more, HasSubstr(line_of(update)));
  EXPECT_EQ(choice().at("dreams"), 4);
  expect_kept();

  const std::string warmer = job({"model_based.dreams_per_check=4", "dream.tau=0.5"});
  for (const int update : {1, 2, 3, 4}) EXPECT_THAT(warmer, HasSubstr(line_of(update)));
  EXPECT_EQ(choice().at("tau"), 0.5);

  const std::string fewer = job({"model_based.dreams_per_check=4", "model_based.check_every=3"});
  EXPECT_THAT(fewer, Not(HasSubstr("checked the controller")));
  EXPECT_EQ(choice().at("checked").size(), 2u) << "the third and the last";
  expect_kept();

  EXPECT_THAT(job({"model_based.check_every=0"}), HasSubstr("step 3 of 3: evaluation\n"));
  EXPECT_FALSE(fs::exists(choice_file()));
  EXPECT_FALSE(json_of(run() / "summary.json").contains("choice"));
  EXPECT_EQ(read_file(kept()) == read_file(exported(4)), true) << "the last one";
}

TEST_F(ChoiceOfAJob, ControllersThatEvolveAreChosenFromAlike) {
  job({"dream.controller=linear", "dream.population=4"});
  EXPECT_EQ(choice().at("checked").size(), 4u);
  EXPECT_NE(read_file(exported(1)) == read_file(exported(4)), true);
  expect_kept();
}

TEST_F(ChoiceOfAJob, OfFewerUpdatesThanBetweenChecksTheLastOneIsChecked) {
  job({"model_based.check_every=5"});
  ASSERT_EQ(choice().at("checked").size(), 1u);
  EXPECT_EQ(choice().at("chosen").at("update"), 4);
  expect_kept();
}

}  // namespace
}
