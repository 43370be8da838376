#include "launch/optimise/measured_choice.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/base/find_config.h"
#include "core/exec/tiny_models.h"
#include "core/rules/match/match_index.h"
#include "support/manual_clock.h"

namespace regraft::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Pair;
using ::testing::SizeIs;

/// A launcher that costs a model by its ops.
class CostsOps : public exec::Launcher {
 public:
  explicit CostsOps(std::map<graph::OpKind, double> ms) : ms_(std::move(ms)) {}

  exec::Measurement measure(const exec::MeasureRequest& request) override {
    const onnx::ImportedModel model = onnx::import_model(request.model);
    double ms = 1;
    for (graph::NodeId id = 0; id < model.graph().id_bound(); ++id)
      if (model.graph().alive(id))
        if (const auto found = ms_.find(model.graph().node(id).kind); found != ms_.end()) ms += found->second;
    ++sessions;
    ms *= std::exp(0.002 * rng_.normal());
    return {0.01, std::vector<double>(static_cast<std::size_t>(request.plan.min_runs), ms), ms / 1e3, 0};
  }

  int sessions = 0;

 private:
  std::map<graph::OpKind, double> ms_;
  Rng rng_{1, "costs ops"};
};

/// y = Tanh(Relu(Neg(x))), each of which a rule makes another op of.
class Choice : public ::testing::Test {
 protected:
  Choice() {
    exec::testing::ModelBuilder builder;
    builder.input("x", {4}).output("y", {4});
    builder.node("Neg", {"x"}, {"a"});
    builder.node("Relu", {"a"}, {"b"});
    builder.node("Tanh", {"b"}, {"y"});
    model_.emplace(onnx::import_model(builder.write(dir_.path() / "m.onnx")));
    start_.emplace(*model_);
    graph::Graph graph = (*start_)[0];
    for (std::uint32_t rule = 0; rule < 3; ++rule) {
      const rules::MatchIndex index(rules_, graph);
      paths_[0].push_back(index.matches(rule)[0]);
      rules::apply(graph, rules_, paths_[0].back());
    }
  }

  Paths choose(CostsOps& launcher, const Paths& paths, const exec::TrialOptions& options = {},
               const std::set<std::size_t>& idle = {}) {
    const std::vector<double> saved_us(paths[0].size(), 1);
    const cost::SeveralSizesFactory costs(cost::load_device(find_config("configs/devices/cpu-1core.toml")),
                                          {{}}, (*start_)[0]);
    const ManualClock clock;
    return MeasuredChoice(launcher, options, {*model_, *start_, rules_, std::span(&costs, 1), {}, idle},
                          clock)
        .choose(paths, saved_us, changes_);
  }

  TempDir dir_;
  std::optional<onnx::ImportedModel> model_;
  std::optional<ModelGraphs> start_;
  rules::RuleSet rules_ =
      rules::RuleSet::parse("exp: Neg(x) => Exp(x)\nabs: Relu(x) => Abs(x)\nsin: Tanh(x) => Sin(x)\n", "t");
  Paths paths_{1};
  MeasuredChanges changes_;
};

TEST_F(Choice, LeavesGraphsThatDoNotRunAsTheyWereFound) {
  CostsOps launcher({{graph::OpKind::exp, 5}, {graph::OpKind::abs, 5}, {graph::OpKind::sin, 5}});
  EXPECT_NE(choose(launcher, paths_), paths_) << "where it runs, what is slower goes";
  changes_ = {};
  launcher.sessions = 0;
  EXPECT_EQ(choose(launcher, paths_, {}, {0}), paths_);
  EXPECT_EQ(choose(launcher, Paths(1), {}, {0}), Paths(1));
  EXPECT_EQ(launcher.sessions, 0);
  EXPECT_THAT(changes_.kept, IsEmpty());
}

TEST_F(Choice, KeepsAllThatPays) {
  CostsOps launcher({{graph::OpKind::neg, 1}, {graph::OpKind::relu, 1}, {graph::OpKind::tanh, 1}});
  EXPECT_EQ(choose(launcher, paths_), paths_);
  EXPECT_THAT(changes_.left_out, IsEmpty());
  EXPECT_THAT(changes_.taken_in, IsEmpty());
  ASSERT_THAT(changes_.kept, SizeIs(3));
  for (const MeasuredGroup& group : changes_.kept) EXPECT_LT(group.gain.speedup, 0.8) << group.names();
}

