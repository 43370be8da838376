#include "replay/rollout/segment_codec.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <limits>

#include "core/base/file.h"
#include "replay/rollout/random_observation.h"

namespace regraft::replay {
namespace {

using ::testing::HasSubstr;

Segment random_segment(Rng& rng, std::size_t steps) {
  Segment segment;
  segment.ticket = rng.next();
  segment.generation = 3;
  segment.weight_version = rng.below(100);
  segment.hierarchical = rng.below(2) == 0;
  segment.model = 1;
  segment.seed = rng.next();
  segment.bootstrap_value = static_cast<float>(rng.normal());
  segment.episode_return = 0.25F;
  segment.episode_costed = static_cast<std::uint32_t>(rng.below(5000));
  std::set<std::uint32_t> ids;
  for (std::uint64_t i = 2 + rng.below(40); i > 0; --i)
    ids.insert(static_cast<std::uint32_t>(rng.below(200)));
  for (std::size_t i = 0; i < steps; ++i) {
    Step step;
    step.observation = testing::observation_on(ids, 7, rng);
    step.observation.action_mode = rng.below(2) == 0 ? env::ActionMode::all_sites : env::ActionMode::one_site;
    step.candidate = static_cast<std::uint32_t>(rng.below(step.observation.candidate_count()));
    step.log_probability = static_cast<float>(-rng.uniform());
    if (segment.hierarchical && chose_location(step))
      step.location_log_probability = static_cast<float>(-rng.uniform());
    step.value = static_cast<float>(rng.normal());
    step.reward = static_cast<float>(rng.normal());
    step.terminated = i + 1 == steps && rng.below(2) == 0;
    segment.steps.push_back(std::move(step));
    ids = testing::rewritten(ids, rng);
  }
  if (!segment.steps.back().terminated && rng.below(2) == 0)
    segment.next_observation = testing::observation_on(ids, 7, rng);
  return segment;
}

std::vector<std::span<const std::byte>> views(const std::vector<Bytes>& frames) {
  return {frames.begin(), frames.end()};
}

// The fuzzer's inputs (tests/fuzz/segment_fuzz.cc): two bytes with the size of frame 0, then frames 0 and 1.
TEST(SegmentCodec, SegmentsOfEarlierBuildsAreWrittenAgainToTheByte) {
  for (const char* name : {"nodes1", "nodes4", "nodes12"}) {
    SCOPED_TRACE(name);
    const MappedFile file(std::filesystem::path(REGRAFT_SOURCE_DIR) / "tests/fuzz/segment" / name);
    const auto bytes = file.bytes();
    const std::size_t head =
        std::to_integer<std::size_t>(bytes[0]) + 256 * std::to_integer<std::size_t>(bytes[1]);
    const auto bytes_of = [](std::span<const std::byte> part) { return Bytes(part.begin(), part.end()); };
    const std::vector<Bytes> frames{bytes_of(bytes.subspan(2, head)), bytes_of(bytes.subspan(2 + head))};
    EXPECT_EQ(encode_segment(decode_segment(views(frames))), frames);
  }
}

TEST(SegmentCodec, GivesBackWhatItWasGiven) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "segment codec");
    const Segment segment = random_segment(rng, 1 + rng.below(kMaxSegmentSteps));
    const auto frames = encode_segment(segment);
    const Segment back = decode_segment(views(frames));
    EXPECT_EQ(back.ticket, segment.ticket);
    EXPECT_EQ(back.weight_version, segment.weight_version);
    EXPECT_EQ(back.hierarchical, segment.hierarchical);
    EXPECT_EQ(back.seed, segment.seed);
    EXPECT_EQ(back.bootstrap_value, segment.bootstrap_value);
    EXPECT_EQ(back.episode_return, segment.episode_return);
    EXPECT_EQ(back.episode_costed, segment.episode_costed);
    EXPECT_EQ(back.next_observation, segment.next_observation);
    ASSERT_EQ(back.steps.size(), segment.steps.size());
    for (std::size_t i = 0; i < segment.steps.size(); ++i) {
      EXPECT_EQ(back.steps[i].observation, segment.steps[i].observation);
      EXPECT_EQ(back.steps[i].candidate, segment.steps[i].candidate);
      EXPECT_EQ(back.steps[i].location_log_probability, segment.steps[i].location_log_probability);
      EXPECT_EQ(back.steps[i].log_probability, segment.steps[i].log_probability);
      EXPECT_EQ(back.steps[i].reward, segment.steps[i].reward);
      EXPECT_EQ(back.steps[i].terminated, segment.steps[i].terminated);
    }
  }
}

TEST(SegmentCodec, TruncationIsAlwaysNoticed) {
  Rng rng(1, "segment truncation");
  const auto frames = encode_segment(random_segment(rng, 3));
  for (std::size_t frame = 0; frame < frames.size(); ++frame) {
    for (std::size_t size = 0; size < frames[frame].size(); ++size) {
      auto cut = views(frames);
      cut[frame] = cut[frame].first(size);
      EXPECT_THROW(decode_segment(cut), ReplayError) << "frame " << frame << " cut to " << size;
    }
  }
}

