#include "learner/job/ticket_plan.h"

#include <gtest/gtest.h>

namespace regraft::learner {
namespace {

TEST(TicketPlan, NothingIsHandedOutBeforeTheWeightsItNeedsArePublished) {
  for (const bool deterministic : {false, true}) {
    std::atomic<std::uint64_t> version = 0;
    TicketPlan plan({.deterministic = deterministic, .episodes_per_update = 2}, version);
    EXPECT_FALSE(plan.next());
    version = 1;
    for (int i = 0; i < 2; ++i) {
      const auto ticket = plan.next();
      ASSERT_TRUE(ticket);
      EXPECT_EQ(ticket->weight_version, 1u);
    }
    EXPECT_EQ(plan.next().has_value(), !deterministic) << "the third belongs to the second update";
  }
}

TEST(TicketPlan, WorkWithoutWeightsNeedsNone) {
  const std::atomic<std::uint64_t> version = 0;
  TicketPlan plan({.weights = false}, version);
  const auto ticket = plan.next();
  ASSERT_TRUE(ticket);
  EXPECT_EQ(ticket->weight_version, 0u);
}

TEST(TicketPlan, ModelsTakeTurnsAndSeedsDependOnThePositionAlone) {
  const std::atomic<std::uint64_t> version = 1;
  TicketPlan plan({.seed = 5, .models = 3}, version);
  std::vector<std::uint64_t> seeds;
  for (std::uint32_t i = 0; i < 7; ++i) {
    const auto ticket = plan.next();
    EXPECT_EQ(ticket->model, i % 3);
    EXPECT_EQ(ticket->sequence, i);
    seeds.push_back(ticket->seed);
  }
  plan.move_to(2);
  EXPECT_EQ(plan.next()->seed, seeds[2]);
  EXPECT_NE(seeds[2], seeds[3]);
}

}  // namespace
}  // namespace regraft::learner
