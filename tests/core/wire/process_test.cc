#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/wire/child.h"
#include "core/wire/tcp_proxy.h"

// Processes that are killed and stopped for real.

namespace regraft::wire {
namespace {

using namespace testing_support;

TEST(Killed, AnActorIsReplacedByItsNextIncarnationAndTheTicketCountsBalance) {
  TestRun run;
  run.options().dispatch.actor_timeout_ms = 60000;  // it is the new incarnation that tells of the death
  LinkOptions options = run.actor("a", 1);
  Child first([&] {
    Link link(options, run.clock());
    while (const auto ticket = link.next_ticket(kLong)) {
      const bool half = ticket->id > 3;
      link.send(*ticket, {.last = !half}, payload(ticket->seed, 2, 1000));
    }
  });
  options.incarnation = 2;
  Child second([&] {
    Link link(options, run.clock());
    while (const auto ticket = link.next_ticket(kLong))
      link.send(*ticket, {}, payload(ticket->seed, 2, 1000));
  });
  Hub& hub = run.start();
  first.go();
  const auto admit = [&] {
    const auto delivery = hub.take(kLong);
    ASSERT_TRUE(delivery);
    EXPECT_EQ(hub.decide(delivery->ticket, Verdict::kAdmitted), Verdict::kAdmitted);
  };
  for (int i = 0; i < 3; ++i) admit();
  ASSERT_TRUE(
      hub.wait_for([](const HubStatus& s) { return s.actors.size() == 1 && s.outstanding == 2; }, kLong));
  first.kill_now();
  second.go();
  for (int i = 0; i < 5; ++i) admit();
  hub.stop();
  const TicketCounts ticket_counts = run.ledger().ticket_counts().total();
  EXPECT_THAT(run.ledger().ticket_counts().check(), testing::IsEmpty());
  EXPECT_EQ(ticket_counts.lost, 2u);
  EXPECT_EQ(ticket_counts.admitted, 8u);
  EXPECT_EQ(second.join(), 0) << "an actor ends normally when the run does";
}

TEST(Killed, ALearnerComesBackInTheNextGenerationAndNothingIsAdmittedTwice) {
  TestRun run(TestRun::Over::kTcp);
  const LinkOptions options = run.actor("a");
  const fs::path report = run.folder() / "ticket_counts";
  const auto learn = [&](int admissions) {
    Hub& hub = run.start();
    for (int i = 0; i < admissions; ++i) {
      const auto delivery = hub.take(kLong);
      if (!delivery) _exit(1);
      hub.decide(delivery->ticket, Verdict::kAdmitted);
    }
    write_file_atomic(run.folder() / ("admitted-" + std::to_string(run.ledger().generation())),
                      std::string_view(""));
    // What comes now is taken, but gets no verdict before the kill.
    while (run.ledger().generation() == 1) hub.take(kLong);
    hub.stop();
    write_file_atomic(report, run.ledger().ticket_counts().table());
  };
  Child first([&] { learn(5); });
  Child second([&] { learn(7); });
  first.go();
  std::size_t admitted = 0, late = 0;
  {
    Link link(options, run.clock());
    const auto count_acks = [&] {
      while (const auto ack = link.next_ack(0ms)) {
        admitted += ack->verdict == Verdict::kAdmitted ? 1 : 0;
        late += ack->verdict == Verdict::kLate ? 1 : 0;
      }
    };
    const auto step = [&] {
      if (const auto ticket = link.next_ticket(10ms)) link.send(*ticket, {}, payload(ticket->seed, 2, 1000));
      count_acks();
    };
    while (!fs::exists(run.folder() / "admitted-1") || admitted < 5) step();
    first.kill_now();
    second.go();
    EXPECT_EQ(error_of([&] {
                while (true) step();
              }).fault(),
              WireFault::kClosed);
    EXPECT_EQ(error_of(count_acks).fault(), WireFault::kClosed) << "after the acknowledgements that had come";
  }
  EXPECT_EQ(second.join(), 0);
  ASSERT_TRUE(comes_to_hold([&] { return fs::exists(report); }));
  const std::string table = read_file(report);
  EXPECT_THAT(table, testing::HasSubstr("the ticket counts balance"));
  EXPECT_EQ(admitted, 12u) << table;
  EXPECT_GT(late, 0u) << "what the killed learner had without a verdict\n" << table;

  const Ledger ledger(run.journal(), "run");
  EXPECT_EQ(ledger.ticket_counts().generations.at(0).admitted, 5u);
  EXPECT_EQ(ledger.ticket_counts().generations.at(1).admitted, 7u);
  EXPECT_THAT(ledger.ticket_counts().check(), testing::IsEmpty());
}

TEST(Stopped, ALearnerForLongerThanSilenceMayLastLosesNothing) {
  TestRun run(TestRun::Over::kTcp);
  const std::uint16_t port = bind_known_port(run.options());
  run.options().dispatch.actor_timeout_ms = 2000;
  Child learner([&] {
    Hub& hub = run.start();
    for (int i = 0; i < 2; ++i) {
      const auto delivery = hub.take(2 * kLong);
      if (!delivery) _exit(1);
      hub.decide(delivery->ticket, Verdict::kAdmitted);
    }
    // An acknowledgement goes astray where the actor looks for the learner anew: it is to find it.
    if (!comes_to_hold([&] { return fs::exists(run.folder() / "flushed"); })) _exit(2);
    hub.stop();
  });
  LinkOptions options = through_proxy(run.actor("a"));
  options.silence_timeout_ms = 400;
  Proxies proxies(port);
  learner.go();
  Link link(options, run.clock());
  const auto first = link.next_ticket(kLong), second = link.next_ticket(kLong);
  ASSERT_TRUE(first && second);
  kill(learner.pid(), SIGSTOP);
  link.send(*first, {}, payload(first->seed, 2, 1000));
  EXPECT_TRUE(proxies.results.wait_for_connections(proxies.results.connections() + 7))
      << "one each 400 ms: the actor was silent for too long";
  kill(learner.pid(), SIGCONT);
  link.send(*second, {}, payload(second->seed, 2, 1000));
  EXPECT_TRUE(link.flush(kLong));
  write_file_atomic(run.folder() / "flushed", std::string_view(""));
  EXPECT_EQ(learner.join(), 0);
  const Ledger ledger(run.journal(), "run");
  EXPECT_EQ(ledger.ticket_counts().generations.at(0).admitted, 2u) << ledger.ticket_counts().table();
  EXPECT_THAT(ledger.ticket_counts().check(), testing::IsEmpty());
}

}  // namespace
}
