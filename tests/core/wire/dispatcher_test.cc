#include "core/wire/dispatcher.h"

#include "core/wire/dispatcher_fixture.h"

namespace regraft::wire {
namespace {

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

TEST_F(DispatcherTest, AnActorIsToldToSpeakSeveralTimesWithinItsTimeout) {
  say(kFirst, hello("a"));
  EXPECT_EQ(answers<Welcome>(kFirst).at(0).heartbeat_ms, 250u);
  options_.actor_timeout_ms = 10000;
  dispatcher_.reset();
  say(kFirst, hello("a"));
  EXPECT_EQ(answers<Welcome>(kFirst).at(0).heartbeat_ms, 1000u);
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

TEST_F(DispatcherTest, AnActorWhoseConnectionIsGoneKeepsWhatItHoldsUntilItCountsAsSilent) {
  const auto tickets = join(kFirst, hello("a"));
  dispatcher().on_away(kFirst.connection);
  say(kFirst, result(tickets[0]));  // on its way then
  dispatcher().tick();
  EXPECT_TRUE(answers<TicketGrant>(kFirst).empty());
  Hello back = hello("a");
  back.held = {tickets[1].id};
  EXPECT_EQ(join({"connection-3", kFirst.key}, back).size(), 1u) << "it holds the other one";
  EXPECT_EQ(ticket_counts().lost, 0u);
  dispatcher().on_away("connection-3");
  clock_.advance_ns(1001 * kMillisecond);
  work_left_ = 0;
  dispatcher().tick();
  EXPECT_TRUE(dispatcher().actors().empty());
  EXPECT_EQ(ticket_counts().lost, 2u);
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
}
