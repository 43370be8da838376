#include "learner/ppo/episode_statistics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace regraft::learner {
namespace {

Episode episode(std::uint32_t model, float episode_return, float best) {
  Episode made;
  made.ticket.model = model;
  made.segments.resize(1);
  made.segments.back().weight_version = 3;
  made.segments.back().episode_return = episode_return;
  made.segments.back().final_cost_ratio = 1 - episode_return;
  made.segments.back().best_cost_ratio = best;
  return made;
}

TEST(EpisodeStatistics, MeansAreOverTheWindowAndBestsOverAll) {
  EpisodeStatistics statistics({"a", "b"}, 2);
  EXPECT_EQ(statistics.mean_return(), 0);
  EXPECT_EQ(statistics.best_cost_ratio(0), 1);
  const std::vector<Episode> batch{episode(0, 0.5F, 0.25F), episode(1, 0.125F, 0.75F),
                                   episode(0, 0.25F, 0.5F)};
  statistics.add(batch, 4);
  EXPECT_DOUBLE_EQ(statistics.mean_return(), (0.125 + 0.25) / 2);
  EXPECT_DOUBLE_EQ(statistics.best_cost_ratio(0), 0.25);
  EXPECT_DOUBLE_EQ(statistics.best_cost_ratio(1), 0.75);
}

TEST(EpisodeStatistics, GoOnAfterBeingSaved) {
  EpisodeStatistics before({"a", "b"}, 3), after({"a", "b"}, 3);
  const std::vector<Episode> first{episode(0, 0.5F, 0.5F), episode(1, 0.25F, 0.75F), episode(1, 0.0F, 1.0F)};
  const std::vector<Episode> second{episode(0, 0.125F, 0.875F)};
  before.add(first, 4);
  after.restore(nlohmann::json::parse(before.save().dump()));
  before.add(second, 5);
  after.add(second, 5);
  EXPECT_DOUBLE_EQ(after.mean_return(), before.mean_return());
  for (const std::size_t model : {0, 1})
    EXPECT_DOUBLE_EQ(after.best_cost_ratio(model), before.best_cost_ratio(model));
}

}  // namespace
}