TEST(SegmentCodec, NothingFollowsAnEpisodesEnd) {
  Rng rng(7, "segment end");
  Segment segment = random_segment(rng, 2);
  segment.next_observation = segment.steps.back().observation;
  segment.steps.back().terminated = false;
  EXPECT_NO_THROW(decode_segment(views(encode_segment(segment))));
  segment.next_observation->node_features[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(decode_segment(views(encode_segment(segment))), ReplayError);
  segment.next_observation = segment.steps.back().observation;
  segment.steps.back().terminated = true;
  EXPECT_THROW(decode_segment(views(encode_segment(segment))), ReplayError);
}

TEST(SegmentCodec, NumbersThatAreNotFiniteAreRefused) {
  Rng rng(4, "segment not finite");
  const Segment good = random_segment(rng, 2);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto refused = [](const Segment& segment) {
    const auto frames = encode_segment(segment);
    EXPECT_THROW(decode_segment(views(frames)), ReplayError);
  };
  for (float Step::*field : {&Step::log_probability, &Step::value, &Step::reward}) {
    Segment bad = good;
    bad.steps[1].*field = nan;
    refused(bad);
  }
  Segment bad = good;
  bad.steps[0].observation.node_features[3] = std::numeric_limits<float>::infinity();
  refused(bad);
  bad = good;
  bad.bootstrap_value = nan;
  refused(bad);
  bad = good;
  bad.episode_return = nan;  // NaN before the episode's end, by contract
  EXPECT_NO_THROW(decode_segment(views(encode_segment(bad))));
}

TEST(SegmentCodec, ChangedBytesGiveAnErrorOrAnObservationThatKeepsTheContract) {
  std::size_t errors = 0, accepted = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "segment mutation");
    auto frames = encode_segment(random_segment(rng, 2));
    for (std::uint64_t i = 1 + rng.below(3); i > 0; --i) {
      Bytes& frame = frames[rng.below(2)];
      frame[rng.below(frame.size())] = static_cast<std::byte>(rng.next());
    }
    try {
      const Segment segment = decode_segment(views(frames));
      encode_segment(segment);  // throws where the contract is broken
      ++accepted;
    } catch (const ReplayError&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 100u);
  EXPECT_GT(accepted, 100u);
}

// Inputs that are refused at their first bytes would fuzz nothing else.
TEST(SegmentCodec, TheFuzzersFirstInputsAreSegmentsOfThisFormat) {
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(REGRAFT_SOURCE_DIR) /
                                                               "tests/fuzz/segment")) {
    SCOPED_TRACE(entry.path().string());
    const std::string text = read_file(entry.path());
    const auto bytes = std::as_bytes(std::span(text));
    const std::size_t split =
        std::to_integer<std::size_t>(bytes[0]) + 256 * std::to_integer<std::size_t>(bytes[1]);
    const std::span<const std::byte> frames[] = {bytes.subspan(2, split), bytes.subspan(2 + split)};
    EXPECT_NO_THROW(decode_segment(frames));
    EXPECT_EQ(static_cast<int>(frames[0][4]), 4) << "the format";
    ++read;
  }
  EXPECT_GE(read, 4u);
}

TEST(SegmentCodec, AnUnchangedGraphCostsFewBytesAStep) {
  Rng rng(5, "segment size");
  std::set<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < 300; ++i) ids.insert(i);
  Segment segment;
  Step step;
  step.observation = testing::observation_on(ids, 50, rng);
  segment.steps.assign(2, step);
  const std::size_t two = encode_segment(segment)[1].size();
  segment.steps.assign(32, step);
  const std::size_t many = encode_segment(segment)[1].size();
  EXPECT_LE((many - two) / 30, 64u);
}

TEST(SegmentCodec, ObservationsThatBreakTheContractAreNotEncoded) {
  Rng rng(6, "segment contract");
  const Segment good = random_segment(rng, 1);
  const auto error_of = [&](auto change) -> std::string {
    Segment bad = good;
    change(bad.steps[0].observation);
    try {
      encode_segment(bad);
      return "no error";
    } catch (const ReplayError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(error_of([](env::Observation& o) { o.node_kinds.pop_back(); }), HasSubstr("node arrays"));
  EXPECT_THAT(error_of([](env::Observation& o) { o.senders[0] = 100000; }), HasSubstr("out of range"));
  EXPECT_THAT(error_of([](env::Observation& o) { o.location_counts[0] += 1; }), HasSubstr("location counts"));
  EXPECT_THAT(error_of([](env::Observation& o) { std::swap(o.node_ids[0], o.node_ids[1]); }),
              HasSubstr("ascending"));
}

}  // namespace
}
