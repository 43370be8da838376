#include "core/wire/dispatcher.h"

#include <gmock/gmock.h>

#include <deque>

#include "core/base/file.h"

namespace regraft::wire {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
const Dispatcher::Sender kFirst{"connection-1", "key-1"};
const Dispatcher::Sender kSecond{"connection-2", "key-2"};

class DispatcherTest : public testing::Test {
 protected:
  DispatcherTest() {
    options_.ticket_bytes = 1000;
    options_.max_outstanding_bytes = 10000;
    options_.max_tickets_per_actor = 2;
    options_.actor_timeout_ms = 1000;
  }

  Dispatcher& dispatcher() {
    if (!dispatcher_) {
      dispatcher_ = std::make_unique<Dispatcher>(
          options_, ledger_, weights_,
          [this](const ActorInfo&) -> std::optional<TicketSpec> {
            if (work_left_ == 0) return std::nullopt;
            --work_left_;
            ++sequence_;
            return TicketSpec{
                .model = model_, .seed = 100 + sequence_, .weight_version = 1, .sequence = sequence_};
          },
          clock_);
    }
    return *dispatcher_;
  }

  Hello hello(const std::string& actor, std::uint64_t incarnation = 1) {
    Hello message;
    message.run_id = "run";
    message.generation = ledger_.generation();
    message.incarnation = incarnation;
    message.actor = actor;
    message.kind = "policy";
    message.tickets_wanted = 2;
    return message;
  }

  void say(const Dispatcher::Sender& from, const Message& message, std::size_t payload_bytes = 0) {
    std::vector<Frame> frames;
    if (payload_bytes > 0) frames.push_back(Frame::adopt(std::vector<std::byte>(payload_bytes)));
    dispatcher().on_message(from, encode(message), std::move(frames));
  }

  // All messages of one type that wait for a connection; the others are thrown away.
  template <class M>
  std::vector<M> answers(const Dispatcher::Sender& to) {
    std::vector<M> found;
    for (const auto& [connection, message] : dispatcher().take_outgoing()) {
      const auto* match = std::get_if<M>(&message);
      if (connection == to.connection && match != nullptr) found.push_back(*match);
    }
    return found;
  }

  std::vector<Ticket> join(const Dispatcher::Sender& from, const Hello& message) {
    say(from, message);
    dispatcher().tick();
    std::vector<Ticket> tickets;
    for (const TicketGrant& grant : answers<TicketGrant>(from)) tickets.push_back(grant.ticket);
    return tickets;
  }

  Result result(const Ticket& ticket, std::size_t payload_bytes = 0) {
    Result message;
    message.ticket = ticket.id;
    message.generation = ticket.generation;
    message.weight_version = 1;
    message.payload_bytes = payload_bytes;
    return message;
  }

  Refusal refusal(const Dispatcher::Sender& from, const Message& message) {
    say(from, message);
    const auto refused = answers<Refused>(from);
    EXPECT_EQ(refused.size(), 1u);
    return refused.empty() ? Refusal{} : refused.front().reason;
  }

  TicketCounts ticket_counts() {
    const JobTicketCounts all = ledger_.ticket_counts();
    EXPECT_THAT(all.check(), testing::IsEmpty());
    return all.total();
  }

