// Tickets as credits: what memory they reserve, how many are under way, how long actors wait for one.
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "core/wire/dispatcher_fixture.h"

namespace regraft::wire {
namespace {

TEST_F(DispatcherTest, NeverIssuesMoreThanTheMemoryForResults) {
  options_.max_tickets_per_actor = 100;
  options_.max_outstanding_bytes = 3500;
  Hello greedy = hello("a");
  greedy.tickets_wanted = 100;
  auto tickets = join(kFirst, greedy);
  EXPECT_EQ(tickets.size(), 3u) << "3 times 1000 bytes fit";
  say(kFirst, result(tickets[0], 900), 900);
  dispatcher().tick();
  EXPECT_TRUE(answers<TicketGrant>(kFirst).empty()) << "what awaits its verdict is in memory too";
  dispatcher().on_decided(tickets[0].id, ledger_.close(tickets[0].id, Verdict::kStale));
  dispatcher().tick();
  EXPECT_EQ(answers<TicketGrant>(kFirst).size(), 1u);
}

TEST_F(DispatcherTest, MoreAreUnderWayOnceResultsAreKnownToBeSmall) {
  options_.max_tickets_per_actor = 100;
  options_.max_outstanding_bytes = 3500;
  Hello greedy = hello("a");
  greedy.tickets_wanted = 100;
  std::deque<Ticket> open;
  const auto take_grants = [&] {
    dispatcher().tick();
    for (const TicketGrant& grant : answers<TicketGrant>(kFirst)) open.push_back(grant.ticket);
  };
  for (const Ticket& ticket : join(kFirst, greedy)) open.push_back(ticket);
  EXPECT_EQ(open.size(), 3u);
  for (int i = 0; i < 10; ++i) {
    const Ticket ticket = open.front();
    open.pop_front();
    say(kFirst, result(ticket, 100), 100);
    dispatcher().on_decided(ticket.id, ledger_.close(ticket.id, Verdict::kAdmitted));
    take_grants();
  }
  EXPECT_EQ(open.size(), 27u)
      << "of 126 bytes each, as long as the ones of 1000 that were issued first are gone";
  dispatcher().on_unreachable(kFirst.connection);
  open.clear();
  for (const Ticket& ticket : join(kFirst, greedy)) open.push_back(ticket);
  EXPECT_EQ(open.size(), 27u) << "what is lost keeps no memory";
}

TEST_F(DispatcherTest, AsMuchWaitsForItsVerdictAsActorsMayHoldAndNoMore) {
  options_.max_outstanding_bytes = 100'000'000;
  options_.max_tickets_per_actor = 2;
  std::deque<Ticket> open;
  for (const Ticket& ticket : join(kFirst, hello("a"))) open.push_back(ticket);
  std::size_t undecided = 0;
  for (; !open.empty(); ++undecided) {
    say(kFirst, result(open.front(), 10), 10);
    open.pop_front();
    dispatcher().tick();
    for (const TicketGrant& grant : answers<TicketGrant>(kFirst)) open.push_back(grant.ticket);
  }
  EXPECT_EQ(undecided, 17u) << "16, and what was under way";
  dispatcher().on_decided(1, ledger_.close(1, Verdict::kAdmitted));
  dispatcher().on_decided(2, ledger_.close(2, Verdict::kAdmitted));
  dispatcher().tick();
  EXPECT_EQ(answers<TicketGrant>(kFirst).size(), 2u);
}

TEST_F(DispatcherTest, TheNextTicketMayBeOfTheModelWithTheLargestResults) {
  options_.max_outstanding_bytes = 1500;
  options_.max_tickets_per_actor = 1;
  const auto deliver = [&](const Ticket& ticket, std::size_t bytes) {
    say(kFirst, result(ticket, bytes), bytes);
    dispatcher().on_decided(ticket.id, ledger_.close(ticket.id, Verdict::kAdmitted));
  };
  auto tickets = join(kFirst, hello("a"));
  for (int i = 0; i < 80; ++i) {
    ASSERT_EQ(tickets.size(), 1u);
    model_ = i < 8 ? 1 : 0;  // of the ticket after this one
    deliver(tickets[0], tickets[0].model == 1 ? 900 : 10);
    dispatcher().tick();
    tickets.clear();
    for (const TicketGrant& grant : answers<TicketGrant>(kFirst)) tickets.push_back(grant.ticket);
  }
  model_ = 1;
  EXPECT_EQ(join(kSecond, hello("b")).size(), 1u) << "13 bytes are reserved for the first one";
  EXPECT_TRUE(join({"connection-3", "key-3"}, hello("c")).empty()) << "as many as the largest may not fit";
}

TEST_F(DispatcherTest, OnlyTheTimeShortOfMemoryIsAWaitForMemory) {
  options_.max_outstanding_bytes = 1000;
  work_left_ = 0;
  join(kFirst, hello("a"));
  join(kSecond, hello("b"));
  clock_.advance_ns(100 * kMillisecond);
  work_left_ = 1;
  dispatcher().tick();  // one of them has it, and all memory
  clock_.advance_ns(20 * kMillisecond);
  std::uint64_t waited = 0, for_memory = 0;
  for (const ActorStatus& actor : dispatcher().actors()) {
    waited += actor.waited_ns / kMillisecond;
    for_memory += actor.waited_for_memory_ns / kMillisecond;
  }
  EXPECT_EQ(waited, 220u);
  EXPECT_EQ(for_memory, 20u);
}

TEST_F(DispatcherTest, SaysHowLongActorsWaitAndWhetherForMemory) {
  options_.max_outstanding_bytes = 1000;
  const auto waited = [&](const std::string& name) {
    for (const ActorStatus& actor : dispatcher().actors())
      if (actor.info.name == name)
        return std::pair(actor.waited_ns / kMillisecond, actor.waited_for_memory_ns / kMillisecond);
    return std::pair<std::uint64_t, std::uint64_t>{};
  };
  work_left_ = 0;
  join(kFirst, hello("a"));
  clock_.advance_ns(100 * kMillisecond);
  EXPECT_EQ(waited("a"), (std::pair<std::uint64_t, std::uint64_t>(100, 0))) << "there is no work";
  work_left_ = 1000;
  dispatcher().tick();
  const auto tickets = answers<TicketGrant>(kFirst);
  ASSERT_EQ(tickets.size(), 1u);
  join(kSecond, hello("b"));
  clock_.advance_ns(50 * kMillisecond);
  EXPECT_EQ(waited("a"), (std::pair<std::uint64_t, std::uint64_t>(100, 0))) << "it works";
  EXPECT_EQ(waited("b"), (std::pair<std::uint64_t, std::uint64_t>(50, 50))) << "the first one has all memory";
  dispatcher().on_unreachable(kFirst.connection);
  dispatcher().tick();
  clock_.advance_ns(50 * kMillisecond);
  EXPECT_EQ(waited("b"), (std::pair<std::uint64_t, std::uint64_t>(50, 50))) << "it has a ticket";
}

TEST_F(DispatcherTest, SharesScarceWorkAmongActors) {
  options_.max_outstanding_bytes = 2000;
  work_left_ = 0;
  join(kFirst, hello("a"));
  join(kSecond, hello("b"));
  work_left_ = 2;
  dispatcher().tick();
  for (const ActorStatus& actor : dispatcher().actors()) EXPECT_EQ(actor.tickets_held, 1u) << actor.info.name;
}

TEST_F(DispatcherTest, ARelayGetsATicketATurnForEachOfItsActors) {
  work_left_ = 0;
  join(kFirst, hello("relay"));
  join(kSecond, hello("b"));
  say(kFirst, Heartbeat{.actors = 3, .tickets_wanted = 6, .latest = {}});
  using Each = std::map<std::string, std::uint64_t>;
  const auto held = [&] {
    Each each;
    for (const ActorStatus& actor : dispatcher().actors()) each[actor.info.name] = actor.tickets_held;
    return each;
  };
  for (const Each& expected : {Each{{"b", 0}, {"relay", 2}}, Each{{"b", 1}, {"relay", 3}},
                               Each{{"b", 1}, {"relay", 5}}, Each{{"b", 2}, {"relay", 6}}}) {
    work_left_ = 2;
    dispatcher().tick();
    EXPECT_EQ(held(), expected) << "a turn goes on where the last call ended";
  }
}

TEST_F(DispatcherTest, AConnectionSpeaksForNoMoreActorsThanItMay) {
  options_.max_actors_per_connection = 4;
  join(kFirst, hello("relay"));
  say(kFirst, Heartbeat{.actors = 5, .tickets_wanted = 100, .latest = {}});
  dispatcher().tick();
  const auto actors = dispatcher().actors();
  ASSERT_EQ(actors.size(), 1u);
  EXPECT_EQ(actors.front().actors, 4u);
  EXPECT_EQ(actors.front().tickets_held, 4u * options_.max_tickets_per_actor);
}

}  // namespace
}
