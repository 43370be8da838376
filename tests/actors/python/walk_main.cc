// A random walk of the C++ environment, for comparison with the Python module's: actors_python_walk MODEL
// SEED EPISODES HORIZON. A line for each observation: the SHA-256 of each of its arrays. A line for each step
// before it: rule, location, reward, terminated, truncated, latency (numbers with a fraction in hexadecimal,
// which is exact).
#include <cstdio>
#include <cstdlib>
#include <span>

#include "core/base/rng.h"
#include "core/base/sha256.h"
#include "support/model_world.h"

namespace regraft {
namespace {

template <typename Vector>
void print_digest(const char* name, const Vector& values) {
  std::printf(" %s %s", name, sha256_hex(std::as_bytes(std::span(values))).c_str());
}

void print_observation(const env::Observation& seen) {
  std::printf("observation");
  print_digest("nodes", seen.node_features);
  print_digest("edges", seen.edge_features);
  print_digest("senders", seen.senders);
  print_digest("receivers", seen.receivers);
  print_digest("kinds", seen.node_kinds);
  print_digest("node_ids", seen.node_ids);
  print_digest("globals", seen.globals);
  print_digest("rules", seen.candidate_rules);
  print_digest("locations", seen.candidate_locations);
  print_digest("offsets", seen.candidate_offsets);
  print_digest("matched", seen.candidate_nodes);
  print_digest("location_counts", seen.location_counts);
  std::printf("\n");
}

void walk(env::Environment& environment, Rng& rng) {
  print_observation(environment.reset());
  while (!environment.done()) {
    const env::Observation& seen = environment.observation();
    const std::size_t row = rng.below(seen.candidate_count());  // NO-OP now and then
    const env::Action action{seen.candidate_rules[row], seen.candidate_locations[row]};
    const env::StepResult result = environment.step(action);
    std::printf("step %u %u %a %d %d %a\n", action.rule, action.location, result.reward, result.terminated,
                result.truncated, result.info.after.latency_us);
    print_observation(environment.observation());
  }
}

}  // namespace
}

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: actors_python_walk MODEL SEED EPISODES HORIZON\n");
    return 2;
  }
  try {
    const regraft::testing::ModelWorld world(argv[1]);
    regraft::Rng rng(std::strtoull(argv[2], nullptr, 10), "walk");
    regraft::env::EnvOptions options;
    options.horizon = static_cast<std::uint32_t>(std::strtoul(argv[4], nullptr, 10));
    regraft::env::Environment environment = world.make(options);
    for (long episode = std::strtol(argv[3], nullptr, 10); episode > 0; --episode)
      regraft::walk(environment, rng);
    return 0;
  } catch (const regraft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