TEST_F(Choice, LeavesOutWhatDoesNotPay) {
  CostsOps launcher({{graph::OpKind::neg, 1}, {graph::OpKind::abs, 0.5}, {graph::OpKind::tanh, 1}});
  const Paths chosen = choose(launcher, paths_);
  ASSERT_THAT(chosen[0], SizeIs(2));
  EXPECT_EQ(chosen[0][0].rule, 0u);
  EXPECT_EQ(chosen[0][1].rule, 2u);
  ASSERT_THAT(changes_.left_out, SizeIs(1));
  EXPECT_THAT(changes_.left_out[0].rules, ElementsAre(Pair("abs", 1)));
  EXPECT_NEAR(changes_.left_out[0].gain.speedup, 1.5, 0.02);
  EXPECT_THAT(changes_.left_out[0].text(), MatchesRegex("1 x abs: 1\\.(49|50|51).x as fast"));
  EXPECT_THAT(changes_.kept, SizeIs(2));
  EXPECT_THAT(changes_.taken_in, IsEmpty());
}

TEST_F(Choice, LeavesOutAllThatDoesNotPayTogether) {
  CostsOps launcher({{graph::OpKind::exp, 0.5}, {graph::OpKind::abs, 0.5}, {graph::OpKind::sin, 0.5}});
  EXPECT_THAT(choose(launcher, paths_)[0], IsEmpty());
  EXPECT_THAT(changes_.left_out, SizeIs(3));
}

TEST_F(Choice, TakesInWhatIsFasterThanItWasPredicted) {
  CostsOps launcher({{graph::OpKind::neg, 1}, {graph::OpKind::abs, 0.5}, {graph::OpKind::tanh, 0.5}});
  const Paths chosen = choose(launcher, {{}});
  ASSERT_THAT(chosen[0], SizeIs(2));
  EXPECT_EQ(chosen[0][0].rule, 0u) << "what gains most comes first";
  EXPECT_EQ(chosen[0][1].rule, 2u);
  ASSERT_THAT(changes_.taken_in, SizeIs(2));
  EXPECT_THAT(changes_.taken_in[0].rules, ElementsAre(Pair("exp", 1)));
}

TEST_F(Choice, GoesOnToFurtherMovesWhereTheFirstDoNotGain) {
  exec::TrialOptions options;
  options.budget_s = 1;
  const auto affordable = [&] {  // in the first round, which has this share of the time
    exec::TrialOptions round = options;
    round.budget_s *= 0.6 * 0.6;
    return exec::affordable_contenders({0.01, {2}, 2e-3, 0}, round);
  };
  while (affordable() == 0) ++options.budget_s;
  ASSERT_EQ(affordable(), 1);
  for (const auto& [slow, rule] :
       {std::pair(graph::OpKind::neg, "exp"), {graph::OpKind::relu, "abs"}, {graph::OpKind::tanh, "sin"}}) {
    CostsOps launcher({{slow, 1}});
    changes_ = {};
    EXPECT_THAT(choose(launcher, {{}}, options)[0], SizeIs(1));
    ASSERT_THAT(changes_.taken_in, SizeIs(1));
    EXPECT_THAT(changes_.taken_in[0].rules, ElementsAre(Pair(rule, 1)));
    EXPECT_THAT(changes_.not_taken_in, SizeIs(2)) << "each is tried once";
  }
}

TEST_F(Choice, RunsNothingWhereThereIsNothingToTry) {
  CostsOps launcher({});
  rules_ = rules::RuleSet::parse("erf: Sigmoid(x) => Erf(x)\n", "t");
  EXPECT_EQ(choose(launcher, {{}}), Paths{1});
  EXPECT_EQ(launcher.sessions, 0);
}

TEST_F(Choice, RunsNothingWhereTheTimeIsTooShortForAnyModel) {
  CostsOps launcher({});
  exec::TrialOptions options;
  options.budget_s = 2;
  EXPECT_EQ(choose(launcher, paths_, options), paths_);
  EXPECT_EQ(launcher.sessions, 0);
}

TEST_F(Choice, RunsASlowModelOnceToLearnThatTheTimeIsTooShort) {
  CostsOps launcher({{graph::OpKind::abs, 1e5}});
  EXPECT_EQ(choose(launcher, paths_), paths_);
  EXPECT_EQ(launcher.sessions, 1);
  EXPECT_THAT(changes_.left_out, IsEmpty());
}

}  // namespace
}
