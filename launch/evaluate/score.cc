#include "launch/evaluate/score.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/clock.h"
#include "core/base/stats.h"
#include "launch/evaluate/script_method.h"

namespace regraft::launch {
namespace {

double deviation(const std::vector<double>& values) {
  const double center = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - center) * (value - center);
  return values.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(values.size() - 1));
}

}  // namespace

Score play(const task::Task& task, const task::WorkloadOptions& workload, search::Prior& prior, bool draw,
           int episodes, std::uint64_t seed, const std::string& kind, const std::string& method) {
  const SystemClock clock;
  env::Environment environment = task::make_environment(task, workload, clock);
  Score score{task.name(), kind, method, {}, {}, {}, 0, 0};
  const std::int64_t start = clock.steady_ns();
  for (int episode = 0; episode < episodes; ++episode) {
    Rng rng(seed, "evaluate episode " + std::to_string(episode));
    environment.reset();
    search::History history;
    while (!environment.done()) {
      const std::vector<float> logs = search::ask(prior, environment.observation(), history);
      std::size_t candidate =
          static_cast<std::size_t>(std::max_element(logs.begin(), logs.end()) - logs.begin());
      double left = rng.uniform();
      for (std::size_t i = 0; draw && i < logs.size(); ++i) {
        if (std::isfinite(logs[i])) candidate = i;
        left -= std::exp(static_cast<double>(logs[i]));
        if (left < 0) break;
      }
      const env::Observation& seen = environment.observation();
      history.action = {seen.candidate_rules[candidate], seen.candidate_locations[candidate]};
      score.candidates_costed += environment.step_candidate(candidate).info.rewrites;
    }
    const double initial = environment.initial_cost().latency_us;
    score.returns.push_back(1 - environment.cost().latency_us / initial);
    score.best.push_back(1 - environment.best().cost.latency_us / initial);
    score.memory.push_back(environment.cost().peak_memory_bytes /
                           environment.initial_cost().peak_memory_bytes);
  }
  score.seconds = static_cast<double>(clock.steady_ns() - start) / nanoseconds_per_second;
  return score;
}

Score play_bundle(const task::Task& task, const task::WorkloadOptions& workload,
                  const nn::WorldBundle& bundle, nn::ActionSelection selection, int episodes,
                  std::uint64_t seed, const std::string& kind, const std::string& method) {
  const SystemClock clock;
  env::Environment environment = task::make_environment(task, workload, clock);
  const std::int64_t start = clock.steady_ns();
  replay::ControllerEpisodes played = replay::play_controller(bundle, environment, selection, episodes, seed);
  return {task.name(),
          kind,
          method,
          std::move(played.returns),
          std::move(played.best),
          std::move(played.memory),
          played.costed,
          static_cast<double>(clock.steady_ns() - start) / nanoseconds_per_second};
}

std::optional<Score> play_script(const std::filesystem::path& path, const task::Task& task) {
  const SystemClock clock;
  const std::int64_t start = clock.steady_ns();
  const auto outcome = try_script(path, task);
  if (!outcome) return std::nullopt;
  const double initial_us = outcome->initial.latency_us;
  return Score{task.name(),
               "script",
               "script " + path.stem().string(),
               {1 - outcome->last.latency_us / initial_us},
               {1 - outcome->best_us / initial_us},
               {outcome->last.peak_memory_bytes / outcome->initial.peak_memory_bytes},
               outcome->rewrites,
               static_cast<double>(clock.steady_ns() - start) / nanoseconds_per_second};
}

void print(const Score& score) {
  std::printf("%-24s %-34s %8zu %10.4f %8.4f %10.4f %12llu %8.2f\n", score.model.c_str(),
              score.method.c_str(), score.returns.size(), mean(score.returns), deviation(score.returns),
              *std::max_element(score.best.begin(), score.best.end()),
              static_cast<unsigned long long>(score.candidates_costed), score.seconds);
  std::fflush(stdout);
}

nlohmann::json to_json(const Score& score) {
  nlohmann::json entry{{"model", score.model},     {"kind", score.kind},
                       {"method", score.method},   {"returns", score.returns},
                       {"best", score.best},       {"memory", score.memory},
                       {"seconds", score.seconds}, {"candidates_costed", score.candidates_costed}};
  if (score.search.is_object()) entry.update(score.search);
  return entry;
}

}
