#include "launch/evaluate/environment_speed.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/file.h"
#include "core/base/resource_usage.h"
#include "core/base/rng.h"

namespace regraft::launch {
namespace {

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(to_ns - from_ns) / static_cast<double>(nanoseconds_per_second);
}

void take_step(env::Environment& environment, Rng& rng, EnvironmentSpeed& speed) {
  const std::size_t legal = environment.observation().candidate_count() - 1;
  const env::StepSeconds spent = environment.step_candidate(legal == 0 ? 0 : rng.below(legal)).info.seconds;
  speed.parts.apply += spent.apply;
  speed.parts.cost += spent.cost;
  speed.parts.match += spent.match;
  speed.parts.observe += spent.observe;
  speed.nodes += static_cast<double>(environment.observation().node_count());
  speed.candidates += static_cast<double>(environment.observation().candidate_count());
}

/// The resident set of this process now: its peak would hide what grows below what the import took.
std::uint64_t resident_bytes() {
  std::istringstream pages(read_file("/proc/self/statm"));
  std::uint64_t size = 0, resident = 0;
  pages >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

MemorySample sample_memory(const graph::Tables& tables, std::uint64_t steps) {
  return {steps, resident_bytes(), tables.signature_count(), tables.symbol_count(), tables.weights().size()};
}

nlohmann::json to_json(const MemorySample& sample) {
  return {{"steps", sample.steps},
          {"rss_bytes", sample.rss_bytes},
          {"signatures", sample.signatures},
          {"symbols", sample.symbols},
          {"constants", sample.constants}};
}

double share(double part, const EnvironmentSpeed& speed) {
  return speed.seconds > 0 ? part / speed.seconds : 0;
}

}  // namespace

EnvironmentSpeed measure_environment(env::Environment& environment, std::uint64_t steps, std::uint64_t seed,
                                     const Clock& clock) {
  EnvironmentSpeed speed;
  speed.steps = steps;
  speed.seed = seed;
  speed.rules = environment.rules().size();
  speed.initial_cost_us = environment.initial_cost().latency_us;
  Rng rng(seed, "bench environment");
  environment.reset(seed);
  constexpr std::uint64_t kSamples = 10;
  const double cpu_start = cpu_seconds();
  const std::int64_t start = clock.steady_ns();
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (environment.done()) {
      const std::int64_t before = clock.steady_ns();
      environment.reset(seed + ++speed.episodes);
      speed.reset_seconds += seconds_between(before, clock.steady_ns());
    }
    take_step(environment, rng, speed);
    if ((step + 1) * kSamples / steps == step * kSamples / steps) continue;
    speed.memory.push_back(sample_memory(environment.graph().tables(), step + 1));
  }
  speed.seconds = seconds_between(start, clock.steady_ns());
  speed.cpu_seconds = cpu_seconds() - cpu_start;
  const auto count = static_cast<double>(steps);
  speed.steps_per_second = speed.seconds > 0 ? count / speed.seconds : 0;
  speed.steps_per_cpu_second = speed.cpu_seconds > 0 ? count / speed.cpu_seconds : 0;
  speed.nodes /= count;
  speed.candidates /= count;
  speed.peak_rss_bytes = peak_rss_bytes();
  speed.rss_growth_bytes = static_cast<std::int64_t>(speed.memory.back().rss_bytes) -
                           static_cast<std::int64_t>(speed.memory.front().rss_bytes);
  return speed;
}

std::string describe(const EnvironmentSpeed& speed) {
  constexpr double kMegabyte = 1e6;
  std::ostringstream out;
  out.precision(4);
  out << speed.model << ": " << speed.steps_per_second << " steps/s (" << speed.steps_per_cpu_second
      << " by CPU time), " << speed.steps << " steps, " << speed.rules << " rules, " << speed.nodes
      << " nodes, " << speed.candidates << " candidates\n";
  const auto row = [&](const char* name, double part) {
    out << "  " << name << "  " << 100 * share(part, speed) << " %\n";
  };
  row("apply  ", speed.parts.apply);
  row("cost   ", speed.parts.cost);
  row("match  ", speed.parts.match);
  row("observe", speed.parts.observe);
  row("reset  ", speed.reset_seconds);
  out << "  memory   " << static_cast<double>(speed.peak_rss_bytes) / kMegabyte << " MB at most, "
      << static_cast<double>(speed.rss_growth_bytes) / kMegabyte
      << " MB more after the last tenth of the steps than after the first\n";
  for (const MemorySample& sample : speed.memory) {
    out << "    " << sample.steps << " steps: " << static_cast<double>(sample.rss_bytes) / kMegabyte
        << " MB, " << sample.signatures << " signatures, " << sample.symbols << " symbols, "
        << sample.constants << " constants\n";
  }
  return out.str();
}

nlohmann::json to_json(const EnvironmentSpeed& speed) {
  nlohmann::json memory = nlohmann::json::array();
  for (const MemorySample& sample : speed.memory) memory.push_back(to_json(sample));
  return {{"model", speed.model},
          {"steps", speed.steps},
          {"episodes", speed.episodes},
          {"seed", speed.seed},
          {"rules", speed.rules},
          {"seconds", speed.seconds},
          {"cpu_seconds", speed.cpu_seconds},
          {"steps_per_second", speed.steps_per_second},
          {"steps_per_cpu_second", speed.steps_per_cpu_second},
          {"nodes", speed.nodes},
          {"candidates", speed.candidates},
          {"shares",
           {{"apply", share(speed.parts.apply, speed)},
            {"cost", share(speed.parts.cost, speed)},
            {"match", share(speed.parts.match, speed)},
            {"observe", share(speed.parts.observe, speed)},
            {"reset", share(speed.reset_seconds, speed)}}},
          {"peak_rss_bytes", speed.peak_rss_bytes},
          {"rss_growth_bytes", speed.rss_growth_bytes},
          {"initial_cost_us", speed.initial_cost_us},
          {"memory", memory}};
}

}
