#include "learner/ppo/batcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regraft::learner {
namespace {

using testing::ElementsAre;

/// Episodes of so many steps each.
std::vector<Episode> episodes(const std::vector<std::size_t>& steps) {
  std::vector<Episode> result;
  for (const std::size_t count : steps) {
    Episode& episode = result.emplace_back();
    episode.segments.emplace_back().steps.resize(count);
    episode.ticket.id = result.size();
  }
  return result;
}

TEST(DrawEpisodes, AllWhereTheShareIsOne) {
  Rng rng(1, "draw");
  EXPECT_THAT(draw_episodes(episodes({3, 1, 2}), 1, rng), ElementsAre(0, 1, 2));
}

TEST(DrawEpisodes, WholeEpisodesUntilTheShareIsReachedEachAsOftenAsAnyOther) {
  const auto batch = episodes(std::vector<std::size_t>(40, 5));
  std::vector<int> times(batch.size());
  Rng rng(2, "draw");
  for (int round = 0; round < 4000; ++round) {
    const auto drawn = draw_episodes(batch, 0.25, rng);
    EXPECT_EQ(drawn.size(), 10u);
    EXPECT_TRUE(std::ranges::is_sorted(drawn));
    for (const std::size_t i : drawn) ++times[i];
  }
  for (const int count : times) EXPECT_NEAR(count, 1000, 150);  // five deviations
}

TEST(DrawEpisodes, ByStepsAndNeverNone) {
  Rng rng(3, "draw");
  const auto batch = episodes({1, 1, 1, 1, 96});
  for (int round = 0; round < 50; ++round) {
    const auto drawn = draw_episodes(batch, 0.5, rng);
    EXPECT_EQ(drawn.back(), 4u) << "half of the steps are not had without the long one";
    EXPECT_EQ(draw_episodes(batch, 0.001, rng).size(), 1u);
  }
}

TEST(DrawEpisodes, TheSameForTheSameStream) {
  const auto batch = episodes({4, 7, 2, 9, 1, 3});
  Rng one(4, "draw"), other(4, "draw");
  EXPECT_EQ(draw_episodes(batch, 0.4, one), draw_episodes(batch, 0.4, other));
}

TEST(Batcher, AnEpisodeIsHandedOutOnce) {
  Batcher batcher({.steps_per_update = 4});
  const auto batch = episodes({3, 2});
  for (const Episode& episode : batch) batcher.add(episode);
  batcher.add(batch.front());
  EXPECT_EQ(batcher.trained_twice(), 1u);
  EXPECT_TRUE(batcher.ready(0));
}

TEST(Batcher, ForgetsTicketsOnceTheirWeightsAreTooOldToBeTrainedOn) {
  constexpr std::uint64_t kStaleness = 2, kEpisodes = 3;
  for (const bool deterministic : {false, true}) {
    Batcher batcher(
        {.steps_per_update = kEpisodes, .deterministic = deterministic, .episodes_per_update = kEpisodes});
    std::uint64_t tickets = 0;
    std::vector<Episode> played;  // one of each update
    for (std::uint64_t update = 0; update < 100; ++update) {
      auto batch = episodes(std::vector<std::size_t>(kEpisodes, 1));
      for (Episode& episode : batch) {
        episode.ticket.sequence = tickets;
        episode.ticket.id = ++tickets;
        episode.segments.front().weight_version = update + 1;
        batcher.add(episode);
      }
      ASSERT_TRUE(batcher.ready(update));
      EXPECT_EQ(batcher.take(update, update + 1, kStaleness).size(), kEpisodes);
      batcher.add(played.emplace_back(batch.back()));
      EXPECT_EQ(batcher.trained_twice(), update + 1);
    }
    batcher.add(played[played.size() - 1 - kStaleness]);
    EXPECT_EQ(batcher.trained_twice(), played.size() + 1) << "the oldest that might be trained on";
    batcher.add(played[played.size() - 2 - kStaleness]);
    EXPECT_EQ(batcher.trained_twice(), played.size() + 1) << "it is forgotten";
  }
}

}  // namespace
}
