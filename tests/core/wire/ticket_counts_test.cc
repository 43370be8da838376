#include "core/wire/ticket_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regraft::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Ten tickets, all accounted for, two of them outstanding.
TicketCounts balanced(std::uint64_t generation) {
  return {.generation = generation,
          .issued = 10,
          .admitted = 4,
          .stale = 1,
          .rejected = 1,
          .dropped = 1,
          .lost = 1,
          .outstanding = 2,
          .retained = 3,
          .rolled_back = 1,
          .late = 5,
          .duplicates = 6};
}

TEST(TicketCounts, EachEquationThatDoesNotHoldIsALine) {
  EXPECT_THAT(balanced(1).check(), IsEmpty()) << "late results and duplicates count nowhere";
  TicketCounts counts = balanced(3);
  counts.stale += 1;
  EXPECT_THAT(counts.check(), ElementsAre("generation 3: issued 10, accounted for 11"));
  counts.retained = 0;
  EXPECT_THAT(counts.check(), ElementsAre("generation 3: issued 10, accounted for 11",
                                          "generation 3: admitted 4, retained 0, rolled back 1"));
}

TEST(TicketCounts, TheTotalSumsAllButTheGeneration) {
  const JobTicketCounts job{{balanced(1), balanced(2)}};
  TicketCounts twice = balanced(2);
  twice += balanced(1);
  EXPECT_EQ(job.total(), twice);
  EXPECT_EQ(twice.generation, 2u);
  EXPECT_EQ(twice.issued, 20u);
  EXPECT_EQ(twice.duplicates, 12u);
  EXPECT_EQ(JobTicketCounts{}.total(), TicketCounts{});
}

TEST(TicketCounts, OnlyTheLastGenerationHasTicketsOutstanding) {
  JobTicketCounts job{{balanced(1), balanced(2)}};
  EXPECT_THAT(job.check(), ElementsAre("generation 1 has ended with tickets outstanding"));
  EXPECT_THAT(job.table(), HasSubstr("DO NOT BALANCE: generation 1 has ended"));
  job.generations[0].lost += job.generations[0].outstanding;
  job.generations[0].outstanding = 0;
  EXPECT_THAT(job.check(), IsEmpty());
  EXPECT_THAT(job.table(), HasSubstr("\nall "));
  EXPECT_THAT(job.table(), HasSubstr("the ticket counts balance\n"));
  job.generations.pop_back();
  EXPECT_THAT(job.table(), Not(HasSubstr("\nall "))) << "one generation is its own total";
}

}  // namespace
}
