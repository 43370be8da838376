#include "learner/job/ticket_plan.h"

#include <gtest/gtest.h>

namespace regraft::learner {
namespace {

TEST(TicketPlan, NothingIsHandedOutBeforeTheWeightsItNeedsArePublished) {
  for (const bool deterministic : {false, true}) {
    TicketPlan plan({.deterministic = deterministic, .episodes_per_update = 2});
    EXPECT_FALSE(plan.next(0));
    for (int i = 0; i < 2; ++i) {
      const auto ticket = plan.next(1);
      ASSERT_TRUE(ticket);
      EXPECT_EQ(ticket->weight_version, 1u);
    }
    EXPECT_EQ(plan.next(1).has_value(), !deterministic) << "the third belongs to the second update";
  }
}

TEST(TicketPlan, WorkWithoutWeightsNeedsNone) {
  TicketPlan plan({.weights = false});
  const auto ticket = plan.next(0);
  ASSERT_TRUE(ticket);
  EXPECT_EQ(ticket->weight_version, 0u);
}

TEST(TicketPlan, ModelsTakeTurnsAndSeedsDependOnThePositionAlone) {
  TicketPlan plan({.seed = 5, .models = 3});
  std::vector<std::uint64_t> seeds;
  for (std::uint32_t i = 0; i < 7; ++i) {
    const auto ticket = plan.next(1);
    EXPECT_EQ(ticket->model, i % 3);
    EXPECT_EQ(ticket->sequence, i);
    seeds.push_back(ticket->seed);
  }
  plan.move_to(2);
  EXPECT_EQ(plan.next(1)->seed, seeds[2]);
  EXPECT_NE(seeds[2], seeds[3]);
}

TEST(TicketPlan, GoesOnWhereItWasOrWithTheWholeInterruptedUpdate) {
  for (const bool deterministic : {false, true}) {
    TicketPlan plan({.deterministic = deterministic, .episodes_per_update = 4});
    plan.resume(2, 9);
    EXPECT_EQ(plan.position(), deterministic ? 8u : 9u);
  }
}

}  // namespace
}
