#include "replay/dream/dream_segment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

#include "core/base/rng.h"
#include "replay/rollout/replay_error.h"
#include "replay/rollout/trajectory.h"

namespace regraft::replay {
namespace {

constexpr std::uint64_t kSeed = 2203;

DreamSegment random_segment(Rng& rng) {
  DreamSegment segment;
  segment.ticket = rng.next();
  segment.generation = 3;
  segment.weight_version = rng.below(100);
  segment.model = 2;
  segment.seed = rng.next();
  segment.episode = static_cast<std::uint32_t>(rng.below(64));
  segment.source = rng.below(2) == 0 ? DreamSource::dreamed : DreamSource::real;
  segment.episode_return = static_cast<float>(rng.normal());
  const std::size_t state = 1 + rng.below(40), steps = 1 + rng.below(kMaxDreamedSteps);
  const auto random_state = [&] {
    std::vector<float> values(state);
    for (float& value : values) value = static_cast<float>(rng.normal());
    return values;
  };
  for (std::size_t i = 0; i < steps; ++i) {
    DreamedStep step;
    step.state = random_state();
    for (std::uint16_t rule = 0; rule < 300; ++rule)
      if (rule == 299 || rng.below(10) == 0) step.legal.push_back(rule);
    step.rule = step.legal[rng.below(step.legal.size())];
    step.count = static_cast<std::uint16_t>(1 + rng.below(200));
    step.location = static_cast<std::uint16_t>(rng.below(step.count));
    step.log_rule = static_cast<float>(-rng.uniform());
    step.log_location = static_cast<float>(-rng.uniform());
    step.reward = static_cast<float>(rng.normal());
    segment.steps.push_back(step);
  }
  segment.steps.back().terminated = rng.below(2) == 0;
  if (!segment.steps.back().terminated) segment.next_state = random_state();
  return segment;
}

DreamSegment decode(const std::vector<Bytes>& frames) {
  std::vector<std::span<const std::byte>> views(frames.begin(), frames.end());
  return decode_dream_segment(views);
}

TEST(DreamSegment, ComesBackBitForBit) {
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed, "dream segments");
  for (int round = 0; round < 50; ++round) {
    const DreamSegment segment = random_segment(rng);
    const DreamSegment back = decode(encode_dream_segment(segment));
    EXPECT_EQ(back.steps, segment.steps);
    EXPECT_EQ(back.next_state, segment.next_state);
    EXPECT_EQ(back.source, segment.source);
    EXPECT_EQ(back.episode_return, segment.episode_return);
    EXPECT_EQ(
        std::tie(back.ticket, back.generation, back.weight_version, back.model, back.seed, back.episode),
        std::tie(segment.ticket, segment.generation, segment.weight_version, segment.model, segment.seed,
                 segment.episode));
  }
}

TEST(DreamSegment, DamagedBytesAreRefusedOrMeanAWholeSegment) {
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed, "damage");
  for (int round = 0; round < 2000; ++round) {
    std::vector<Bytes> frames = encode_dream_segment(random_segment(rng));
    Bytes& frame = frames[rng.below(2)];
    if (rng.below(3) == 0)
      frame.resize(rng.below(frame.size()));
    else
      frame[rng.below(frame.size())] ^= static_cast<std::byte>(1 + rng.below(255));
    try {
      encode_dream_segment(decode(frames));
    } catch (const ReplayError&) {
    }
  }
}

TEST(DreamSegment, ContradictionsAreRefused) {
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed, "contradictions");
  const std::vector<std::function<void(DreamSegment&)>> wrongs{
      [](DreamSegment& s) { s.steps.clear(); },
      [](DreamSegment& s) { s.steps.front().legal.clear(); },
      [](DreamSegment& s) { s.steps.front().legal.push_back(s.steps.front().legal.back()); },
      [](DreamSegment& s) { s.steps.front().rule = 301; },
      [](DreamSegment& s) { s.steps.front().location = s.steps.front().count; },
      [](DreamSegment& s) { s.steps.front().log_rule = 0.5f; },
      [](DreamSegment& s) { s.steps.back().reward = std::numeric_limits<float>::quiet_NaN(); },
      [](DreamSegment& s) { s.steps.back().state[0] = std::numeric_limits<float>::infinity(); },
      [](DreamSegment& s) {
        s.steps.back().state.pop_back();
        s.steps.push_back(s.steps.front());
      },
      [](DreamSegment& s) { s.next_state.assign(s.steps.back().terminated ? 1 : 0, 0.0f); },
  };
  for (const auto& wrong : wrongs) {
    DreamSegment segment = random_segment(rng);
    wrong(segment);
    EXPECT_THROW(encode_dream_segment(segment), ReplayError) << &wrong - wrongs.data();
  }
}

/// The largest episode of a size: every step has every rule legal, or such as take most bytes, no end.
std::size_t largest_episode_bytes(const DreamedEpisodeSize& size, std::uint32_t gap) {
  std::size_t bytes = 0;
  for (std::uint32_t from = 0; from < size.horizon; from += kMaxDreamedSteps) {
    DreamSegment segment;
    for (std::uint32_t at = from; at < std::min<std::uint32_t>(from + kMaxDreamedSteps, size.horizon); ++at) {
      DreamedStep step;
      step.state.assign(size.state, 0.5f);
      for (std::uint32_t rule = 1; rule <= size.rules && rule * gap <= 65535; ++rule)
        step.legal.push_back(static_cast<std::uint16_t>(rule * gap));
      step.rule = step.legal.back();
      step.location = 65534;
      step.count = 65535;
      segment.steps.push_back(std::move(step));
    }
    segment.next_state.assign(size.state, 0.5f);
    for (const Bytes& frame : encode_dream_segment(segment)) bytes += frame.size();
  }
  return bytes;
}

TEST(DreamSegment, TheEpisodesOfATicketFitItWhateverIsPlayed) {
  const auto size_of = [](std::uint32_t horizon, std::size_t state, std::uint32_t rules) {
    return DreamedEpisodeSize{.horizon = horizon, .state = state, .rules = rules};
  };
  for (const DreamedEpisodeSize& size : {size_of(1, 1, 2), size_of(100, 288, 243), size_of(33, 1, 1000),
                                         size_of(2000, 26, 150), size_of(100, 10, 60000)}) {
    SCOPED_TRACE(std::to_string(size.horizon) + " steps");
    const std::size_t episodes = episodes_of_a_ticket(size);
    const std::size_t segments = (size.horizon + kMaxDreamedSteps - 1) / kMaxDreamedSteps;
    std::size_t largest = 0;
    for (const std::uint32_t gap : {1u, 127u, 128u, 130u, 16384u})
      largest = std::max(largest, largest_episode_bytes(size, gap));
    EXPECT_LE(episodes * largest, kMaxTicketBytes);
    EXPECT_LE(episodes * segments, kMaxDreamSegments);
    EXPECT_GT(2 * (episodes + 1) * std::max(largest, kMaxTicketBytes / kMaxDreamSegments * segments),
              kMaxTicketBytes)
        << "no more than half of a ticket is left empty";
  }
  EXPECT_EQ(episodes_of_a_ticket(size_of(1 << 20, 288, 243)), 0u);
}

}  // namespace
}
