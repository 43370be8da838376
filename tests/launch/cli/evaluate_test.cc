// `regraft evaluate`: on a graph with a known optimum, each figure against what is known of it.
#include <gmock/gmock.h>

#include <set>

#include "core/base/atomic_file.h"
#include "core/env/observation.h"
#include "core/env/synthetic.h"
#include "core/graph/op_kind_names.h"
#include "core/nn/model/policy_file.h"
#include "core/rules/rewrite/script.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::json_of;
using testing::run;

const char* const kModel = "synthetic:4:1:1:0";

class Evaluate : public ::testing::Test {
 protected:
  json evaluate(const std::vector<std::string>& more) {
    const Captured result = testing::run_with(
        {"evaluate", "--models", kModel, "--set", "workload.horizon=12", "--json", file_.string()}, more);
    EXPECT_EQ(result.status.code, 0) << result.errors;
    return json_of(file_);
  }
  /// The only score of this kind.
  static json of_kind(const json& scores, const std::string& kind) {
    json found;
    for (const json& score : scores) {
      if (score["kind"] != kind) continue;
      EXPECT_TRUE(found.is_null()) << kind;
      found = score;
    }
    EXPECT_FALSE(found.is_null()) << kind;
    return found;
  }
  /// A policy with fresh weights for the model's rules, as the learner writes one.
  std::filesystem::path policy(nn::Head head, const std::string& rule_set_hash,
                               const env::EpisodeLimits& limits = {},
                               env::ActionMode mode = env::ActionMode::one_site) {
    const rules::RuleSet rules = env::make_synthetic_rules(1);
    nn::PolicyFile policy;
    policy.op_kinds = graph::op_kind_names();
    policy.observation_schema = env::kObservationSchema;
    policy.rule_set_hash = rule_set_hash;
    policy.limits = limits;
    policy.training_record = record_;
    for (std::size_t i = 0; i < rules.size(); ++i) policy.rule_names.push_back(rules.info(i).name);
    policy.network = {.width = 16,
                      .steps = 2,
                      .node_kinds = static_cast<std::uint32_t>(policy.op_kinds.size()),
                      .head = head,
                      .action_mode = mode};
    if (head == nn::Head::hierarchical) policy.network.rules = static_cast<std::uint32_t>(rules.size() + 1);
    policy.weights = nn::initial_weights(policy.network, 3);
    const auto path =
        folder_.path() / (std::string(enum_name(head)) + "-" + std::string(enum_name(mode)) + ".policy");
    nn::save_policy(policy, path);
    return path;
  }
  std::string record_ = R"({"steps": 77})";  // of the next policy
  double share(double cost_us) const { return 1 - cost_us / task_.initial_us; }

  TempDir folder_;
  std::filesystem::path file_ = folder_.path() / "scores.json";
  env::SyntheticTask task_ =
      env::make_synthetic_task({.chains = 4, .locked = 1, .valley = 1, .rise_us = 1.0, .seed = 0});
};

TEST_F(Evaluate, SearchesReachWhatIsKnownOfTheGraph) {
  const json scores =
      evaluate({"--searches", "greedy,restarts,beam,taso,random", "--candidates", "300", "--episodes", "7"});
  EXPECT_EQ(scores.size(), 6u);
  EXPECT_NEAR(of_kind(scores, "greedy")["returns"][0].get<double>(), share(task_.greedy_us), 1e-9);
  EXPECT_NEAR(of_kind(scores, "beam")["returns"][0].get<double>(), share(task_.optimal_us), 1e-9);
  for (const json& score : scores) {
    SCOPED_TRACE(score["kind"].dump());
    EXPECT_EQ(score["model"], kModel);
    EXPECT_GT(score["candidates_costed"].get<int>(), 0);
    EXPECT_EQ(score["returns"].size(), score["kind"] == "random" ? 7u : 1u);
    ASSERT_EQ(score["best"].size(), score["returns"].size());
    for (std::size_t i = 0; i < score["best"].size(); ++i) {
      EXPECT_GE(score["best"][i].get<double>(), score["returns"][i].get<double>());
      EXPECT_LE(score["best"][i].get<double>(), share(task_.optimal_us) + 1e-9);
    }
    if (score["kind"] == "random") continue;
    // What had been found after so many candidates only gets better, and ends in what was found.
    double last = 0;
    for (const json& point : score["at"]) {
      EXPECT_GE(point["return"].get<double>(), last);
      last = point["return"].get<double>();
    }
    EXPECT_NEAR(last, score["returns"][0].get<double>(), 1e-12);
    EXPECT_LE(score["costed_at_best"].get<int>(), score["candidates_costed"].get<int>());
    EXPECT_EQ(score["costed_in_training"], 0);
    EXPECT_EQ(score["amortised_at_best"], score["costed_at_best"]);
  }
}

