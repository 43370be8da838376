#include <gmock/gmock.h>

#include <optional>
#include <set>
#include <thread>

#include "core/wire/child.h"
#include "core/wire/relay_fixture.h"

// A learner, relays and their actors over real sockets.

namespace regraft::wire {
namespace {

using namespace testing_support;

TicketCounts balanced(TestRun& run) {
  EXPECT_THAT(run.ledger().ticket_counts().check(), testing::IsEmpty())
      << run.ledger().ticket_counts().table();
  return run.ledger().ticket_counts().total();
}

class Relayed : public testing::TestWithParam<TestRun::Over> {};

constexpr std::size_t kWeightBytes = (1 << 20) + 77;

/// What actors have done, all together.
struct Done {
  std::atomic<int> fetched = 0, acknowledged = 0;
};

/// An actor that fetches the weights once and sends two parts for each ticket, until the run closes: the
/// seeds that it had.
std::set<std::uint64_t> play_until_closed(Link& link, Done& done) {
  std::set<std::uint64_t> seeds;
  const WireError end = error_of([&] {
    while (const auto ticket = link.next_ticket(kLong)) {
      if (seeds.empty()) {
        EXPECT_EQ(link.fetch(ticket->weight_version).bytes.size(), kWeightBytes);
        ++done.fetched;
      }
      seeds.insert(ticket->seed);
      link.send(*ticket, {.weight_version = 1, .last = false}, payload(ticket->id, 3, 4096));
      link.send(*ticket, {.weight_version = 1}, payload(ticket->seed, 1, 64));
      while (const auto ack = link.next_ack(0ms))
        done.acknowledged += ack->verdict == Verdict::kAdmitted ? 1 : 0;
    }
  });
  EXPECT_EQ(end.fault(), WireFault::kClosed) << end.what();
  return seeds;
}

TEST_P(Relayed, ManyActorsAreOneConnectionAndFetchWeightsOnce) {
  constexpr int kActors = 8, kEach = 20;
  constexpr std::uint32_t kPatient_ms = 60000;  // sanitizers on busy machines are slow
  const auto play = [&](bool relayed) {
    TestRun run(GetParam());
    run.options().dispatch.max_tickets_per_actor = 2;
    run.options().dispatch.actor_timeout_ms = kPatient_ms;
    run.weight_version = 1;
    Hub& hub = run.start();
    hub.publish(1, std::vector<std::byte>(kWeightBytes, std::byte{5}));
    std::optional<Relay> relay;
    if (relayed) {
      RelayOptions patient = relay_options(run);
      patient.upstream.fetch_timeout_ms = kPatient_ms;
      relay.emplace(patient, run.clock());
    }
    std::vector<LinkOptions> options;
    for (int i = 0; i < kActors; ++i) {
      const std::string name = "actor-" + std::to_string(i);
      options.push_back(relayed ? behind(run, name) : run.actor(name));
      options.back().fetch_timeout_ms = options.back().silence_timeout_ms = kPatient_ms;
    }
    std::vector<std::set<std::uint64_t>> seeds(kActors);
    Done done;
    std::vector<std::jthread> threads;
    for (int i = 0; i < kActors; ++i)
      threads.emplace_back([&, i] {
        Link link(options[static_cast<std::size_t>(i)], run.clock());
        seeds[static_cast<std::size_t>(i)] = play_until_closed(link, done);
      });
    EXPECT_TRUE(hub.wait_for([&](const HubStatus& s) { return s.actor_count() == kActors; }, kLong));
    EXPECT_EQ(hub.status().actors.size(), relayed ? 1u : kActors);
    std::uint64_t taken = 0;
    for (; (taken < kActors * kEach || done.fetched < kActors) && !HasFailure(); ++taken) {
      const auto delivery = hub.take(kLong);
      if (!delivery) {
        ADD_FAILURE() << "nothing came";
        break;
      }
      EXPECT_EQ(delivery->parts.size(), 2u);
      EXPECT_EQ(delivery->parts.front().frames.size(), 3u);
      EXPECT_EQ(delivery->parts.front().frames.front().bytes()[0],
                static_cast<std::byte>(delivery->ticket.id & 255));
      EXPECT_EQ(delivery->parts.back().frames.front().bytes()[0],
                static_cast<std::byte>(delivery->ticket.seed & 255));
      EXPECT_EQ(hub.decide(delivery->ticket, Verdict::kAdmitted), Verdict::kAdmitted);
    }
    EXPECT_TRUE(hub.wait_for([&](const HubStatus& s) { return s.outstanding >= kActors; }, kLong))
        << "every actor has work";
    hub.stop();
    threads.clear();
    if (relay) {
      relay->join();
      EXPECT_FALSE(relay->fault) << "it ends as the run does";
      EXPECT_FALSE(fs::exists(run.folder() / "relay.json"));
    }
    EXPECT_EQ(balanced(run).admitted, taken);
    EXPECT_GT(done.acknowledged, 0);
    std::set<std::uint64_t> all;
    std::size_t sum = 0;
    for (const auto& some : seeds) {
      sum += some.size();
      all.insert(some.begin(), some.end());
    }
    EXPECT_EQ(all.size(), sum) << "no ticket is played twice";
    return hub.counters().bytes_out;
  };
  const std::uint64_t direct = play(false), once = play(true);
  std::printf("bytes sent by the learner: %llu to 8 actors, %llu to a relay of 8\n",
              static_cast<unsigned long long>(direct), static_cast<unsigned long long>(once));
  EXPECT_GT(direct, 8 * kWeightBytes);
  EXPECT_LT(once, 2 * kWeightBytes);
}

TEST_P(Relayed, WhatAnActorLosesIsGivenToAnotherOneAndGoesBackWhereThereIsNone) {
  TestRun run(GetParam());
  run.options().dispatch.actor_timeout_ms = 60000;
  Hub& hub = run.start();
  RelayOptions options = relay_options(run);
  options.idle_ms = 3'600'000;
  Relay relay(options, run.clock());
  std::set<std::uint64_t> lost;
  {
    Link first(behind(run, "first"), run.clock());
    for (int i = 0; i < 2; ++i) {
      const auto ticket = first.next_ticket(kLong);
      ASSERT_TRUE(ticket);
      lost.insert(ticket->id);
      if (i == 1) first.send(*ticket, {.last = false}, payload(1, 1, 64));
    }
    run.work_left = 0;
  }
  {
    Link second(behind(run, "second"), run.clock());
    for (int i = 0; i < 2; ++i) {
      const auto ticket = second.next_ticket(kLong);
      ASSERT_TRUE(ticket);
      EXPECT_EQ(lost.erase(ticket->id), 1u);
      if (i == 1) continue;
      second.send(*ticket, {}, payload(ticket->seed, 1, 64));
      const auto delivery = hub.take(kLong);
      ASSERT_TRUE(delivery);
      EXPECT_EQ(delivery->ticket, *ticket);
      EXPECT_EQ(delivery->parts.size(), 1u);
      hub.decide(delivery->ticket, Verdict::kStale);
      const auto ack = second.next_ack(kLong);
      ASSERT_TRUE(ack);
      EXPECT_EQ(ack->verdict, Verdict::kStale);
    }
  }
  EXPECT_TRUE(hub.wait_for([](const HubStatus& s) { return s.outstanding == 1; }, kLong));
  const auto none_left = [&](const HubStatus& s) {
    run.jump(2h);
    return s.outstanding == 0;
  };
  EXPECT_TRUE(hub.wait_for(none_left, kLong));
  EXPECT_EQ(balanced(run).lost, 1u);
  run.work_left = 1;
  Link third(behind(run, "third"), run.clock());
  EXPECT_TRUE(third.next_ticket(kLong)) << "the relay is there again for whoever comes";
  hub.stop();
  relay.join();
  EXPECT_EQ(balanced(run).dropped, 1u);
}

TEST_P(Relayed, ALearnersNextGenerationReachesTheActors) {
  TestRun run(GetParam());
  run.start();
  Relay relay(relay_options(run), run.clock());
  Link link(behind(run, "a"), run.clock());
  const auto old = link.next_ticket(kLong);
  ASSERT_TRUE(old);
  run.end();
  run.start();
  std::optional<Ticket> ticket;
  while (!ticket || ticket->generation == old->generation) {
    ticket = link.next_ticket(kLong);
    ASSERT_TRUE(ticket);
  }
  EXPECT_FALSE(link.wanted(*old));
  link.send(*ticket, {}, payload(ticket->seed, 1, 64));
  const auto delivery = run.hub().take(kLong);
  ASSERT_TRUE(delivery);
  EXPECT_EQ(delivery->ticket, *ticket);
  run.hub().decide(delivery->ticket, Verdict::kAdmitted);
  EXPECT_TRUE(link.flush(kLong));
  run.hub().stop();
  EXPECT_EQ(balanced(run).admitted, 1u);
  relay.join();
  EXPECT_FALSE(relay.fault);
}

TEST_P(Relayed, AResultThatTheRelayRefusesGetsAVerdictOfTheLearner) {
  TestRun run(GetParam());
  Hub& hub = run.start();
  RelayOptions options = relay_options(run);
  options.hub.dispatch.max_parts = 1;
  Relay relay(options, run.clock());
  Link link(behind(run, "a"), run.clock());
  const auto ticket = link.next_ticket(kLong);
  ASSERT_TRUE(ticket);
  run.work_left = 0;
  link.send(*ticket, {.last = false}, payload(1, 1, 64));
  link.send(*ticket, {}, payload(1, 1, 64));
  const auto ack = link.next_ack(kLong);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->verdict, Verdict::kRejected);
  const auto delivery = hub.take(kLong);
  ASSERT_TRUE(delivery);
  EXPECT_EQ(delivery->ticket, *ticket);
  EXPECT_TRUE(delivery->parts.back().frames.empty());
  hub.decide(delivery->ticket, Verdict::kRejected);
  hub.stop();
  relay.join();
  EXPECT_EQ(balanced(run).rejected, 1u);
}

TEST_P(Relayed, EachKindOfActorHasALinkOfItsOwn) {
  TestRun run(GetParam());
  Hub& hub = run.start();
  Relay relay(relay_options(run), run.clock());
  Link first(behind(run, "first"), run.clock());
  LinkOptions other = behind(run, "second");
  other.kind = "dream";
  Link second(other, run.clock());
  ASSERT_TRUE(first.next_ticket(kLong));
  const auto ticket = second.next_ticket(kLong);
  ASSERT_TRUE(ticket);
  second.send(*ticket, {}, payload(1, 1, 64));
  const auto delivery = hub.take(kLong);
  ASSERT_TRUE(delivery);
  EXPECT_EQ(delivery->actor.kind, "dream");
  EXPECT_TRUE(hub.wait_for([](const HubStatus& s) { return s.actors.size() == 2; }, kLong));
  relay.stop();
  EXPECT_EQ(error_of([&] {
              while (true) first.next_ticket(kLong);
            }).fault(),
            WireFault::kClosed);
}

INSTANTIATE_TEST_SUITE_P(Over, Relayed,
                         testing::Values(TestRun::Over::kIpc, TestRun::Over::kTcp, TestRun::Over::kPlainTcp),
                         transport_name);

TEST(RelayKeys, ARevokedActorIsGoneAndARevokedRelayEndsWithItsActors) {
  TestRun run(TestRun::Over::kTcp);
  Hub& hub = run.start();
  Relay relay(relay_options(run), run.clock());
  Link first(behind(run, "first"), run.clock());
  ASSERT_TRUE(first.next_ticket(kLong));
  Link second(behind(run, "second"), run.clock());
  ASSERT_TRUE(second.next_ticket(kLong));
  AuthorisedKeys keys(run.options().authorised);
  ASSERT_TRUE(keys.revoke("first"));
  EXPECT_EQ(error_of([&] {
              while (true) first.next_ticket(kLong);
            }).fault(),
            WireFault::kKey);
  EXPECT_TRUE(hub.wait_for([](const HubStatus& s) { return s.actor_count() == 1; }, kLong));
  ASSERT_TRUE(keys.revoke("relay"));
  EXPECT_EQ(error_of([&] {
              while (true) second.next_ticket(kLong);
            }).fault(),
            WireFault::kClosed);
  relay.join();
  EXPECT_EQ(relay.fault, WireFault::kKey);
  EXPECT_TRUE(hub.wait_for([](const HubStatus& s) { return s.outstanding == 0; }, kLong));
  EXPECT_GT(balanced(run).lost, 0u);
}

TEST(RelayKeys, WhoIsNotAuthorisedByTheRunIsNotLetInByTheRelay) {
  TestRun run(TestRun::Over::kTcp);
  run.start();
  Relay relay(relay_options(run), run.clock());
  LinkOptions options = behind(run, "a");
  options.keys = make_key_pair();
  EXPECT_EQ(error_of([&] { Link(options, run.clock()); }).fault(), WireFault::kKey);
  relay.stop();
  EXPECT_FALSE(relay.fault);
}

TEST(RelayKilled, ComesBackAsItsNextIncarnationAndItsActorsFindIt) {
  TestRun run;
  run.options().dispatch.actor_timeout_ms = 60000;  // it is the next incarnation that tells of the death
  run.options().dispatch.max_tickets_per_actor = 2;
  const auto work = [&](std::uint64_t incarnation) {
    return [&run, options = relay_options(run, incarnation)] { run_relay(options, run.clock(), {}); };
  };
  Child first(work(1)), second(work(2));
  const LinkOptions actor = behind(run, "a");
  Child killed([&] {
    Link link(behind(run, "killed"), run.clock());
    while (true) link.next_ticket(kLong);  // and plays nothing
  });
  Hub& hub = run.start();
  first.go();
  killed.go();
  Link link(actor, run.clock());
  std::size_t admitted = 0;
  const auto play = [&](std::size_t results) {
    for (std::size_t i = 0; i < results;) {
      if (const auto ticket = link.next_ticket(10ms)) link.send(*ticket, {}, payload(ticket->seed, 2, 1000));
      while (const auto delivery = hub.take(0ms)) {
        ++i;
        admitted += hub.decide(delivery->ticket, Verdict::kAdmitted) == Verdict::kAdmitted ? 1 : 0;
      }
    }
  };
  play(5);
  EXPECT_TRUE(hub.wait_for([](const HubStatus& s) { return s.actor_count() == 2; }, kLong));
  killed.kill_now();
  first.kill_now();
  second.go();
  play(5);
  hub.stop();
  const TicketCounts counts = balanced(run);
  EXPECT_EQ(counts.admitted, admitted);
  EXPECT_GE(counts.lost, 2u) << "those of the killed actor at least";
  EXPECT_EQ(second.join(), 0) << "a relay ends normally when the run does";
  EXPECT_EQ(error_of([&] {
              while (true) link.next_ticket(kLong);
            }).fault(),
            WireFault::kClosed);
}

}  // namespace
}
