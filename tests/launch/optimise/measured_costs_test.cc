#include "launch/optimise/measured_costs.h"

#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/cost/analytic_cost.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/tiny_models.h"
#include "core/rules/match/match_index.h"

namespace regraft::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// y = Neg(Neg(Tanh(x))), and a profile that says of each kernel how many times as long it takes as by rates.
class MeasuredCostsTest : public ::testing::Test {
 protected:
  MeasuredCostsTest() {
    options_.input = dir_.path() / "m.onnx";
    options_.database = dir_.path() / "kernels.sqlite";
    options_.costs = "alone";
    options_.search = "greedy";
    options_.quiet = true;
  }
  static std::filesystem::path write_model(const std::filesystem::path& file) {
    exec::testing::ModelBuilder model;
    model.node("Tanh", {"x"}, {"t"});
    model.node("Neg", {"t"}, {"n"});
    model.node("Neg", {"n"}, {"y"});
    model.input("x", {512, 512}).output("y", {512, 512});
    return model.write(file);
  }
  static exec::Feed at_its_sizes() {
    exec::Feed feed;
    feed.points.resize(1);
    return feed;
  }
  ProfileSummary profile(const std::filesystem::path& file) {
    const onnx::ImportedModel model = onnx::import_model(file);
    const cost::DeviceProfile device = options_.device_profile();
    ProfileSummary summary;
    summary.disturbed = disturbed_;
    profiled_.emplace_back();
    for (const cost::PredictedKernel& kernel :
         cost::AnalyticCost(device, costs_.bindings(), model.graph()).kernels()) {
      const double times = times_.contains(kernel.features.kind) ? times_.at(kernel.features.kind) : 1;
      summary.samples.push_back({kernel.features, kernel.analytic_us, kernel.analytic_us * times});
      profiled_.back().push_back(kernel.features.op_name());
    }
    return summary;
  }
  MeasuredCosts make() {
    return {options_, dir_.path() / "feed", start_, costs_,
            [this](const std::filesystem::path& model) { return profile(model); }};
  }
  MeasuredCosts make_failing() {
    return {
        options_, dir_.path() / "feed", start_, costs_,
        [](const std::filesystem::path&) -> ProfileSummary { throw exec::ExecError("it hangs", "", ""); }};
  }
  double latency_us() const { return costs_.latencies_us(start_)[0]; }
  /// Searches with `rules`; which were applied.
  std::vector<std::string> search(MeasuredCosts& costs, rules::RuleSet rules,
                                  const std::optional<CheckedSearch::Proposal>& from = {}) {
    const auto untimed = [](const char*, const auto& work) { work(); };
    const ProfileSummary none;
    CheckedSearch search(options_, rules, costs_, none, start_, untimed, report_, log_);
    std::vector<std::string> applied;
    const CheckedSearch::Proposal found =
        costs.search(search, model_, rules, untimed, options_.time.search_s(), from);
    for (const rules::Match& match : found.paths.at(0)) applied.push_back(rules.info(match.rule).name);
    return applied;
  }

  TempDir dir_;
  OptimiseOptions options_;
  const onnx::ImportedModel model_ = onnx::import_model(write_model(dir_.path() / "m.onnx"));
  const ModelGraphs start_{model_};
  const exec::Feed feed_ = at_its_sizes();
  PointCosts costs_{model_, feed_, options_.device_profile(), start_};
  OptimiseReport report_;
  rules::RewriteLog log_;
  std::map<graph::OpKind, double> times_;
  bool disturbed_ = false;
  std::vector<std::vector<std::string>> profiled_;  // the kernels of each model
};

TEST_F(MeasuredCostsTest, ADatabaseThatCannotBeUsedIsAWarningWhereItIsAskedFor) {
  write_file_atomic(options_.database, "no database");
  options_.costs = "device";
  EXPECT_FALSE(make().corrects());
  EXPECT_TRUE(read_file(options_.database) == "no database") << "not asked for";
  options_.costs = "alone";
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(make().corrects());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("regraft: warning: "));
}

TEST_F(MeasuredCostsTest, KernelsCorrectTheCostsAndTheDatabaseKeepsThem) {
  const double by_rates = latency_us();
  times_ = {{graph::OpKind::tanh, 8}, {graph::OpKind::neg, 8}};
  make().learn_from(options_.input);
  const double measured = latency_us();
  EXPECT_NEAR(measured, 8 * by_rates, 0.01 * by_rates);
  costs_.correct(start_, {});
  ASSERT_EQ(latency_us(), by_rates);
  MeasuredCosts other(options_, dir_.path() / "feed", start_, costs_,
                      [](const auto&) { return ProfileSummary(); });
  other.learn_from(options_.input);
  EXPECT_NEAR(latency_us(), measured, 0.01 * measured) << "by what the database knows";
}

