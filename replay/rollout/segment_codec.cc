#include "replay/rollout/segment_codec.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "replay/rollout/observation_rows.h"

namespace regraft::replay {
namespace {

constexpr std::uint32_t kMagic = 0x47535247;  // "GRSG"
constexpr std::uint32_t kVersion = 4;

bool read_flag(ByteReader& in) {
  const auto flag = in.value<std::uint8_t>();
  if (flag > 1) throw ReplayError("holds a flag that is neither 0 nor 1", "segment", "");
  return flag == 1;
}

Segment decode_scalars(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  if (in.value<std::uint32_t>() != kMagic) throw ReplayError("is no segment", "segment", "");
  const auto version = in.value<std::uint32_t>();
  if (version != kVersion)
    throw ReplayError("has format " + std::to_string(version), "segment",
                      "run actors and learner of one version");
  if (const auto schema = in.value<std::uint32_t>(); schema != env::kObservationSchema)
    throw ReplayError("has observation schema " + std::to_string(schema), "segment",
                      "run actors and learner of one version");
  Segment segment;
  segment.ticket = in.value<std::uint64_t>();
  segment.generation = in.value<std::uint64_t>();
  segment.weight_version = in.value<std::uint64_t>();
  segment.hierarchical = read_flag(in);
  segment.model = in.value<std::uint32_t>();
  segment.seed = in.value<std::uint64_t>();
  segment.bootstrap_value = in.value<float>();
  segment.episode_return = in.value<float>();
  segment.final_cost_ratio = in.value<float>();
  segment.best_cost_ratio = in.value<float>();
  segment.episode_costed = in.value<std::uint32_t>();
  if (read_flag(in)) segment.next_observation.emplace();
  const std::uint64_t steps = in.varint();
  if (steps == 0 || steps > kMaxSegmentSteps)
    throw ReplayError("has " + std::to_string(steps) + " steps", "segment", "");
  segment.steps.resize(steps);
  for (Step& step : segment.steps) {
    step.candidate = in.value<std::uint32_t>();
    step.log_probability = in.value<float>();
    if (segment.hierarchical) step.location_log_probability = in.value<float>();
    step.value = in.value<float>();
    step.reward = in.value<float>();
    step.terminated = read_flag(in);
  }
  in.finish();
  if (segment.next_observation && segment.steps.back().terminated)
    throw ReplayError("tells what follows its episode's end", "segment", "");
  return segment;
}

bool is_finite(float value) {
  return std::isfinite(value);
}

/// One NaN from one actor would end up in every weight.
void require_finite(const env::Observation& o) {
  if (!std::ranges::all_of(o.node_features, is_finite) || !std::ranges::all_of(o.edge_features, is_finite) ||
      !std::ranges::all_of(o.globals, is_finite))
    throw ReplayError("holds a number that is not finite", "segment", "");
}

void require_finite(const Step& step) {
  if (!is_finite(step.log_probability) || !is_finite(step.location_log_probability) ||
      !is_finite(step.value) || !is_finite(step.reward))
    throw ReplayError("holds a number that is not finite", "segment", "");
  require_finite(step.observation);
}

}  // namespace

Bytes encode_scalars(const Segment& segment) {
  Bytes bytes;
  ByteWriter out(bytes);
  out.value(kMagic);
  out.value(kVersion);
  out.value(env::kObservationSchema);
  out.value(segment.ticket);
  out.value(segment.generation);
  out.value(segment.weight_version);
  out.value(std::uint8_t{segment.hierarchical});
  out.value(segment.model);
  out.value(segment.seed);
  out.value(segment.bootstrap_value);
  out.value(segment.episode_return);
  out.value(segment.final_cost_ratio);
  out.value(segment.best_cost_ratio);
  out.value(segment.episode_costed);
  out.value(std::uint8_t{segment.next_observation.has_value()});
  out.varint(segment.steps.size());
  for (const Step& step : segment.steps) {
    out.value(step.candidate);
    out.value(step.log_probability);
    if (segment.hierarchical) out.value(step.location_log_probability);
    out.value(step.value);
    out.value(step.reward);
    out.value(std::uint8_t{step.terminated});
  }
  return bytes;
}

std::vector<Bytes> encode_segment(const Segment& segment) {
  if (segment.steps.empty() || segment.steps.size() > kMaxSegmentSteps)
    throw ReplayError("has " + std::to_string(segment.steps.size()) + " steps", "segment", "");
  std::vector<Bytes> frames(2);
  frames[0] = encode_scalars(segment);
  ByteWriter out(frames[1]);
  ObservationRows before, after;
  const auto write = [&](const env::Observation& observation) {
    to_rows(observation, after);
    write_observation(before, after, out);
    std::swap(before, after);
  };
  for (const Step& step : segment.steps) write(step.observation);
  if (segment.next_observation) write(*segment.next_observation);
  return frames;
}

Segment decode_segment(std::span<const std::span<const std::byte>> frames, const CodecLimits& limits) {
  if (frames.size() != 2)
    throw ReplayError("has " + std::to_string(frames.size()) + " frames", "segment", "");
  Segment segment = decode_scalars(frames[0]);
  ByteReader in(frames[1]);
  ObservationRows before;
  for (Step& step : segment.steps) {
    before = read_observation(before, in, limits);
    step.observation = from_rows(before);
    if (step.candidate >= step.observation.candidate_count())
      throw ReplayError("chose a candidate that is not there", "segment", "");
    require_finite(step);
    if (!chose_location(step) && step.location_log_probability != 0)
      throw ReplayError("gives NO-OP the probability of a location", "segment", "");
  }
  if (segment.next_observation) {
    before = read_observation(before, in, limits);
    segment.next_observation = from_rows(before);
    require_finite(*segment.next_observation);
  }
  if (!is_finite(segment.bootstrap_value))
    throw ReplayError("holds a number that is not finite", "segment", "");
  in.finish();
  return segment;
}

}
