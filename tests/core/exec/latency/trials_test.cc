#include "core/exec/latency/trials.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>

#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

using ::testing::SizeIs;

/// Models of known latencies; counts their sessions.
class KnownLatencies : public Launcher {
 public:
  KnownLatencies(std::map<std::string, double> ms, double sigma) : ms_(std::move(ms)), sigma_(sigma) {}

  Measurement measure(const MeasureRequest& request) override {
    const std::string model = request.model.string();
    ++sessions[model];
    order.push_back(model);
    if (!ms_.contains(model)) throw ExecError("there is no kernel for it", model, "");
    const double ms = ms_.at(model) * std::exp(sigma_ * rng_.normal());
    return {0.1, std::vector<double>(static_cast<std::size_t>(request.plan.min_runs), ms), ms / 1e3, 0};
  }

  std::map<std::string, int> sessions;
  std::vector<std::string> order;

 private:
  std::map<std::string, double> ms_;
  double sigma_;
  Rng rng_{3, "known latencies"};
};

std::vector<SpeedupEstimate> trial(KnownLatencies& launcher, const std::vector<TimedModel>& models,
                                   const TrialOptions& options = {}) {
  return run_trials(launcher, "first", probe(launcher, "first", options), models, options);
}

TEST(Trials, TellFasterFromSlower) {
  KnownLatencies launcher({{"first", 10}, {"faster", 9}, {"slower", 11}}, 0.005);
  const auto estimates = trial(launcher, {"slower", "faster"});
  ASSERT_THAT(estimates, SizeIs(2));
  EXPECT_NEAR(estimates[0].speedup, 10.0 / 11, 0.01);
  EXPECT_NEAR(estimates[1].speedup, 10.0 / 9, 0.01);
  EXPECT_LT(estimates[0].high, 1);
  EXPECT_GT(estimates[1].low, 1);
}

TEST(Trials, AContenderThatCannotBeRunHasLost) {
  KnownLatencies launcher({{"first", 10}, {"faster", 9}}, 0.005);
  const auto estimates = trial(launcher, {"broken", "faster"});
  EXPECT_EQ(estimates[0].speedup, 0);
  EXPECT_EQ(launcher.sessions["broken"], 1) << "it is not tried again";
  EXPECT_NEAR(estimates[1].speedup, 10.0 / 9, 0.01);
  const TimedModel other = "faster";
  EXPECT_THROW(run_trials(launcher, "broken", {0.1, {10}, 0.01, 0}, std::span(&other, 1), {}), ExecError);
}

TEST(Trials, SpendTheirTimeOnWhatIsUndecided) {
  KnownLatencies launcher({{"first", 10}, {"half", 20}, {"equal", 10}}, 0.01);
  TrialOptions options;
  options.budget_s = 1e6;
  trial(launcher, {"half", "equal"}, options);
  EXPECT_EQ(launcher.sessions["half"], options.least_rounds);
  EXPECT_GT(launcher.sessions["equal"], options.least_rounds);
  EXPECT_LE(launcher.sessions["equal"], options.most_rounds);
  EXPECT_EQ(launcher.sessions["first"], launcher.sessions["equal"] + 1) << "a session a round, and the probe";
}

TEST(Trials, StayWithinTheirBudgetButForTheLeastRounds) {
  KnownLatencies launcher({{"first", 10}, {"a", 10}, {"b", 10}}, 0.01);
  TrialOptions options;
  options.budget_s = 0.1;
  trial(launcher, {"a", "b"}, options);
  EXPECT_EQ(launcher.sessions["a"], options.least_rounds);
}

TEST(Trials, RunEachRoundInRandomOrder) {
  KnownLatencies launcher({{"first", 10}, {"a", 10}}, 0.02);
  trial(launcher, {"a"});
  int first_first = 0, rounds = 0;
  for (std::size_t i = 1; i + 1 < launcher.order.size(); i += 2, ++rounds) {
    EXPECT_NE(launcher.order[i], launcher.order[i + 1]);
    if (launcher.order[i] == "first") ++first_first;
  }
  EXPECT_GT(first_first, 0);
  EXPECT_LT(first_first, rounds);
}

TEST(Trials, AffordFewerOfASlowModel) {
  TrialOptions options;
  const Measurement small{0.05, {5}, 0.005, 0}, large{1, {350}, 0.35, 0}, huge{20, {9000}, 9, 0};
  EXPECT_GT(affordable_contenders(small, options), affordable_contenders(large, options));
  EXPECT_GT(affordable_contenders(large, options), 0u);
  EXPECT_EQ(affordable_contenders(huge, options), 0u);
}

}  // namespace
}
