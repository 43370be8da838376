#include "learner/job/intake.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "learner/job/fake_job.h"

namespace regraft::learner {
namespace {

using namespace std::chrono_literals;
using testing::FakeHub;
using testing::FakeResult;

constexpr std::chrono::milliseconds kLong = 30s;

class IntakeTest : public ::testing::Test {
 protected:
  std::uint64_t seed_of(const std::unique_ptr<TicketResult>& result) {
    return static_cast<const FakeResult&>(*result).seed;
  }
  TempDir dir;
  wire::Ledger ledger{dir.path() / "journal", "run"};
  std::atomic<std::uint64_t> version{1};
  std::uint64_t seed = 0;
  FakeHub hub{ledger, [this](const wire::ActorInfo&) {
                return wire::TicketSpec{.seed = ++seed, .weight_version = 1};
              }};
};

TEST_F(IntakeTest, WithoutAQueueItJudgesWhenAsked) {
  Intake intake(hub, ledger, testing::read_fake, version, {.staleness = 4});
  EXPECT_FALSE(intake.next(0ms));
  for (const std::uint32_t steps : {0u, 7u}) hub.play(steps);
  EXPECT_FALSE(intake.next(0ms)) << "it cannot be read";
  const auto result = intake.next(0ms);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->steps, 7u);
  version = 6;
  hub.play(3, 1);
  hub.play(3, 2);
  EXPECT_FALSE(intake.next(0ms)) << "it lags five updates";
  EXPECT_TRUE(intake.next(0ms)) << "it lags four";
  const IntakeCounts counts = intake.counts();
  EXPECT_EQ(counts.rejected, 1u);
  EXPECT_EQ(counts.stale, 1u);
  EXPECT_EQ(counts.admitted, 2u);
  EXPECT_EQ(counts.steps, 10u);
  EXPECT_EQ(counts.played_steps, 13u) << "of all that could be read";
  EXPECT_EQ(ledger.ticket_counts().total().rejected, 1u);
}

TEST_F(IntakeTest, AResultWithoutWeightsIsNeverStale) {
  version = 100;
  Intake intake(hub, ledger,
                [](const wire::Delivery& delivery) {
                  auto result = testing::read_fake(delivery);
                  result->weight_version.reset();
                  return result;
                },
                version, {.staleness = 0});
  hub.play();
  EXPECT_TRUE(intake.next(0ms));
}

TEST_F(IntakeTest, AFullQueueGivesNoVerdicts) {
  hub.waits = true;
  for (const bool by_steps : {true, false}) {
    Intake intake(hub, ledger, testing::read_fake, version,
                  by_steps ? Intake::Options{.queued_steps = 8} : Intake::Options{.queued_results = 2});
    for (int i = 0; i < 3; ++i) hub.play(4);
    const std::uint64_t first = seed - 2;
    for (std::uint64_t i = 0; i < 3; ++i) {
      EXPECT_GE(ledger.outstanding(), i < 1 ? 1u : 0u) << "the third waits for room";
      const auto result = intake.next(kLong);
      ASSERT_TRUE(result);
      EXPECT_EQ(seed_of(result), first + i);
    }
    EXPECT_EQ(ledger.outstanding(), 0u);
  }
}

TEST_F(IntakeTest, WhatACheckpointHeldComesFirstAndASnapshotHasIt) {
  TicketResults restored;
  restored.push_back(std::make_unique<FakeResult>());
  restored.back()->steps = 5;
  Intake intake(hub, ledger, testing::read_fake, version, {}, std::move(restored));
  std::size_t queued = 0;
  intake.snapshot([&](const wire::JournalMark& mark, auto results) {
    EXPECT_EQ(mark.run_id, "run");
    queued = results.size();
  });
  EXPECT_EQ(queued, 1u);
  EXPECT_EQ(intake.counts().queued_steps, 5u);
  hub.play();
  EXPECT_EQ(intake.next(0ms)->steps, 5u);
  EXPECT_EQ(seed_of(intake.next(0ms)), 1u);
}

TEST_F(IntakeTest, WhatEndsItsThreadIsThrownToWhoWaits) {
  hub.waits = true;
  Intake intake(hub, ledger, testing::read_fake, version, {.queued_steps = 8, .lock_step = true});
  hub.play(0);
  EXPECT_THROW(intake.next(kLong), replay::ReplayError);
}

}  // namespace
}
