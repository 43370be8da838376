#include "learner/ppo/best_episodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/base/rng.h"
#include "replay/rollout/random_observation.h"
#include "replay/rollout/replay_error.h"

namespace regraft::learner {
namespace {

using testing::ElementsAre;

/// An episode of `steps` steps, two a segment.
Episode episode(std::uint32_t model, float episode_return, std::size_t steps, bool terminated = true) {
  static Rng rng(1, "best episodes");
  static std::uint64_t place = 0;
  Episode result;
  result.ticket.sequence = place++;
  result.ticket.id = rng.below(1000);
  result.ticket.generation = 1;
  result.ticket.model = model;
  for (std::size_t done = 0; done < steps;) {
    replay::Segment segment;
    segment.ticket = result.ticket.id;
    segment.generation = 1;
    segment.weight_version = 1;
    segment.model = model;
    segment.episode_return = episode_return;
    segment.final_cost_ratio = segment.best_cost_ratio = 1;
    for (std::size_t i = 0; i < 2 && done < steps; ++i, ++done) {
      replay::Step& step = segment.steps.emplace_back();
      step.observation = replay::testing::observation_on({1, 4, 5}, 3, rng);
      step.log_probability = -1;
      step.terminated = terminated && done + 1 == steps;
    }
    result.segments.push_back(std::move(segment));
  }
  return result;
}

/// Return and number of steps of each, in order.
std::vector<std::pair<float, std::size_t>> content(const BestEpisodes& best) {
  std::vector<std::pair<float, std::size_t>> all;
  std::uint64_t last = 0;
  Rng rng(1, "none is needed for all");
  for (const replay::Segment& segment : best.draw(best.size(), rng)) {
    if (all.empty() || segment.ticket != last) all.emplace_back(segment.episode_return, 0);
    all.back().second += segment.steps.size();
    last = segment.ticket;
  }
  return all;
}

TEST(BestEpisodes, WhoIssuedTheTicketsOfTheEpisodesChangesNoBit) {
  const Episode first = episode(0, 1, 5);
  Episode again = first;
  again.ticket.id += 7;
  again.ticket.generation = 2;
  for (replay::Segment& segment : again.segments) {
    segment.ticket = again.ticket.id;
    segment.generation = 2;
  }
  BestEpisodes one(2), other(2);
  one.look(first);
  other.look(again);
  EXPECT_EQ(one.save() == other.save(), true);
  EXPECT_THAT(content(one), ElementsAre(std::pair(1.0F, 5u)));
}

TEST(BestEpisodes, TheBestOfEachModelAreKeptBestFirst) {
  BestEpisodes best(2);
  for (const float value : {0.1F, 0.3F, -0.5F, 0.2F, 0.0F}) best.look(episode(4, value, 3));
  best.look(episode(1, -2, 5));
  EXPECT_EQ(best.size(), 3u);
  EXPECT_THAT(content(best), ElementsAre(std::pair(-2.0F, 5u), std::pair(0.3F, 3u), std::pair(0.2F, 3u)));
}

TEST(BestEpisodes, OfEqualReturnsTheShorterEpisode) {
  BestEpisodes best(2);
  for (const std::size_t steps : {5, 3, 4}) best.look(episode(0, 0.25F, steps));
  EXPECT_THAT(content(best), ElementsAre(std::pair(0.25F, 3u)));
}

// Equality within a tolerance is no equivalence: a checkpoint must not depend on who was looked at first.
TEST(BestEpisodes, WhatIsKeptDiffersAndIsRestoredAsItWas) {
  BestEpisodes best(4), other(4);
  for (const auto& [value, steps] :
       {std::pair(0.3000010F, 6), std::pair(0.3F, 6), std::pair(0.3000005F, 5), std::pair(0.1F, 2)})
    best.look(episode(0, value, static_cast<std::size_t>(steps)));
  EXPECT_THAT(content(best), ElementsAre(std::pair(0.3000005F, 5u), std::pair(0.1F, 2u)));
  other.restore(best.save());
  EXPECT_EQ(other.save(), best.save());
}

TEST(BestEpisodes, WhatDidNotTerminateIsNotKept) {
  BestEpisodes best(2);
  best.look(episode(0, 9, 3, false));
  EXPECT_EQ(best.size(), 0u);
}

TEST(BestEpisodes, OfMoreModelsSomeAreDrawnEachAsOftenAsAnyOther) {
  constexpr std::uint32_t kModels = 12;
  constexpr int kRounds = 3000;
  BestEpisodes best(2);
  for (std::uint32_t model = 0; model < kModels; ++model)
    for (const float value : {0.1F, 0.2F}) best.look(episode(model, value, 3));
  std::vector<int> times(kModels);
  Rng rng(7, "draw models");
  for (int round = 0; round < kRounds; ++round) {
    std::map<std::uint32_t, std::size_t> segments;
    for (const replay::Segment& segment : best.draw(3, rng)) ++segments[segment.model];
    EXPECT_EQ(segments.size(), 3u);
    for (const auto& [model, count] : segments) {
      EXPECT_EQ(count, 4u) << "both of its episodes, of two segments each";
      ++times[model];
    }
  }
  for (const int count : times) EXPECT_NEAR(count, kRounds / 4.0, 120);  // five deviations
}

TEST(BestEpisodes, SurvivesACheckpoint) {
  BestEpisodes best(3), other(3);
  for (const float value : {0.1F, 0.3F, 0.2F}) best.look(episode(2, value, 3));
  best.look(episode(0, 0.5F, 2));
  const auto bytes = best.save();
  other.restore(bytes);
  EXPECT_EQ(other.save(), bytes);
  EXPECT_EQ(content(other), content(best));
  EXPECT_THROW(other.restore(std::span(bytes).first(bytes.size() / 2)), replay::ReplayError);
  EXPECT_EQ(other.save(), bytes);
}

}  // namespace
}
