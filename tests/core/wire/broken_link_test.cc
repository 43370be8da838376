#include <gmock/gmock.h>

#include <future>
#include <set>

#include "core/wire/tcp_proxy.h"

// Links that are cut, held up and half closed: nothing is admitted twice, what is admitted is acknowledged as
// such, and the ticket counts balance.

namespace regraft::wire {
namespace {

using namespace testing_support;
using To = TcpProxy::To;

class BrokenLink : public testing::TestWithParam<TestRun::Over> {
 protected:
  BrokenLink() : run_(GetParam()), port_(bind_known_port(run_.options())), proxies_(port_) {
    run_.options().dispatch.actor_timeout_ms = 60000;
    run_.options().dispatch.max_tickets_per_actor = 2;
  }

  LinkOptions actor() { return through_proxy(run_.actor("a")); }
  void admit(std::size_t results) {
    for (std::size_t i = 0; i < results; ++i) {
      const auto delivery = run_.hub().take(kLong);
      ASSERT_TRUE(delivery);
      EXPECT_EQ(delivery->parts.size(), 2u);
      ASSERT_EQ(run_.hub().decide(delivery->ticket, Verdict::kAdmitted), Verdict::kAdmitted);
      EXPECT_TRUE(admitted_.insert(delivery->ticket.id).second) << "admitted twice";
    }
  }
  static void play(Link& link, const Ticket& ticket) {
    link.send(ticket, {.last = false}, payload(ticket.seed, 3, 1000));
    link.send(ticket, {}, payload(ticket.seed, 1, 1000));
  }
  TicketCounts balanced() {
    EXPECT_THAT(run_.ledger().ticket_counts().check(), testing::IsEmpty())
        << run_.ledger().ticket_counts().table();
    return run_.ledger().ticket_counts().total();
  }

  TestRun run_;
  const std::uint16_t port_;
  Proxies proxies_;
  std::set<std::uint64_t> admitted_;
};

TEST_P(BrokenLink, WhereverItIsCutWhatIsAdmittedIsAcknowledgedOnce) {
  Hub& hub = run_.start();
  Link link(actor(), run_.clock());
  std::vector<std::uint64_t> acknowledged;
  const auto count_acks = [&](std::chrono::milliseconds wait) {
    while (const auto ack = link.next_ack(wait))
      if (ack->verdict == Verdict::kAdmitted) acknowledged.push_back(ack->ticket);
  };
  std::atomic<bool> over = false;
  std::jthread playing([&] {
    while (!over) {
      if (const auto ticket = link.next_ticket(10ms)) play(link, *ticket);
      count_acks(0ms);
    }
  });
  ASSERT_NO_FATAL_FAILURE(admit(2));
  for (const std::size_t bytes : {1, 30, 100, 300, 1000, 3000})
    for (const To to : TcpProxy::kBoth) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes, way " << to);
      proxies_.results.cut_after(to, bytes);
      while (!proxies_.results.was_cut(to)) ASSERT_NO_FATAL_FAILURE(admit(1));
      ASSERT_NO_FATAL_FAILURE(admit(3));
    }
  run_.work_left = 0;
  EXPECT_TRUE(hub.wait_for(
      [&](const HubStatus& status) {
        admit(status.waiting);
        return status.outstanding == 0;
      },
      kLong));
  over = true;
  playing.join();
  EXPECT_TRUE(link.flush(kLong));
  count_acks(0ms);
  hub.stop();
  EXPECT_EQ(balanced().admitted, admitted_.size());
  EXPECT_THAT(acknowledged, testing::UnorderedElementsAreArray(admitted_));
  EXPECT_GE(proxies_.results.connections(), 13u);
}

TEST_P(BrokenLink, AResultThatIsHeldUpForLongerThanSilenceMayLastIsAdmittedOnce) {
  run_.work_left = 1;
  Hub& hub = run_.start();
  LinkOptions options = actor();
  options.silence_timeout_ms = 500;
  Link link(options, run_.clock());
  const auto ticket = link.next_ticket(kLong);
  ASSERT_TRUE(ticket);
  const std::size_t before = proxies_.results.connections();
  for (const To to : TcpProxy::kBoth) proxies_.results.hold(to);
  play(link, *ticket);
  ASSERT_TRUE(proxies_.results.wait_for_connections(before + 2)) << "the learner is looked for anew";
  for (const To to : TcpProxy::kBoth) proxies_.results.let_go(to);
  ASSERT_NO_FATAL_FAILURE(admit(1));
  const auto ack = link.next_ack(kLong);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->verdict, Verdict::kAdmitted);
  EXPECT_TRUE(link.flush(kLong));
  hub.stop();
  EXPECT_FALSE(hub.take(0ms));
  EXPECT_EQ(balanced().admitted, 1u);
  EXPECT_EQ(balanced().lost, 0u);
}

TEST_P(BrokenLink, OneThatIsHalfClosedIsLeft) {
  Hub& hub = run_.start();
  Link link(actor(), run_.clock());
  for (const To to : TcpProxy::kBoth) {
    SCOPED_TRACE(to);
    const auto ticket = link.next_ticket(kLong);
    ASSERT_TRUE(ticket);
    const std::size_t before = proxies_.results.connections();
    proxies_.results.half_close(to);
    play(link, *ticket);
    ASSERT_NO_FATAL_FAILURE(admit(1));
    ASSERT_TRUE(proxies_.results.wait_for_connections(before + 1));
    while (const auto ack = link.next_ack(kLong))
      if (ack->ticket == ticket->id) break;
    EXPECT_FALSE(link.wanted(*ticket)) << "its verdict is known";
  }
  hub.stop();
  EXPECT_EQ(balanced().admitted, 2u);
}

