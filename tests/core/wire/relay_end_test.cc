// How relays end and what their actors hear of it; what a relay does not take, and does not wait for.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/mutex.h"
#include "core/wire/relay_fixture.h"

namespace regraft::wire {
namespace {

using namespace testing_support;

TEST(RelayEnd, ActorsLookForARelayThatMayBeStartedAgain) {
  TestRun run;
  run.weight_version = 1;
  Hub& hub = run.start();
  hub.publish(1, std::vector<std::byte>(1000));
  RelayOptions options = relay_options(run);
  options.upstream.max_weights_bytes = 10;
  Relay broken(options, run.clock());
  Link link(behind(run, "a"), run.clock());
  broken.join();
  EXPECT_EQ(broken.fault, WireFault::kCorrupt);
  Relay next(relay_options(run, 2), run.clock());
  const auto ticket = link.next_ticket(kLong);
  ASSERT_TRUE(ticket);
  EXPECT_EQ(link.fetch(ticket->weight_version).bytes.size(), 1000u);
  hub.stop();
  next.join();
  EXPECT_FALSE(next.fault);
}

TEST(RelayEnd, ActorsAreSentAwayWhereTheRunEndsBetweenTwoGenerations) {
  TestRun run;
  run.start();
  RelayOptions options = relay_options(run);
  std::atomic<bool> over = false;
  Mutex mutex;
  std::optional<std::thread::id> relays_own;  // which looks first; its links have threads of their own
  options.upstream.locate = [&, locate = options.upstream.locate] {
    const MutexLock lock(mutex);
    if (!relays_own) relays_own = std::this_thread::get_id();
    if (over && *relays_own == std::this_thread::get_id())
      throw WireError(WireFault::kClosed, "the run has ended", "", "");
    return locate();
  };
  Relay relay(options, run.clock());
  Link link(behind(run, "a"), run.clock());
  ASSERT_TRUE(link.next_ticket(kLong));
  over = true;
  run.end();
  run.start();
  EXPECT_EQ(error_of([&] {
              while (true) link.next_ticket(kLong);
            }).fault(),
            WireFault::kClosed);
  relay.join();
  EXPECT_FALSE(relay.fault);
  EXPECT_FALSE(fs::exists(run.folder() / "relay.json"));
}

TEST(RelayEnd, WithoutActorsItGivesUpARunThatIsNotThere) {
  TestRun run;
  run.start();
  RelayOptions options = relay_options(run);
  options.upstream.give_up_after_ms = 300;
  options.upstream.locate = [looks = 0, locate = options.upstream.locate]() mutable {
    if (looks++ > 0) throw WireError(WireFault::kAddress, "no such file", "", "");
    return locate();
  };
  Relay relay(options, run.clock());
  relay.join();
  EXPECT_EQ(relay.fault, WireFault::kTimeout);
  EXPECT_FALSE(fs::exists(run.folder() / "relay.json"));
}

TEST(RelayEnd, TheRunFileOfItsSuccessorStays) {
  TestRun run(TestRun::Over::kTcp);
  run.start();
  const fs::path file = run.folder() / "relay.json";
  Relay first(relay_options(run), run.clock());
  ASSERT_TRUE(comes_to_hold([&] { return fs::exists(file); }));
  const std::string old = read_file(file);
  Relay next(relay_options(run, 2), run.clock());
  ASSERT_TRUE(comes_to_hold([&] { return read_file(file) != old; }));
  first.stop();
  ASSERT_TRUE(fs::exists(file));
  Link link(behind(run, "a"), run.clock());
  EXPECT_TRUE(link.next_ticket(kLong));
  run.hub().stop();
  next.join();
  EXPECT_FALSE(fs::exists(file));
}

TEST(RelayKinds, AreFourAtATime) {
  constexpr std::uint32_t kForGood_ms = 3'600'000;
  TestRun run;
  run.options().dispatch.actor_timeout_ms = kForGood_ms;
  Hub& hub = run.start();
  RelayOptions options = relay_options(run);
  options.idle_ms = options.upstream.silence_timeout_ms = kForGood_ms;
  Relay relay(options, run.clock());
  const auto of_kind = [&](const std::string& kind) {
    LinkOptions actor = behind(run, kind);
    actor.kind = kind;
    actor.silence_timeout_ms = kForGood_ms;
    return std::make_unique<Link>(actor, run.clock());
  };
  std::vector<std::unique_ptr<Link>> links;
  for (const char* kind : {"a", "b", "c", "d"}) {
    links.push_back(of_kind(kind));
    ASSERT_TRUE(links.back()->next_ticket(kLong));
  }
  const auto fifth = of_kind("e");
  for (int i = 0; i < 50; ++i) {  // the relay looks at its actors before each
    const auto ticket = links[1]->next_ticket(kLong);
    ASSERT_TRUE(ticket);
    links[1]->send(*ticket, {}, payload(1, 1, 64));
    const auto delivery = hub.take(kLong);
    ASSERT_TRUE(delivery);
    hub.decide(delivery->ticket, Verdict::kAdmitted);
  }
  EXPECT_EQ(hub.status().actors.size(), 4u);
  links.erase(links.begin());
  const auto has_room = [&](const HubStatus& status) {
    run.jump(2h);  // of no use before the relay has noticed that one is gone
    return std::ranges::any_of(status.actors, [](const ActorStatus& a) { return a.info.kind == "e"; });
  };
  EXPECT_TRUE(hub.wait_for(has_room, kLong));
  EXPECT_TRUE(fifth->next_ticket(kLong));
  hub.stop();
}

TEST(RelayKinds, OneThatIsSlowToJoinHoldsUpNoOther) {
  TestRun run;
  Hub& hub = run.start();
  std::atomic<bool> next_is_slow = false;
  std::promise<void> asked, may_join;
  RelayOptions options = relay_options(run);
  options.upstream.locate = [&, answer = may_join.get_future().share(), locate = options.upstream.locate] {
    if (next_is_slow.exchange(false)) {
      asked.set_value();
      answer.wait_for(2 * kLong);
    }
    return locate();
  };
  Relay relay(options, run.clock());
  Link first(behind(run, "first"), run.clock());
  const auto ticket = first.next_ticket(kLong);
  ASSERT_TRUE(ticket);
  LinkOptions other = behind(run, "second");
  other.kind = "dream";
  next_is_slow = true;
  Link second(other, run.clock());
  ASSERT_EQ(asked.get_future().wait_for(kLong), std::future_status::ready);
  first.send(*ticket, {}, payload(1, 1, 64));
  const auto delivery = hub.take(kLong);
  EXPECT_TRUE(delivery);
  if (delivery) hub.decide(delivery->ticket, Verdict::kAdmitted);
  EXPECT_TRUE(first.next_ack(kLong));
  may_join.set_value();
  EXPECT_TRUE(second.next_ticket(kLong));
  hub.stop();
}

TEST(RelayWeights, ThatAreGoneAreAskedForOnce) {
  constexpr std::size_t kWeights = 100000;
  TestRun run;
  run.weight_version = 1;
  Hub& hub = run.start();
  for (std::uint64_t version = 1; version <= 4; ++version)
    hub.publish(version, std::vector<std::byte>(kWeights));
  Relay relay(relay_options(run), run.clock());
  Link link(behind(run, "a"), run.clock());
  for (int i = 0; i < 10; ++i) {
    const auto ticket = link.next_ticket(kLong);
    ASSERT_TRUE(ticket);
    ASSERT_EQ(ticket->weight_version, 1u);
    EXPECT_EQ(error_of([&] { link.fetch(1); }).fault(), WireFault::kGone);
    EXPECT_EQ(link.fetch(0).info.version, 4u);
    link.send(*ticket, {}, payload(1, 1, 64));
    const auto delivery = hub.take(kLong);
    ASSERT_TRUE(delivery);
    hub.decide(delivery->ticket, Verdict::kStale);
  }
  EXPECT_GT(hub.counters().bytes_out, kWeights);
  EXPECT_LT(hub.counters().bytes_out, 2 * kWeights);
  hub.stop();
}

}  // namespace
}
