#include <gmock/gmock.h>

#include <future>

#include "core/wire/child.h"
#include "core/wire/relay_fixture.h"
#include "core/wire/tcp_proxy.h"

// Relays that are killed or stopped while weights are fetched: from them, and by them.

namespace regraft::wire {
namespace {

using namespace testing_support;

constexpr std::size_t kWeights = 100'000;

struct RelayFetch : testing::Test {
  RelayFetch() { run.weight_version = 1; }

  /// The relay's process, and the next one.
  std::function<void()> work(const RelayOptions& options) {
    return [this, options] { run_relay(options, run.clock(), {}); };
  }
  Hub& start() {
    run.start().publish(1, std::vector<std::byte>(kWeights));
    return run.hub();
  }
  /// Fetches the weights of a ticket and plays another one, which the relay's successor has passed on.
  void expect_that_it_goes_on(Link& link) {
    for (bool admitted = false; !admitted;) {
      const auto ticket = link.next_ticket(kLong);
      ASSERT_TRUE(ticket);
      EXPECT_EQ(link.fetch(1).bytes.size(), kWeights);
      link.send(*ticket, {.weight_version = 1}, payload(ticket->seed, 1, 64));
      const auto ack = link.next_ack(kLong);  // late where the first relay had the ticket
      ASSERT_TRUE(ack);
      admitted = ack->verdict == Verdict::kAdmitted;
    }
    run.hub().stop();
    const JobTicketCounts counts = run.ledger().ticket_counts();
    EXPECT_THAT(counts.check(), testing::IsEmpty()) << counts.table();
    EXPECT_GE(counts.total().lost, 1u) << "what the killed relay held";
  }
  RelayOptions relay_at_proxy(std::uint64_t incarnation) {
    RelayOptions options = relay_options(run, incarnation);
    options.upstream = through_proxy(options.upstream);
    return options;
  }
  std::jthread admitting() {
    return std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested())
        if (const auto delivery = run.hub().take(10ms))
          run.hub().decide(delivery->ticket, Verdict::kAdmitted);
    });
  }

  TestRun run{TestRun::Over::kTcp};
};

TEST_F(RelayFetch, AnActorsGoesOnAtTheNextRelay) {
  RelayOptions first_options = relay_options(run), next_options = relay_options(run, 2);
  const std::uint16_t port = bind_known_port(first_options.hub);
  next_options.hub.bind = first_options.hub.bind;
  Child first(work(first_options)), next(work(next_options));
  start();
  Proxies proxies(port);
  first.go();
  Link link(through_proxy(behind(run, "a")), run.clock());
  ASSERT_TRUE(link.next_ticket(kLong));
  proxies.weights.hold(TcpProxy::kToActors);
  auto fetched = std::async(std::launch::async, [&] { return link.fetch(1).bytes.size(); });
  ASSERT_TRUE(proxies.weights.wait_for_connections(1));
  first.kill_now();
  next.go();
  EXPECT_TRUE(proxies.weights.wait_for_connections(2));
  proxies.weights.let_go(TcpProxy::kToActors);
  EXPECT_EQ(fetched.get(), kWeights);
  const std::jthread admits = admitting();
  expect_that_it_goes_on(link);
  EXPECT_EQ(next.join(), 0);
}

TEST_F(RelayFetch, ARelaysBeginsAnewWithItsNextIncarnation) {
  const std::uint16_t port = bind_known_port(run.options());
  Child first(work(relay_at_proxy(1))), next(work(relay_at_proxy(2)));
  start();
  Proxies proxies(port);
  proxies.weights.hold(TcpProxy::kToActors);
  first.go();
  Link link(behind(run, "a"), run.clock());
  ASSERT_TRUE(proxies.weights.wait_for_connections(1));
  first.kill_now();
  next.go();
  EXPECT_TRUE(proxies.weights.wait_for_connections(2));
  proxies.weights.let_go(TcpProxy::kToActors);
  const std::jthread admits = admitting();
  expect_that_it_goes_on(link);
  EXPECT_EQ(next.join(), 0);
}

TEST_F(RelayFetch, ARelaysEndsWhereItIsAskedToStop) {
  const std::uint16_t port = bind_known_port(run.options());
  RelayOptions options = relay_at_proxy(1);
  options.upstream.fetch_timeout_ms = 600000;
  start();
  Proxies proxies(port);
  proxies.weights.hold(TcpProxy::kToActors);
  Relay relay(options, run.clock());
  Link link(behind(run, "a"), run.clock());
  ASSERT_TRUE(proxies.weights.wait_for_connections(1));
  auto stopped = std::async(std::launch::async, [&] { relay.stop(); });
  EXPECT_EQ(stopped.wait_for(kLong), std::future_status::ready);
  run.hub().stop();  // which ends it too
  stopped.get();
  EXPECT_FALSE(relay.fault);
}

}  // namespace
}
