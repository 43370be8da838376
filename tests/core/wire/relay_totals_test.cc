// What a relay tells of the work of its actors, and of its own.
#include "core/wire/relay_totals.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/wire/child.h"
#include "core/wire/relay_fixture.h"

namespace regraft::wire {
namespace {

using namespace testing_support;

TEST(RelayTotals, AreOfWhatActorsDidBehindIt) {
  RelayTotals totals;
  ActorInfo a{.name = "a", .kind = "policy", .incarnation = 1, .pid = 10, .told = {100, 200, 300}};
  const ActorInfo b{.name = "b", .kind = "policy", .incarnation = 1, .pid = 11};
  totals.see(a, {});
  totals.see(b, {5, 6, 7});
  EXPECT_EQ(totals.of_kind("policy"), (ActorWork{5, 6, 7})) << "what it had told before is another relay's";
  totals.see(a, {101, 202, 303});
  EXPECT_EQ(totals.of_kind("policy"), (ActorWork{6, 8, 10}));
  a.told = {101, 202, 303};
  totals.see(a, {110, 220, 330});
  EXPECT_EQ(totals.of_kind("policy"), (ActorWork{15, 26, 37})) << "it joined again here";
  ActorInfo next = a;
  next.incarnation = 2;
  next.told = {};
  totals.see(next, {1, 2, 3});
  totals.see(a, {1000, 1000, 1000});
  EXPECT_EQ(totals.of_kind("policy"), (ActorWork{16, 28, 40}))
      << "the words of one that is replaced are late";
  EXPECT_EQ(totals.of_kind("dream"), ActorWork{});
}

TEST(RelayTotals, OfOneThatIsStartedAgainBeginAnew) {
  TestRun run;
  run.options().dispatch.actor_timeout_ms = 60000;  // it is the next incarnation that tells of the death
  const auto work = [&](std::uint64_t incarnation) {
    return [&run, options = relay_options(run, incarnation)] { run_relay(options, run.clock(), {}); };
  };
  Child first(work(1)), second(work(2));
  const LinkOptions actor = behind(run, "a");
  Hub& hub = run.start();
  first.go();
  Link link(actor, run.clock());
  std::uint64_t steps = 0;
  const auto play = [&](int results) {
    for (int i = 0; i < results;) {
      if (const auto ticket = link.next_ticket(10ms))
        link.send(*ticket, {.policy_steps = steps += 10}, payload(ticket->seed, 1, 64));
      while (const auto delivery = hub.take(0ms)) {
        ++i;
        hub.decide(delivery->ticket, Verdict::kAdmitted);
      }
    }
  };
  const auto told = [&](std::uint64_t incarnation, std::uint64_t expected) {
    return hub.wait_for(
        [&](const HubStatus& status) {
          return status.actors.size() == 1 && status.actors[0].info.incarnation == incarnation &&
                 status.actors[0].policy_steps == expected;
        },
        kLong);
  };
  play(5);
  EXPECT_TRUE(told(1, steps));
  const std::uint64_t before = steps;
  first.kill_now();
  second.go();
  ASSERT_TRUE(told(2, 0)) << "the actor has found it";
  play(5);
  EXPECT_TRUE(told(2, steps - before));
  hub.stop();
  EXPECT_EQ(second.join(), 0);
}

TEST(RelayTotals, HoldWhatTheRelayItselfMovesAndUsesOnce) {
  constexpr std::size_t kResult = 100000;
  TestRun run;
  Hub& hub = run.start();
  Relay relay(relay_options(run), run.clock());
  Link first(behind(run, "first"), run.clock());
  ASSERT_TRUE(first.next_ticket(kLong));
  LinkOptions other = behind(run, "second");
  other.kind = "dream";
  Link second(other, run.clock());
  const auto ticket = second.next_ticket(kLong);
  ASSERT_TRUE(ticket);
  second.send(*ticket, {}, payload(1, 1, kResult));
  ASSERT_TRUE(hub.take(kLong));
  const auto named = [](const HubStatus& status, const std::string& name) {
    const auto found =
        std::ranges::find(status.actors, name, [](const auto& each) { return each.info.name; });
    return found == status.actors.end() ? ActorStatus{} : *found;
  };
  EXPECT_TRUE(hub.wait_for(
      [&](const HubStatus& status) {
        const RelayTraffic moved = named(status, "relay").relayed;
        return moved.connections == 2 && moved.bytes_in > kResult && moved.bytes_out > 0 &&
               named(status, "relay.dream").process_cpu_ns > 0;
      },
      kLong));
  const ActorStatus dreaming = named(hub.status(), "relay.dream");
  EXPECT_EQ(dreaming.relayed, RelayTraffic{});
  EXPECT_LE(dreaming.process_cpu_ns, process_cpu_ns()) << "of its actor, which is in this process, alone";
  hub.stop();
}

TEST(RelayTotals, OfActorsOfOneNameBehindTwoRelaysAreTwo) {
  TestRun run;
  Hub& hub = run.start();
  const RelayOptions options = relay_options(run);
  RelayOptions others = options;
  others.upstream.keys = run.actor("another").keys;
  others.upstream.actor = "another";
  others.hub.bind = {"ipc://" + (run.folder() / "another.ipc").string()};
  others.run_file = run.folder() / "another.json";
  Relay relay(options, run.clock()), another(others, run.clock());
  const LinkOptions here = behind(run, "a");
  LinkOptions there = here;
  there.locate = [path = others.run_file] { return RunInfo::load(path); };
  Link first(here, run.clock()), second(there, run.clock());
  for (Link* link : {&first, &second}) {
    const auto ticket = link->next_ticket(kLong);
    ASSERT_TRUE(ticket);
    link->send(*ticket, {.policy_steps = 10}, payload(1, 1, 64));
    const auto delivery = hub.take(kLong);
    ASSERT_TRUE(delivery);
    hub.decide(delivery->ticket, Verdict::kAdmitted);
    EXPECT_TRUE(link->next_ack(kLong));
  }
  EXPECT_TRUE(hub.wait_for(
      [](const HubStatus& status) {
        return status.actors.size() == 2 && status.actors[0].policy_steps == 10 &&
               status.actors[1].policy_steps == 10;
      },
      kLong));
  hub.stop();
}

}  // namespace
}
