#include "launch/optimise/rewrite_trials.h"

#include <gmock/gmock.h>

#include "core/base/find_config.h"
#include "core/exec/tiny_models.h"
#include "core/rules/match/match_index.h"
#include "support/manual_clock.h"

namespace regraft::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

/// What a model takes in session settings: as it is, and without its Pow.
struct Times {
  double before_ms, after_ms;
};

class ScriptedSessions : public exec::Launcher {
 public:
  exec::Measurement measure(const exec::MeasureRequest& request) override {
    const onnx::ImportedModel model = onnx::import_model(request.model);
    bool has_pow = false;
    for (graph::NodeId id = 0; id < model.graph().id_bound(); ++id)
      has_pow |= model.graph().alive(id) && model.graph().node(id).kind == graph::OpKind::pow;
    const double ms = has_pow ? times.at(request.settings).before_ms : times.at(request.settings).after_ms;
    seen.insert(request.settings);
    return {0.01, std::vector<double>(static_cast<std::size_t>(request.plan.min_runs), ms), ms / 1e3, 0};
  }

  std::map<exec::SessionSettings, Times> times;
  std::set<exec::SessionSettings> seen;
};

/// y = Tanh(Neg(Neg(Pow(x, 2)))).
class Trials : public ::testing::Test {
 protected:
  Trials() {
    exec::testing::ModelBuilder builder;
    builder.input("x", {4}).output("y", {4}).weight("two", {}, {2});
    builder.node("Pow", {"x", "two"}, {"a"});
    builder.node("Neg", {"a"}, {"b"});
    builder.node("Neg", {"b"}, {"c"});
    builder.node("Tanh", {"c"}, {"y"});
    model_.emplace(onnx::import_model(builder.write(dir_.path() / "m.onnx")));
    start_.emplace(*model_);
    feed_.points.emplace_back();
    costs_.emplace(*model_, feed_, cost::load_device(find_config("configs/devices/cpu-1core.toml")), *start_);
    options_.input = dir_.path() / "m.onnx";
    options_.quiet = true;
    report_.settings.output = kTuned;
  }

  /// From the input on.
  CheckedSearch::Result choose(const std::vector<exec::SessionSettings>& settings) {
    const ProfileSummary profile;
    const auto untimed = [](const char*, const auto& work) { work(); };
    CheckedSearch search(options_, rules_, *costs_, profile, *start_, untimed, report_, log_);
    const ManualClock clock;
    RewriteTrials trials(sessions_, {},
                         {options_, *model_, *start_, rules_, *costs_, search, report_, log_, clock}, untimed,
                         go_on_);
    return trials.choose(search.check({Paths(1)}), settings);
  }

  const exec::SessionSettings kOwn, kTuned{{"a.b", "1"}};
  TempDir dir_;
  std::optional<onnx::ImportedModel> model_;
  std::optional<ModelGraphs> start_;
  rules::RuleSet rules_ =
      rules::RuleSet::parse("square: Pow(x, 2) => Mul(x, x)\ntwice: Neg(Neg(x)) => x\n", "t");
  exec::Feed feed_;
  std::optional<PointCosts> costs_;
  OptimiseOptions options_;
  OptimiseReport report_;
  rules::RewriteLog log_;
  ScriptedSessions sessions_;
  RewriteTrials::GoOn go_on_;
};

TEST_F(Trials, InOneSettingGoOnFromWhatTheyTookIn) {
  sessions_.times = {{kOwn, {6, 2}}};
  go_on_ = [&](const CheckedSearch::Result& from) {
    EXPECT_THAT(report_.rules, ElementsAre(Pair("square", 1)));
    CheckedSearch::Proposal further = from;
    further.paths[0].push_back(rules::MatchIndex(rules_, from.graphs[0]).matches(1)[0]);
    return further;
  };
  EXPECT_THAT(choose({kOwn}).paths[0], SizeIs(2));
  EXPECT_THAT(report_.rules, ElementsAre(Pair("square", 1), Pair("twice", 1)));
  EXPECT_EQ(report_.settings.output, kTuned) << "there was no choice";
}

TEST_F(Trials, GoByNoOtherRuntimesProfile) {
  sessions_.times = {{kOwn, {6, 2}}};
  report_.kernels.measured_us = 1e9;  // there is no time for such runs
  EXPECT_THAT(choose({kOwn}).paths[0], IsEmpty());
  options_.runtime = "onnxruntime-cuda";  // its kernels are not measured
  EXPECT_THAT(choose({kOwn}).paths[0], SizeIs(1));
}

TEST_F(Trials, AreMadeInTheRuntimesOwnSettingsToo) {
  sessions_.times = {{kTuned, {3, 3}}, {kOwn, {6, 2}}};
  EXPECT_THAT(choose({kTuned, kOwn}).paths[0], SizeIs(1));
  EXPECT_THAT(report_.rules, ElementsAre(Pair("square", 1)));
  EXPECT_THAT(report_.changes.taken_in, SizeIs(1));
  EXPECT_EQ(report_.settings.output, kOwn);
}

TEST_F(Trials, KeepWhatGainsInTheInputsSettingsAlone) {
  sessions_.times = {{kTuned, {2, 1}}, {kOwn, {6, 6}}};
  EXPECT_THAT(choose({kTuned, kOwn}).paths[0], SizeIs(1));
  EXPECT_THAT(sessions_.seen, ElementsAre(kOwn, kTuned));
  EXPECT_THAT(report_.rules, ElementsAre(Pair("square", 1))) << "not those of the trials that came last";
  EXPECT_THAT(log_.entries, SizeIs(1));
  EXPECT_THAT(report_.changes.taken_in, SizeIs(1));
  EXPECT_EQ(report_.settings.output, kTuned);
}

TEST_F(Trials, ThatAgreeOnRewritesChooseTheirSettings) {
  sessions_.times = {{kTuned, {5, 4}}, {kOwn, {6, 2}}};
  EXPECT_THAT(choose({kTuned, kOwn}).paths[0], SizeIs(1));
  EXPECT_EQ(report_.settings.output, kOwn);
}

TEST_F(Trials, LeaveTheInputWhereItsSettingsDoMoreThanRewrites) {
  sessions_.times = {{kTuned, {1, 1.5}}, {kOwn, {6, 2}}};
  EXPECT_THAT(choose({kTuned, kOwn}).paths[0], IsEmpty());
  EXPECT_THAT(log_.entries, IsEmpty());
  EXPECT_EQ(report_.settings.output, kTuned);
}

TEST_F(Trials, GiveEachSetOfRewritesEitherSettings) {
  sessions_.times = {{kTuned, {3, 3}}, {kOwn, {6, 4}}};
  EXPECT_THAT(choose({kOwn, kTuned}).paths[0], SizeIs(1)) << "what gained in the first";
  EXPECT_EQ(report_.settings.output, kTuned) << "runs faster in the second";
}

}  // namespace
}
