#include "learner/ppo/load_meter.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace regraft::learner {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000, kStart = 5 * kSecond;
constexpr std::uint64_t kMillisecond = 1'000'000;

/// A job whose actors each play an episode of 10 steps every 400 ms, from a moment of its own on, and take
/// 2 ms of CPU time a step, which they tell once a second; the learner takes 1 ms.
class PlayedJob {
 public:
  PlayedJob(int actors, bool one_process, bool replayed = false)
      : actors_(actors), one_process_(one_process), meter_(replayed) {}

  /// For so many seconds, with a look every 100 ms.
  nlohmann::json run(int seconds) {
    for (std::int64_t ms = 0; ms <= 1000 * seconds; ++ms) {
      const std::int64_t now_ns = kStart + ms * static_cast<std::int64_t>(kMillisecond);
      if (ms % 100 == 0) look(now_ns, ms);
      for (int i = 0; i < actors_; ++i)
        if ((ms + 37 * i) % 400 == 399) deliver(i, now_ns);
    }
    nlohmann::json figures = meter_.figures();
    figures["simulated_step_ms"] = 0;
    return figures;
  }

 private:
  void deliver(int actor, std::int64_t now_ns) {
    wire::Delivery delivery;
    delivery.actor.name = std::to_string(actor);
    delivery.parts.resize(2);
    meter_.deliver(delivery, 10, now_ns);
    intake_.steps += 10;
  }
  void look(std::int64_t now_ns, std::int64_t ms) {
    const std::uint64_t processes = one_process_ ? 1 : static_cast<std::uint64_t>(actors_);
    std::vector<wire::ActorStatus> actors(static_cast<std::size_t>(actors_));
    for (std::size_t i = 0; i < actors.size(); ++i) {
      actors[i].info.name = std::to_string(i);
      actors[i].info.pid = one_process_ ? 1 : 1 + i;
      const std::uint64_t told_s = static_cast<std::uint64_t>(ms) / 1000;
      actors[i].process_cpu_ns = (7 + told_s * 50 * actors.size() / processes) * kMillisecond;
    }
    const std::uint64_t learner_ns = static_cast<std::uint64_t>(ms) * 25 * actors.size() * 1000;
    meter_.look({now_ns, learner_ns, {{1, learner_ns / 4}, {2, learner_ns / 2}}, {}, intake_}, actors);
  }

  const int actors_;
  const bool one_process_;
  LoadMeter meter_;
  IntakeCounts intake_;
};

TEST(LoadMeter, FindsRateAndCpuTimeOfActorsAndLearner) {
  for (const int actors : {1, 3, 64}) {
    for (const bool one_process : {false, true}) {
      SCOPED_TRACE(actors);
      const nlohmann::json figures = PlayedJob(actors, one_process).run(10);
      EXPECT_NEAR(figures.at("steps_per_s"), 25 * actors, 1e-6);
      EXPECT_NEAR(figures.at("actor_cpu_us_per_step"), 2000, 1e-6);
      EXPECT_NEAR(figures.at("learner_cpu_us_per_step"), 1000, 1e-6);
      EXPECT_NEAR(figures.at("busiest_thread_us_per_step"), 500, 1e-6);
      EXPECT_NEAR(figures.at("seconds"), 10, 1e-6);
      EXPECT_NEAR(figures.at("segments_per_s"), 5 * actors, 0.2 * actors + 1e-6);
      EXPECT_EQ(figures.at("connections"), actors);
      EXPECT_EQ(figures.at("actor_processes"), one_process ? 1 : actors);
    }
  }
}

TEST(LoadMeter, CountsAllStepsOfWhatIsReplayed) {
  EXPECT_NEAR(PlayedJob(2, true, true).run(10).at("steps_per_s"), 50, 2);
}

nlohmann::json load(double connections, double steps_per_s, double cpu_us, double busiest_us, double ms = 0) {
  return {{"connections", connections},
          {"steps_per_s", steps_per_s},
          {"processors", 2},
          {"cpu_us_per_step", cpu_us},
          {"actor_cpu_us_per_step", cpu_us / 2},
          {"busiest_thread_us_per_step", busiest_us},
          {"simulated_step_ms", ms}};
}

nlohmann::json compared(nlohmann::json figures, const nlohmann::json& baseline) {
  compare_loads(figures, baseline);
  return figures;
}

TEST(LoadMeter, ComparesWithTheBaseline) {
  const nlohmann::json found = compared(load(4, 300, 1100, 10), load(1, 100, 1000, 10));
  EXPECT_DOUBLE_EQ(found.at("efficiency"), 0.75);
  EXPECT_NEAR(found.at("cpu_inflation"), 0.1, 1e-12);
  EXPECT_NEAR(found.at("actor_cpu_inflation"), 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(found.at("predicted_steps_per_s"), 400);
}

TEST(LoadMeter, PredictsTheLimitOfProcessorsOrOfTheBusiestThread) {
  EXPECT_DOUBLE_EQ(compared(load(64, 300, 1, 1), load(1, 100, 1000, 10)).at("predicted_steps_per_s"), 2000);
  EXPECT_DOUBLE_EQ(compared(load(64, 300, 1, 1), load(1, 100, 1000, 800)).at("predicted_steps_per_s"), 1250);
  EXPECT_DOUBLE_EQ(compared(load(64, 300, 1, 1, 20), load(1, 100, 1000, 800)).at("predicted_steps_per_s"),
                   6400);
}

}  // namespace
}