TEST_P(BrokenLink, HandshakesThatAreCutAreNoWrongKeyOfALearnerThatWasJoined) {
  run_.work_left = 1;
  Hub& hub = run_.start();
  Link link(actor(), run_.clock());
  const auto ticket = link.next_ticket(kLong);
  ASSERT_TRUE(ticket);
  proxies_.results.hold(To::kToActors);
  for (int i = 0; i < 5; ++i) {
    const std::size_t before = proxies_.results.connections();
    proxies_.results.cut();
    ASSERT_TRUE(proxies_.results.wait_for_connections(before + 1));
  }
  proxies_.results.let_go(To::kToActors);
  play(link, *ticket);
  ASSERT_NO_FATAL_FAILURE(admit(1));
  EXPECT_TRUE(link.flush(kLong));
  hub.stop();
  EXPECT_EQ(balanced().lost, 0u);
}

TEST_P(BrokenLink, AHelloThatIsCutOnItsWayIsSaidAgain) {
  run_.work_left = 1;
  Hub& hub = run_.start();
  LinkOptions options = actor();
  options.silence_timeout_ms = 600000;
  Link link(options, run_.clock());
  const auto ticket = link.next_ticket(kLong);
  ASSERT_TRUE(ticket);
  for (std::size_t bytes = 50; bytes <= 1000; bytes += 50) {  // the handshake comes first
    proxies_.results.cut_after(To::kToLearner, bytes);
    proxies_.results.cut();
    ASSERT_TRUE(comes_to_hold([&] { return proxies_.results.was_cut(To::kToLearner); })) << bytes;
  }
  play(link, *ticket);
  ASSERT_NO_FATAL_FAILURE(admit(1));
  EXPECT_TRUE(link.flush(kLong));
  hub.stop();
  EXPECT_EQ(balanced().lost, 0u);
}

TEST_P(BrokenLink, WeightsThatAreCutOnTheirWayAreAskedForAgain) {
  const std::vector<std::byte> bytes(3'000'000, std::byte{7});
  run_.work_left = 0;
  run_.start().publish(1, bytes);
  Link link(actor(), run_.clock());
  for (const std::size_t many : {10, 300, 500'000, 2'500'000}) {
    proxies_.weights.cut_after(To::kToActors, many);
    EXPECT_EQ(link.fetch(1).bytes, bytes);
    EXPECT_TRUE(proxies_.weights.was_cut(To::kToActors));
  }
  run_.hub().stop();
}

TEST_P(BrokenLink, AFetchEndsWhereAStopIsAskedFor) {
  run_.work_left = 0;
  run_.start().publish(1, std::vector<std::byte>(1000));
  LinkOptions options = actor();
  options.fetch_timeout_ms = 600000;
  std::stop_source stop;
  options.stopped = stop.get_token();
  Link link(options, run_.clock());
  proxies_.weights.hold(To::kToActors);
  auto end = std::async(std::launch::async, [&] { return error_of([&] { link.fetch(1); }); });
  ASSERT_TRUE(proxies_.weights.wait_for_connections(1));
  stop.request_stop();
  EXPECT_EQ(end.get().fault(), WireFault::kClosed);
  run_.end();
  EXPECT_EQ(error_of([&] { link.fetch(1); }).fault(), WireFault::kClosed);
}

TEST_P(BrokenLink, AFetchThatIsHeldUpAmidTheWeightsEndsWhereAStopIsAskedFor) {
  run_.work_left = 0;
  run_.start().publish(1, std::vector<std::byte>(3'000'000));
  LinkOptions options = actor();
  options.fetch_timeout_ms = 600000;
  std::stop_source stop;
  options.stopped = stop.get_token();
  Link link(options, run_.clock());
  proxies_.weights.hold_after(To::kToActors, 1'500'000);
  auto end = std::async(std::launch::async, [&] { return error_of([&] { link.fetch(1); }); });
  ASSERT_TRUE(comes_to_hold([&] { return proxies_.weights.was_cut(To::kToActors); }));
  stop.request_stop();
  EXPECT_EQ(end.wait_for(kLong), std::future_status::ready) << "it waits for the rest";
  proxies_.weights.let_go(To::kToActors);
  EXPECT_EQ(end.get().fault(), WireFault::kClosed);
  run_.hub().stop();
}

TEST_P(BrokenLink, AFetchWaitsForTheLearnerThatComesBack) {
  run_.work_left = 0;
  run_.start().publish(1, std::vector<std::byte>(1000));
  LinkOptions options = actor();
  options.fetch_timeout_ms = 2000;
  Link link(options, run_.clock());
  for (const To to : TcpProxy::kBoth) proxies_.weights.hold(to);
  auto fetched = std::async(std::launch::async, [&] { return link.fetch(1).bytes.size(); });
  ASSERT_TRUE(proxies_.weights.wait_for_connections(1));
  run_.end();
  // One in 50 ms at the most: longer than a learner that is there would have time.
  EXPECT_TRUE(proxies_.results.wait_for_connections(proxies_.results.connections() + 45));
  run_.start().publish(1, std::vector<std::byte>(2000));
  for (const To to : TcpProxy::kBoth) proxies_.weights.let_go(to);
  EXPECT_EQ(fetched.get(), 2000u);
  run_.hub().stop();
}

INSTANTIATE_TEST_SUITE_P(Over, BrokenLink, testing::Values(TestRun::Over::kTcp, TestRun::Over::kPlainTcp),
                         transport_name);

}  // namespace
}