  TempDir folder_;
  Ledger ledger_{folder_.path() / "journal", "run"};
  WeightsStore weights_;
  ManualClock clock_;
  DispatchOptions options_;
  std::size_t work_left_ = 1000;
  std::uint64_t sequence_ = 0;
  std::uint32_t model_ = 0;  // of the next ticket
  std::unique_ptr<Dispatcher> dispatcher_;
};

TEST_F(DispatcherTest, ATicketGoesRoundFromIssueToAcknowledgement) {
  const auto tickets = join(kFirst, hello("a"));
  ASSERT_EQ(tickets.size(), 2u);
  say(kFirst, result(tickets[0], 10), 10);
  auto deliveries = dispatcher().take_deliveries();
  ASSERT_EQ(deliveries.size(), 1u);
  EXPECT_EQ(deliveries[0].ticket, tickets[0]);
  EXPECT_EQ(deliveries[0].actor.name, "a");
  EXPECT_TRUE(answers<Ack>(kFirst).empty()) << "nothing is acknowledged before the verdict";
  dispatcher().on_decided(tickets[0].id, ledger_.close(tickets[0].id, Verdict::kAdmitted));
  const auto acks = answers<Ack>(kFirst);
  ASSERT_EQ(acks.size(), 1u);
  EXPECT_EQ(acks[0].verdict, Verdict::kAdmitted);
  EXPECT_EQ(ticket_counts().admitted, 1u);
}

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

TEST_F(DispatcherTest, RefusesEachWithItsReason) {
  join(kFirst, hello("a", 5));
  Hello wrong = hello("b");
  wrong.run_id = "other";
  EXPECT_EQ(refusal(kSecond, wrong), Refusal::kWrongRun);
  wrong = hello("b");
  wrong.generation += 1;
  EXPECT_EQ(refusal(kSecond, wrong), Refusal::kOldGeneration);
  EXPECT_EQ(refusal(kSecond, hello("a", 6)), Refusal::kNameTaken);
  EXPECT_EQ(refusal({"connection-3", "key-1"}, hello("a", 4)), Refusal::kOldIncarnation);
  EXPECT_EQ(refusal(kSecond, Heartbeat{}), Refusal::kHelloFirst);
  EXPECT_EQ(refusal(kSecond, result({})), Refusal::kHelloFirst);
  EXPECT_EQ(refusal({kFirst.connection, "key-2"}, Heartbeat{}), Refusal::kHelloFirst)
      << "another's connection";
  EXPECT_EQ(dispatcher().actors().size(), 1u);
}

TEST_F(DispatcherTest, TakesNoMoreActorsThanConfigured) {
  options_.max_actors = 1;
  join(kFirst, hello("a"));
  EXPECT_EQ(refusal(kSecond, hello("b")), Refusal::kFull);
}

TEST_F(DispatcherTest, ASilentActorLosesItsTicketsAndItsResultIsLate) {
  const auto tickets = join(kFirst, hello("a"));
  clock_.advance_ns(900 * kMillisecond);
  say(kFirst, Heartbeat{});
  clock_.advance_ns(900 * kMillisecond);
  work_left_ = 0;
  dispatcher().tick();
  EXPECT_EQ(dispatcher().actors().size(), 1u) << "its heartbeat was heard";
  clock_.advance_ns(200 * kMillisecond);
  dispatcher().tick();
  EXPECT_TRUE(dispatcher().actors().empty());
  EXPECT_EQ(ticket_counts().lost, 2u);

  say(kFirst, hello("a"));
  say(kFirst, result(tickets[0]));
  EXPECT_TRUE(dispatcher().take_deliveries().empty());
  EXPECT_EQ(answers<Ack>(kFirst).at(0).verdict, Verdict::kLate);
  EXPECT_EQ(ticket_counts().late, 1u);
}

TEST_F(DispatcherTest, ADeliveredResultSurvivesTheDeathOfItsActor) {
  const auto tickets = join(kFirst, hello("a"));
  say(kFirst, result(tickets[0]));
  dispatcher().on_unreachable(kFirst.connection);
  EXPECT_EQ(ticket_counts().lost, 1u);
  EXPECT_EQ(ledger_.close(tickets[0].id, Verdict::kAdmitted), Verdict::kAdmitted);
  dispatcher().on_decided(tickets[0].id, Verdict::kAdmitted);
  EXPECT_TRUE(dispatcher().take_outgoing().empty());
}

TEST_F(DispatcherTest, ARepeatedResultIsNotDeliveredTwice) {
  const auto tickets = join(kFirst, hello("a"));
  say(kFirst, result(tickets[0]));
  say(kFirst, result(tickets[0]));
  EXPECT_EQ(dispatcher().take_deliveries().size(), 1u) << "before the verdict";
  dispatcher().on_decided(tickets[0].id, ledger_.close(tickets[0].id, Verdict::kAdmitted));
  answers<Ack>(kFirst);
  say(kFirst, result(tickets[0]));
  EXPECT_TRUE(dispatcher().take_deliveries().empty()) << "after the verdict";
  EXPECT_EQ(answers<Ack>(kFirst).at(0).verdict, Verdict::kAdmitted) << "it is told again what became of it";
  EXPECT_EQ(ticket_counts().duplicates, 1u);
  EXPECT_EQ(ticket_counts().admitted, 1u);
}

TEST_F(DispatcherTest, AResultOfAnotherActorsTicketIsIgnored) {
  const auto tickets = join(kFirst, hello("a"));
  join(kSecond, hello("b"));
  say(kSecond, result(tickets[0]));
  EXPECT_TRUE(dispatcher().take_deliveries().empty());
  EXPECT_EQ(dispatcher().protocol_errors(), 1u);
  say(kFirst, result(tickets[0]));
  EXPECT_EQ(dispatcher().take_deliveries().size(), 1u);
}

TEST_F(DispatcherTest, ANewConnectionOfTheSameWorkerKeepsWhatItHolds) {
  const auto tickets = join(kFirst, hello("a"));
  Hello again = hello("a");
  again.held = {tickets[0].id};
  const Dispatcher::Sender moved{"connection-9", kFirst.key};
  work_left_ = 0;
  join(moved, again);
  EXPECT_EQ(ticket_counts().lost, 1u) << "the ticket that it does not hold";
  EXPECT_EQ(refusal(kFirst, result(tickets[0])), Refusal::kHelloFirst) << "the old connection is void";
  say(moved, result(tickets[0]));
  EXPECT_EQ(dispatcher().take_deliveries().size(), 1u);
}

TEST_F(DispatcherTest, ANewIncarnationLosesWhatTheOldOneHeld) {
  const auto tickets = join(kFirst, hello("a", 1));
  Hello restarted = hello("a", 2);
  restarted.held = {tickets[0].id};
  join({"connection-9", kFirst.key}, restarted);
  EXPECT_EQ(ticket_counts().lost, 2u);
}

TEST_F(DispatcherTest, AConnectionThatBecomesAnotherActorLosesTheFirstOnesTickets) {
  join(kFirst, hello("a"));
  join(kFirst, hello("b"));
  EXPECT_EQ(ticket_counts().lost, 2u);
  EXPECT_EQ(dispatcher().actors().size(), 1u);
}

TEST_F(DispatcherTest, PartsArePutTogetherAndBadOnesReject) {
  options_.max_tickets_per_actor = 8;
  Hello many = hello("a");
  many.tickets_wanted = 8;
  const auto tickets = join(kFirst, many);
  work_left_ = 0;
  ASSERT_EQ(tickets.size(), 8u);
  const auto part = [&](std::size_t ticket, std::uint32_t number, bool last, std::size_t bytes) {
    Result message = result(tickets[ticket], bytes);
    message.part = number;
    message.last = last ? 1 : 0;
    return message;
  };
  say(kFirst, part(0, 0, false, 400), 400);
  say(kFirst, part(0, 1, true, 500), 500);
  const auto deliveries = dispatcher().take_deliveries();
  ASSERT_EQ(deliveries.size(), 1u);
  EXPECT_EQ(deliveries[0].parts.size(), 2u);
  EXPECT_EQ(deliveries[0].parts[1].frames[0].size(), 500u);

  say(kFirst, part(1, 1, true, 0));  // the first part is missing
  say(kFirst, part(2, 0, false, 600), 600);
  say(kFirst, part(2, 1, true, 600), 600);  // too large together
  say(kFirst, part(3, 0, true, 10), 11);    // not what its header says
  say(kFirst, part(4, 0, false, 10), 10);
  Result changed = part(4, 1, true, 10);
  changed.weight_version = 2;
  say(kFirst, changed, 10);  // acted with two versions
  const auto acks = answers<Ack>(kFirst);
  ASSERT_EQ(acks.size(), 4u);
  for (const Ack& ack : acks) EXPECT_EQ(ack.verdict, Verdict::kRejected);
  EXPECT_TRUE(dispatcher().take_deliveries().empty());
  EXPECT_EQ(ticket_counts().rejected, 4u);
}

TEST_F(DispatcherTest, WhoSendsNonsenseIsDropped) {
  join(kFirst, hello("a"));
  dispatcher().on_message(kFirst, std::as_bytes(std::span("nonsense")), {});
  EXPECT_EQ(answers<Refused>(kFirst).size(), 1u);
  EXPECT_EQ(ticket_counts().lost, 2u);
  join(kFirst, hello("a"));
  EXPECT_EQ(refusal(kFirst, Welcome{}), Refusal::kHelloFirst);
  EXPECT_TRUE(dispatcher().actors().empty());
}

TEST_F(DispatcherTest, ARevokedKeyLosesItsTickets) {
  join(kFirst, hello("a"));
  join(kSecond, hello("b"));
  dispatcher().drop_unauthorised([](const std::string& key) { return key != "key-1"; });
  EXPECT_EQ(answers<Refused>(kFirst).at(0).reason, Refusal::kKeyRevoked);
  EXPECT_EQ(dispatcher().actors().size(), 1u);
  EXPECT_EQ(ticket_counts().lost, 2u);
}

TEST_F(DispatcherTest, InDeterministicModeLostWorkIsIssuedAgainWithItsSeedAndVersion) {
  options_.deterministic = true;
  for (std::uint64_t version = 1; version <= 4; ++version) {
    weights_.pin(1);
    weights_.publish(version, {});
    weights_.unpin(1);
    if (version == 1) {
      const auto tickets = join(kFirst, hello("a"));
      ASSERT_EQ(tickets.size(), 2u);
    }
  }
  EXPECT_TRUE(weights_.find(1)) << "open tickets keep their version";
  work_left_ = 0;
  dispatcher().on_unreachable(kFirst.connection);
  EXPECT_TRUE(weights_.find(1)) << "so does work that waits to be issued again";
  const auto again = join(kSecond, hello("b"));
  ASSERT_EQ(again.size(), 2u);
  for (std::size_t i = 0; i < again.size(); ++i) {
    EXPECT_EQ(again[i].sequence, i + 1);
    EXPECT_EQ(again[i].seed, 101 + i);
    EXPECT_EQ(again[i].weight_version, 1u);
    say(kSecond, result(again[i]));
    dispatcher().on_decided(again[i].id, ledger_.close(again[i].id, Verdict::kAdmitted));
  }
  EXPECT_FALSE(weights_.find(1));
  EXPECT_EQ(ticket_counts().lost, 2u);
  EXPECT_EQ(ticket_counts().admitted, 2u);
}

}  // namespace
}  // namespace regraft::wire
