// Encoding and decoding of full segments on a graph of 300 nodes in which each step rewrites a few nodes and
// keeps most candidates: segments' steps a second and bytes a step.
#include <benchmark/benchmark.h>

#include "core/nn/synthetic_observation.h"
#include "replay/rollout/segment_codec.h"

namespace regraft::replay {
namespace {

/// The next observation: five nodes and the globals change, every tenth candidate's matched nodes move.
env::Observation edited(env::Observation o, Rng& rng) {
  for (int i = 0; i < 5; ++i) {
    const std::size_t node = rng.below(o.node_count());
    o.node_kinds[node] = static_cast<std::uint16_t>(rng.below(80));
    for (std::size_t k = 0; k < env::kNodeFeatures; ++k)
      o.node_features[node * env::kNodeFeatures + k] = test::feature(rng);
  }
  for (auto& value : o.globals) value = test::feature(rng);
  for (std::size_t i = 0; i < o.candidate_nodes.size(); i += 10) {
    o.candidate_nodes[i] = static_cast<std::int32_t>(rng.below(o.node_count()));
  }
  return o;
}

Segment edited_segment() {
  Rng rng(1, "bench");
  const test::SyntheticSize size{.nodes = 300, .rules = 30, .locations = 16, .kinds = 80};
  Segment segment;
  auto observation = test::synthetic_observation(size, rng);
  for (std::size_t i = 0; i < kMaxSegmentSteps; ++i) {
    Step step;
    step.observation = observation;
    segment.steps.push_back(std::move(step));
    observation = edited(std::move(observation), rng);
  }
  return segment;
}

void encode(benchmark::State& state) {
  const Segment segment = edited_segment();
  std::size_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    for (const auto& frame : encode_segment(segment)) bytes += frame.size();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kMaxSegmentSteps));
  state.counters["bytes_per_step"] = static_cast<double>(bytes) / kMaxSegmentSteps;
}

void decode(benchmark::State& state) {
  const auto frames = encode_segment(edited_segment());
  const std::vector<std::span<const std::byte>> views(frames.begin(), frames.end());
  for (auto _ : state) benchmark::DoNotOptimize(decode_segment(views));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kMaxSegmentSteps));
}

BENCHMARK(encode);
BENCHMARK(decode);

}  // namespace
}
