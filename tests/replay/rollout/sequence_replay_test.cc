#include "replay/rollout/sequence_replay.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "replay/rollout/replay_error.h"

namespace regraft::replay {
namespace {

constexpr std::uint64_t kSeed = 712;

Rollout rollout_of(std::uint64_t sequence, std::size_t steps) {
  Rollout rollout;
  rollout.seed = sequence * 7;
  rollout.sequence = sequence;
  for (std::size_t i = 0; i < steps; ++i)
    rollout.steps.push_back(
        {static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(sequence % 100), 0.5f});
  return rollout;
}

TEST(DrawSequences, EveryStepLiesWhereItsPlaceSaysAndNowhereElse) {
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed, "draw sequences");
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint32_t> lengths(1 + rng.below(9));
    for (auto& length : lengths) length = static_cast<std::uint32_t>(1 + rng.below(12));
    const auto time = static_cast<std::uint32_t>(1 + rng.below(10));
    const auto lanes = static_cast<std::uint32_t>(1 + rng.below(5));
    const bool packed = round % 3 != 0;
    const SequenceBatch batch = draw_sequences(lengths, time, lanes, packed, rng);
    std::vector<float> valid(std::size_t{time} * lanes, 0), starts = valid;
    for (const SequencePlace& place : batch.places) {
      EXPECT_EQ(place.length, std::min(lengths[place.episode], time)) << "whole, or cut at its end";
      ASSERT_LE(place.time + place.length, time);
      ASSERT_LT(place.lane, lanes);
      starts[batch.at(place.time, place.lane)] += 1;
      for (std::uint32_t t = 0; t < place.length; ++t) valid[batch.at(place.time + t, place.lane)] += 1;
    }
    if (!packed) {
      EXPECT_EQ(batch.places.size(), lanes) << "one episode a lane";
    }
    EXPECT_EQ(batch.valid, valid) << "no step lies on another";
    EXPECT_EQ(batch.starts, starts);
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      EXPECT_EQ(batch.starts[batch.at(0, lane)], 1) << "a lane begins with an episode";
  }
}

TEST(DrawSequences, EpisodesAreDrawnAlikeAndByTheStreamAlone) {
  const std::vector<std::uint32_t> lengths{1, 4, 8};
  Rng rng(kSeed, "fair"), twin(kSeed, "fair");
  std::map<std::size_t, int> drawn;
  int all = 0;
  for (int round = 0; round < 400; ++round) {
    const SequenceBatch batch = draw_sequences(lengths, 64, 4, true, rng);
    EXPECT_EQ(batch.places, draw_sequences(lengths, 64, 4, true, twin).places);
    for (const SequencePlace& place : batch.places) ++drawn[place.episode], ++all;
  }
  for (std::size_t episode = 0; episode < 3; ++episode) EXPECT_NEAR(drawn[episode], all / 3.0, all * 0.02);
}

TEST(SequenceReplay, ForgetsTheOldestBeyondItsBytes) {
  const std::size_t each = encode_rollout(rollout_of(50, 10)).size();
  SequenceReplay replay({.memory_bytes = 5 * each + each / 2, .spill = {}});
  for (std::uint64_t i = 10; i < 60; ++i) {
    replay.add(rollout_of(i, 10));
    EXPECT_LE(replay.memory_bytes(), 5 * each + each / 2);
  }
  ASSERT_EQ(replay.size(), 5u);
  EXPECT_EQ(replay.steps(), 50u);
  EXPECT_EQ(replay.forgotten(), 45u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(replay.at(i), rollout_of(55 + i, 10));
}

TEST(SequenceReplay, SpillsToDiskAndReadsBackWhatIsHeld) {
  const TempDir folder;
  const std::size_t each = encode_rollout(rollout_of(50, 10)).size();
  SequenceReplay replay(
      {.memory_bytes = 3 * each, .spill = folder.path() / "spill", .disk_bytes = 20 * each});
  for (std::uint64_t i = 10; i < 60; ++i) replay.add(rollout_of(i, 10));
  EXPECT_LE(replay.memory_bytes(), 3 * each);
  EXPECT_LE(replay.disk_bytes(), 20 * each);
  ASSERT_EQ(replay.size(), 23u);
  EXPECT_EQ(replay.forgotten(), 27u);
  for (std::size_t i = 0; i < replay.size(); ++i) EXPECT_EQ(replay.at(i), rollout_of(37 + i, 10));
}

TEST(SequenceReplay, ForgottenDiskSpaceIsGivenBack) {
  const TempDir folder;
  SequenceReplay replay({.memory_bytes = 1 << 16, .spill = folder.path() / "spill", .disk_bytes = 1 << 20});
  for (std::uint64_t i = 0; i < 3000; ++i) replay.add(rollout_of(i, 500));
  for (std::size_t i = 0; i < replay.size(); ++i)
    ASSERT_EQ(replay.at(i), rollout_of(3000 - replay.size() + i, 500));
  EXPECT_LE(replay.disk_bytes(), std::size_t{1} << 20);
}

TEST(SequenceReplay, ComesBackFromACheckpointAndOrdersByTicket) {
  SCOPED_TRACE(kSeed);
  const TempDir folder;
  Rng rng(kSeed, "replay order");
  std::vector<std::uint64_t> sequences(40);
  std::iota(sequences.begin(), sequences.end(), 0);
  for (std::size_t i = sequences.size(); i > 1; --i) std::swap(sequences[i - 1], sequences[rng.below(i)]);
  SequenceReplay replay({.memory_bytes = 1024, .spill = folder.path() / "spill"});
  for (const std::uint64_t sequence : sequences) replay.add(rollout_of(sequence, 1 + sequence % 7));
  SequenceReplay twin({.memory_bytes = 1 << 20, .spill = {}});
  twin.restore(replay.save());
  ASSERT_EQ(twin.size(), 40u);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(twin.at(i), replay.at(i));
  for (SequenceReplay* one : {&replay, &twin}) {
    one->sort_by_sequence();
    for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(one->at(i).sequence, i);
  }
  EXPECT_EQ(replay.steps(), twin.steps());
  EXPECT_EQ(twin.lengths()[6], 7u);
  Bytes damaged = replay.save();
  damaged.pop_back();
  EXPECT_THROW(twin.restore(damaged), ReplayError);
}

}  // namespace
}