TEST_F(MeasuredCostsTest, WhatWasMeasuredBesideOtherWorkCountsWhereNothingElseIsKnown) {
  const double by_rates = latency_us();
  disturbed_ = true;
  times_ = {{graph::OpKind::tanh, 8}, {graph::OpKind::neg, 8}};
  MeasuredCosts costs = make();
  costs.learn_from(options_.input);
  EXPECT_NEAR(latency_us(), 8 * by_rates, 0.01 * by_rates);
  disturbed_ = false;
  times_.clear();
  costs.learn_from(options_.input);
  EXPECT_NEAR(latency_us(), by_rates, 0.01 * by_rates) << "now something else is known";
  costs_.correct(start_, {});
  MeasuredCosts(options_, dir_.path() / "feed", start_, costs_, [](const auto&) {
    return ProfileSummary();
  }).learn_from(options_.input);
  EXPECT_NEAR(latency_us(), by_rates, 0.01 * by_rates) << "the database has not kept the first";
}

TEST_F(MeasuredCostsTest, WhereKernelsAreNotMeasuredAProfileCorrectsNothing) {
  const double by_rates = latency_us();
  options_.costs = "device";
  times_ = {{graph::OpKind::tanh, 8}};
  EXPECT_THAT(make().learn_from(options_.input).samples, SizeIs(3));
  EXPECT_EQ(latency_us(), by_rates);
  EXPECT_FALSE(std::filesystem::exists(options_.database));
}

TEST_F(MeasuredCostsTest, KernelsForTheReportCorrectNothing) {
  const double by_rates = latency_us();
  times_ = {{graph::OpKind::tanh, 8}};
  EXPECT_THAT(make().kernels_of(options_.input), SizeIs(3));
  EXPECT_EQ(latency_us(), by_rates);
  ::testing::internal::CaptureStderr();
  EXPECT_THAT(make_failing().kernels_of(options_.input), IsEmpty());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("not in the report: it hangs"));
}

/// By rates an Exp is faster than a Tanh; here it is not.
rules::RuleSet two_rules() {
  return rules::RuleSet::parse("twice: Neg(Neg(x)) => x\nother: Tanh(x) => Exp(x)\n", "t");
}

TEST_F(MeasuredCostsTest, ASearchIsMadeAgainByWhatTheProfileOfItsResultSays) {
  times_ = {{graph::OpKind::exp, 50}};
  MeasuredCosts costs = make();
  costs.learn_from(options_.input);
  EXPECT_THAT(search(costs, two_rules()), ElementsAre("twice"));
  EXPECT_THAT(profiled_, ElementsAre(SizeIs(3), ElementsAre("Exp"), ElementsAre("Tanh")));
}

TEST_F(MeasuredCostsTest, ASearchOfNoSecondsEndsWhereItBegan) {
  options_.time.search = 0;
  MeasuredCosts costs = make();
  EXPECT_THAT(search(costs, two_rules()), IsEmpty());
  const auto rules = two_rules();
  const rules::Match twice = rules::MatchIndex(rules, start_[0]).matches(0)[0];
  const CheckedSearch::Proposal from{Paths{{twice}}};
  EXPECT_THAT(search(costs, two_rules(), from), ElementsAre("twice"));
  EXPECT_THAT(profiled_, IsEmpty());
}

TEST_F(MeasuredCostsTest, TheLastProfileMaySpeakForAnEarlierResult) {
  times_ = {{graph::OpKind::tanh, 2}, {graph::OpKind::relu, 5000}};
  MeasuredCosts costs = make();
  const auto rules = [] {
    return rules::RuleSet::parse("twice: Neg(Neg(x)) => x\nother: Tanh(x) => Relu(x)\n", "t");
  };
  const CheckedSearch::Proposal from{Paths{{rules::MatchIndex(rules(), start_[0]).matches(0)[0]}}};
  EXPECT_THAT(search(costs, rules(), from), ElementsAre("twice"));
  EXPECT_THAT(profiled_, ElementsAre(ElementsAre("Tanh"), ElementsAre("Relu")));
}

TEST_F(MeasuredCostsTest, WhatWasFoundStaysWhereItCannotBeProfiled) {
  MeasuredCosts costs = make_failing();
  ::testing::internal::CaptureStderr();
  EXPECT_THAT(search(costs, two_rules()), SizeIs(2));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("not profiled: it hangs"));
}

TEST_F(MeasuredCostsTest, WithoutARewriteNothingIsProfiled) {
  MeasuredCosts costs = make();
  EXPECT_THAT(search(costs, rules::RuleSet::parse("none: Relu(Relu(x)) => Relu(x)\n", "t")), IsEmpty());
  EXPECT_THAT(profiled_, IsEmpty());
}

}  // namespace
}