// A script is a method: its return is that of the graph it ends with, its best one of any on the way.
TEST_F(Evaluate, ScriptsOfAModelAreMethodsToo) {
  const std::string text = "open-1 all\nunlock all\ntidy all\n";
  const auto scripts = folder_.path() / "scripts";
  std::filesystem::create_directories(scripts);
  write_file_atomic(scripts / (std::string(kModel) + "-known.script"), std::string_view(text));
  write_file_atomic(scripts / "another-model.script", std::string_view("no such rule\n"));
  const json score = of_kind(evaluate({"--scripts", scripts.string(), "--searches", "greedy"}), "script");

  graph::Graph graph = *task_.start;
  const rules::RuleSet rules = env::make_synthetic_rules(1);
  const auto path = rules::run_script(rules::Script::parse(text, "test"), graph, rules);
  const double last_us = env::make_synthetic_costs(1.0).make(graph)->cost().latency_us;
  EXPECT_EQ(score["method"], "script " + std::string(kModel) + "-known");
  EXPECT_NEAR(score["returns"][0].get<double>(), share(last_us), 1e-9);
  EXPECT_GE(score["best"][0].get<double>(), score["returns"][0].get<double>());
  EXPECT_EQ(score["candidates_costed"], path.size());
  EXPECT_GE(path.size(), 2u);

  write_file_atomic(scripts / (std::string(kModel) + "-wrong.script"), std::string_view("opne-1\n"));
  const Captured wrong = run({"evaluate", "--models", kModel, "--scripts", scripts.string()});
  EXPECT_EQ(wrong.status.code, 1);
  EXPECT_THAT(wrong.errors, HasSubstr("opne-1"));
}

TEST_F(Evaluate, LimitsEndSearchesAndSaySo) {
  const json all = of_kind(evaluate({"--searches", "taso"}), "taso");
  const json few = of_kind(evaluate({"--searches", "taso", "--expansions", "2"}), "taso");
  EXPECT_EQ(few["expansions"], 2);
  EXPECT_EQ(few["stopped_by"], "expansions");
  EXPECT_GT(all["expansions"].get<int>(), 2);
  EXPECT_NE(all["stopped_by"], "expansions");
  const json cheap = of_kind(evaluate({"--searches", "taso", "--candidates", "5"}), "taso");
  EXPECT_EQ(cheap["stopped_by"], "candidates");
  EXPECT_LT(cheap["candidates_costed"].get<int>(), all["candidates_costed"].get<int>());
}

TEST_F(Evaluate, PoliciesStandBesideUntrainedOnesAndAreRepeatable) {
  const std::string hash = env::make_synthetic_rules(1).hash().hex();
  for (const nn::Head head : {nn::Head::pointer, nn::Head::hierarchical}) {
    SCOPED_TRACE(enum_name(head));
    const auto once = [&](const std::string& seed) {
      json scores = evaluate({"--policy", policy(head, hash).string(), "--untrained", "--searches",
                              "policy,portfolio", "--expansions", "20", "--episodes", "5", "--seed", seed});
      for (json& score : scores) {
        score.erase("seconds");
        if (score.contains("improvements"))
          for (json& step : score["improvements"]) step.erase("seconds");
      }
      return scores;
    };
    const json scores = once("1");
    for (const char* kind : {"random", "untrained", "untrained-policy-search", "untrained-portfolio-search",
                             "policy", "policy-mode", "policy-search", "portfolio-search"})
      EXPECT_EQ(
          of_kind(scores, kind)["returns"].size(),
          std::string_view(kind).ends_with("search") || std::string_view(kind).ends_with("mode") ? 1u : 5u);
    EXPECT_EQ(once("1"), scores);
    std::set<std::string> methods;
    for (const json& score : scores) methods.insert(score["method"]);
    EXPECT_EQ(methods.size(), scores.size()) << "each row of the table has a name of its own: " << scores;
    EXPECT_NE(of_kind(once("2"), "policy"), of_kind(scores, "policy"));
  }
}

