#include "replay/dream/dream_segment.h"

#include <algorithm>
#include <cmath>

#include "replay/rollout/replay_error.h"
#include "replay/rollout/trajectory.h"

namespace regraft::replay {
namespace {

constexpr std::uint32_t kSegmentMagic = 0x47535244;  // "DRSG"
constexpr std::uint32_t kVersion = 1;

void require(bool holds, const char* problem) {
  if (!holds) throw ReplayError(problem, "dream segment", "");
}

void check(const DreamedStep& step, std::size_t state) {
  const auto finite = [](float value) { return std::isfinite(value); };
  require(step.state.size() == state, "its states differ in size");
  require(!step.legal.empty() &&
              std::ranges::adjacent_find(step.legal, std::greater_equal<>()) == step.legal.end(),
          "a mask is empty or not ascending");
  require(std::ranges::binary_search(step.legal, step.rule), "it chose a rule that is not legal");
  require(step.location < step.count, "it chose a location that is not there");
  require(std::ranges::all_of(step.state, finite) && finite(step.reward), "a number is not finite");
  require(finite(step.log_rule) && step.log_rule <= 0 && finite(step.log_location) && step.log_location <= 0,
          "a log-probability is none");
}

void check(const DreamSegment& segment) {
  require(!segment.steps.empty() && segment.steps.size() <= kMaxDreamedSteps, "has too many steps or none");
  const std::size_t state = segment.steps.front().state.size();
  for (const DreamedStep& step : segment.steps) {
    check(step, state);
    require(!step.terminated || &step == &segment.steps.back(), "it goes on after its end");
  }
  require(segment.next_state.size() == (segment.steps.back().terminated ? 0 : state),
          "the state to bootstrap from is missing, or there is one after the end");
  require(std::ranges::all_of(segment.next_state, [](float value) { return std::isfinite(value); }),
          "a number is not finite");
}

void write_step(const DreamedStep& step, ByteWriter& out) {
  out.varint(step.legal.size());
  std::uint64_t before = 0;
  for (const std::uint16_t rule : step.legal) {
    out.varint(rule - before);
    before = rule;
  }
  out.varint(step.rule);
  out.varint(step.location);
  out.varint(step.count);
  out.value(step.log_rule);
  out.value(step.log_location);
  out.value(step.reward);
  out.varint(step.terminated ? 1 : 0);
}

std::uint16_t small(std::uint64_t value) {
  require(value <= 65535, "a number is too large");
  return static_cast<std::uint16_t>(value);
}

DreamedStep read_step(ByteReader& in, const DreamLimits& limits) {
  DreamedStep step;
  const std::size_t legal = in.count();
  require(legal <= limits.rules, "a mask is too large");
  std::uint64_t rule = 0;
  for (std::size_t i = 0; i < legal; ++i) {
    rule += in.varint();
    step.legal.push_back(small(rule));
  }
  step.rule = small(in.varint());
  step.location = small(in.varint());
  step.count = small(in.varint());
  step.log_rule = in.value<float>();
  step.log_location = in.value<float>();
  step.reward = in.value<float>();
  const std::uint64_t terminated = in.varint();
  require(terminated <= 1, "a flag is neither 0 nor 1");
  step.terminated = terminated == 1;
  return step;
}

Bytes encode_states(const DreamSegment& segment) {
  Bytes bytes;
  ByteWriter out(bytes);
  for (const DreamedStep& step : segment.steps) out.raw(std::as_bytes(std::span(step.state)));
  out.raw(std::as_bytes(std::span(segment.next_state)));
  return bytes;
}

std::vector<float> read_state(ByteReader& in, std::size_t size) {
  std::vector<float> state(size);
  const auto bytes = in.raw(size * sizeof(float));
  if (size > 0) std::memcpy(state.data(), bytes.data(), bytes.size());
  return state;
}

}  // namespace

std::uint32_t episodes_of_a_ticket(const DreamedEpisodeSize& size) {
  // A mask is ascending differences: one byte each, except for those of at least 2^7 and 2^14, of which the
  // sum of all allows few.
  constexpr std::size_t kLongDifferences = (1 << 16 >> 7) + (1 << 16 >> 14);
  constexpr std::size_t kVarint = 3;  // bytes of a number below 2^16
  constexpr std::size_t kStepScalars = 5 * kVarint + 3 * sizeof(float);
  constexpr std::size_t kHeader = 128;
  const std::size_t state = size.state * sizeof(float);
  const std::size_t step =
      state + kStepScalars + size.rules + std::min<std::size_t>(size.rules, kLongDifferences);
  const std::size_t segments = (size.horizon + kMaxDreamedSteps - 1) / kMaxDreamedSteps;
  const std::size_t bytes = size.horizon * step + segments * (kHeader + state);
  return static_cast<std::uint32_t>(std::min(kMaxTicketBytes / bytes, kMaxDreamSegments / segments));
}

std::vector<Bytes> encode_dream_segment(const DreamSegment& segment) {
  check(segment);
  std::vector<Bytes> frames(1);
  ByteWriter out(frames[0]);
  out.value(kSegmentMagic);
  out.value(kVersion);
  out.value(segment.ticket);
  out.value(segment.generation);
  out.value(segment.weight_version);
  out.value(segment.model);
  out.value(segment.seed);
  out.value(segment.episode);
  out.value(static_cast<std::uint8_t>(segment.source));
  out.value(segment.episode_return);
  out.value(segment.final_cost_ratio);
  out.value(segment.best_cost_ratio);
  out.varint(segment.steps.front().state.size());
  out.varint(segment.steps.size());
  for (const DreamedStep& step : segment.steps) write_step(step, out);
  frames.push_back(encode_states(segment));
  return frames;
}

DreamSegment decode_dream_segment(std::span<const std::span<const std::byte>> frames,
                                  const DreamLimits& limits) {
  require(frames.size() == 2, "has not two frames");
  ByteReader in(frames[0]);
  require(in.value<std::uint32_t>() == kSegmentMagic, "is no dream segment");
  require(in.value<std::uint32_t>() == kVersion, "has another format: run one version everywhere");
  DreamSegment segment;
  segment.ticket = in.value<std::uint64_t>();
  segment.generation = in.value<std::uint64_t>();
  segment.weight_version = in.value<std::uint64_t>();
  segment.model = in.value<std::uint32_t>();
  segment.seed = in.value<std::uint64_t>();
  segment.episode = in.value<std::uint32_t>();
  const auto source = in.value<std::uint8_t>();
  require(source <= 1, "has an unknown source");
  segment.source = static_cast<DreamSource>(source);
  segment.episode_return = in.value<float>();
  segment.final_cost_ratio = in.value<float>();
  segment.best_cost_ratio = in.value<float>();
  const std::uint64_t state = in.varint(), steps = in.varint();
  require(state <= limits.state, "its states are too large");
  require(steps >= 1 && steps <= kMaxDreamedSteps, "has too many steps or none");
  for (std::uint64_t step = 0; step < steps; ++step) segment.steps.push_back(read_step(in, limits));
  in.finish();
  ByteReader states(frames[1]);
  for (DreamedStep& step : segment.steps) step.state = read_state(states, state);
  if (!segment.steps.back().terminated) segment.next_state = read_state(states, state);
  states.finish();
  check(segment);
  return segment;
}

}
