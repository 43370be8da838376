#include "core/exec/latency/settings_search.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const std::vector<SessionSetting> kTable{
    {"level", {"all", "basic"}}, {"mode", {"sequential", "parallel"}}, {"off", {"A", "B", "C"}, true}};

/// Sessions of 10 ms, times a factor for each setting's value, with noise of 0.5 %.
class KnownSettings : public Launcher {
 public:
  explicit KnownSettings(std::map<std::string, double> factors) : factors_(std::move(factors)) {}

  Measurement measure(const MeasureRequest& request) override {
    ++sessions;
    double ms = 10 * std::exp(0.005 * rng_.normal());
    const std::string asked = describe(request.settings);
    seen.insert(asked);
    for (const auto& [part, factor] : factors_)
      if (asked.find(part) != std::string::npos) ms *= factor;
    if (ms <= 0) throw ExecError("there is no kernel for it", "m", "");
    return {0.01, std::vector<double>(static_cast<std::size_t>(request.plan.min_runs), ms), ms / 1e3, 0};
  }

  int sessions = 0;
  std::set<std::string> seen;

 private:
  std::map<std::string, double> factors_;
  Rng rng_{7, "known settings"};
};

FoundSettings find(
    KnownSettings& launcher, const SessionSettings& start = {},
    const std::function<bool(const SessionSettings&)>& holds = [](auto&) { return true; },
    double budget_s = 60) {
  TrialOptions trials;
  trials.budget_s = budget_s;
  return find_settings(launcher, "m", {kTable, start, trials, holds});
}

TEST(FindSettings, TakesAllThatGain) {
  KnownSettings launcher({{"level=basic", 0.9}, {"mode=parallel", 1.3}, {"A", 0.95}, {"C", 0.8}});
  const FoundSettings found = find(launcher);
  EXPECT_THAT(found.settings, UnorderedElementsAre(Pair("level", "basic"), Pair("off", "A;C")));
  EXPECT_EQ(found.known, 5u);
  EXPECT_EQ(found.tried, 5u);
}

TEST(FindSettings, KeepsTheDefaultsWhereNothingGains) {
  KnownSettings launcher({{"level=basic", 1.1}, {"A", 1.0}, {"mode=parallel", 0.998}});
  EXPECT_THAT(find(launcher).settings, IsEmpty());
}

TEST(FindSettings, WhatGainsAloneMayNotGainBesideABetterOne) {
  KnownSettings launcher({{"level=basic", 0.8}, {"mode=parallel", 0.9}, {"level=basic, mode=parallel", 1.5}});
  EXPECT_THAT(find(launcher).settings, ElementsAre(Pair("level", "basic")));
}

TEST(FindSettings, LeavesOutWhatChangesTheModel) {
  KnownSettings launcher({{"level=basic", 0.8}, {"mode=parallel", 0.9}});
  const auto found =
      find(launcher, {}, [](const SessionSettings& settings) { return !settings.contains("level"); });
  EXPECT_THAT(found.settings, ElementsAre(Pair("mode", "parallel")));
}

TEST(FindSettings, StartsWhereItIsToldAndMayGoBack) {
  KnownSettings launcher({{"level=basic", 1.2}, {"A", 0.9}});
  const FoundSettings found = find(launcher, {{"level", "basic"}, {"off", "A"}, {"other", "1"}});
  EXPECT_THAT(found.settings, UnorderedElementsAre(Pair("off", "A"), Pair("other", "1")));
  EXPECT_THAT(launcher.seen, Contains("off=A, other=1"));
}

TEST(FindSettings, ASettingThatCannotBeRunHasLost) {
  KnownSettings launcher({{"level=basic", 0}, {"mode=parallel", 0.9}});
  EXPECT_THAT(find(launcher).settings, ElementsAre(Pair("mode", "parallel")));
}

TEST(FindSettings, TriesTheFirstOfTheTableWhereTimeIsShort) {
  KnownSettings launcher({{"level=basic", 0.9}, {"C", 0.5}});
  const FoundSettings found = find(
      launcher, {}, [](auto&) { return true; }, 6);
  EXPECT_LT(found.tried, found.known);
  EXPECT_GT(found.tried, 0u);
  EXPECT_THAT(found.settings, ElementsAre(Pair("level", "basic")));
  KnownSettings none({{"level=basic", 0.9}});
  EXPECT_THAT(find(
                  none, {}, [](auto&) { return true; }, 0.1)
                  .settings,
              IsEmpty());
  EXPECT_EQ(none.sessions, 1) << "the probe";
}

}  // namespace
}
