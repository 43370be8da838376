#include "core/wire/awake_clock.h"

#include <atomic>

#include "core/wire/run_fixture.h"
#include "support/manual_clock.h"

// Clocks that jump, of an actor and of a learner: neither takes that for the other's silence.

namespace regraft::wire {
namespace {

using namespace testing_support;

TEST(AwakeClock, GoesOnWithEachLookAndNoFurtherThanALimit) {
  ManualClock clock;
  clock.advance_ns(1000);
  AwakeClock awake(clock);
  EXPECT_EQ(awake.steady_ns(), 1000);
  clock.advance_ns(5000);
  EXPECT_EQ(awake.steady_ns(), 1000);
  awake.look();
  EXPECT_EQ(awake.steady_ns(), 6000);
  clock.advance_ns(3600 * nanoseconds_per_second);
  awake.look();
  awake.look();
  EXPECT_EQ(awake.steady_ns(), 6000 + AwakeClock::kMostNs);
}

TEST(ClockJump, ALearnersIsNoSilenceOfItsActors) {
  TestRun run;
  run.work_left = 1;
  Hub& hub = run.start();
  const SystemClock own;
  Link link(run.actor("a"), own);
  const auto ticket = link.next_ticket(kLong);
  ASSERT_TRUE(ticket);
  run.jump(1h);
  int turns = 0;  // at least, of the hub
  ASSERT_TRUE(hub.wait_for([&](const HubStatus&) { return ++turns > 5; }, kLong));
  link.send(*ticket, {}, payload(1, 1, 64));
  const auto delivery = hub.take(kLong);
  ASSERT_TRUE(delivery);
  EXPECT_EQ(hub.decide(delivery->ticket, Verdict::kAdmitted), Verdict::kAdmitted);
  const auto ack = link.next_ack(kLong);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->verdict, Verdict::kAdmitted);
  hub.stop();
  EXPECT_EQ(run.ledger().ticket_counts().total().lost, 0u);
}

TEST(ClockJump, AnActorsDoesNotEndItsSearch) {
  TestRun run;
  run.start();
  std::atomic<int> looks = 0;
  LinkOptions options = run.actor("a");
  options.locate = [&looks, locate = options.locate] {
    ++looks;
    return locate();
  };
  JumpingClock own;
  Link link(options, own);
  const auto looks_again = [&] {
    return comes_to_hold([&, before = looks.load()] { return looks > before + 1; });
  };
  run.end();
  ASSERT_TRUE(looks_again());
  own.jump(1h);
  ASSERT_TRUE(looks_again());
  run.start();
  std::optional<Ticket> ticket;
  do ticket = link.next_ticket(kLong);
  while (ticket && ticket->generation == 1);
  EXPECT_TRUE(ticket);
}

}  // namespace
}