// Each rewrite on the way of an episode is one candidate costed.
TEST_F(Evaluate, PoliciesPlayEpisodesAsInTheirTrainingUnlessTheConfigSaysOtherwise) {
  const std::string file = policy(nn::Head::pointer, "of other rules", {.horizon = 1}).string();
  const auto costed = [&](const std::vector<std::string>& more) {
    const Captured result = testing::run_with(
        {"evaluate", "--models", kModel, "--policy", file, "--episodes", "40", "--json", file_.string()},
        more);
    EXPECT_EQ(result.status.code, 0) << result.errors;
    const json scores = json_of(file_);
    EXPECT_GT(of_kind(scores, "random")["candidates_costed"], 40) << "no policy, so the config's";
    return of_kind(scores, "policy")["candidates_costed"].get<int>();
  };
  EXPECT_LE(costed({}), 40);
  EXPECT_GT(costed({"--set", "workload.horizon=12"}), 40);
  const auto preset = folder_.path() / "job.toml";
  write_file_atomic(preset, std::string_view("[workload]\nhorizon = 100\n"));
  EXPECT_GT(costed({"--config", preset.string()}), 40) << "its default, but it says so";
}

// Rules at all of their sites: baselines have them by the config, a policy by its training.
TEST_F(Evaluate, APolicyHasTheActionsOfItsTraining) {
  const std::string hash = env::make_synthetic_rules(1).hash().hex();
  using env::ActionMode;
  const auto scores_of = [&](ActionMode trained, ActionMode set) {
    return evaluate({"--policy", policy(nn::Head::pointer, hash, {.horizon = 12}, trained).string(),
                     "--untrained", "--searches", "policy,portfolio", "--expansions", "20", "--episodes", "5",
                     "--set", "workload.action_mode=" + std::string(enum_name(set))});
  };
  const json plain = scores_of(ActionMode::one_site, ActionMode::one_site);
  const json all = scores_of(ActionMode::all_sites, ActionMode::all_sites);
  const json crossed = scores_of(ActionMode::all_sites, ActionMode::one_site);
  for (const char* kind : {"random", "untrained", "policy"})
    EXPECT_NE(of_kind(plain, kind)["returns"], of_kind(all, kind)["returns"]) << kind;
  EXPECT_EQ(of_kind(crossed, "random")["returns"], of_kind(plain, "random")["returns"]);
  EXPECT_EQ(of_kind(crossed, "policy")["returns"], of_kind(all, "policy")["returns"]);
  EXPECT_EQ(of_kind(crossed, "policy-search")["returns"], of_kind(all, "policy-search")["returns"]);
  const json search = of_kind(plain, "policy-search");
  EXPECT_EQ(search["costed_in_training"], 77);
  EXPECT_EQ(search["amortised_at_best"], 77 + search["costed_at_best"].get<int>());
  EXPECT_EQ(of_kind(plain, "untrained-policy-search")["costed_in_training"], 0);
  EXPECT_TRUE(of_kind(all, "policy-search")["amortised_at_best"].is_null()) << "not one candidate a step";
  record_ = R"({"steps": 77, "candidates": 990})";
  EXPECT_EQ(
      of_kind(scores_of(ActionMode::all_sites, ActionMode::all_sites), "policy-search")["costed_in_training"],
      990);
  // Five Relus opened in one step are five rewrites.
  EXPECT_GT(of_kind(all, "random")["candidates_costed"].get<int>(),
            of_kind(plain, "random")["candidates_costed"].get<int>());
}

TEST_F(Evaluate, WhatCannotBeEvaluatedIsRefused) {
  const auto errors = [this](std::vector<std::string> arguments, int code) {
    arguments.insert(arguments.begin(), {"evaluate", "--json", file_.string()});
    const Captured result = run(arguments);
    EXPECT_EQ(result.status.code, code) << result.errors;
    return result.errors;
  };
  EXPECT_THAT(errors({}, 2), HasSubstr("--models"));
  EXPECT_THAT(errors({"--models", kModel, "--searches", "gredy"}, 2), HasSubstr("gredy"));
  EXPECT_THAT(errors({"--models", "synthetic:4:9:1:0"}, 1), HasSubstr("locked"));
  EXPECT_THAT(errors({"--models", "missing.onnx"}, 1), HasSubstr("missing.onnx"));
  const auto other = policy(nn::Head::hierarchical, "of other rules");
  EXPECT_THAT(errors({"--models", kModel, "--policy", other.string()}, 1), HasSubstr("of other rules"));
  resize_file(other, file_size(other) / 2);
  EXPECT_THAT(errors({"--models", kModel, "--policy", other.string()}, 1), HasSubstr(other.string()));
  EXPECT_FALSE(exists(file_));
}

}  // namespace
}
