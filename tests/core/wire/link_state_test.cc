#include "core/wire/link_state.h"

#include <gmock/gmock.h>

#include <future>

#include "core/wire/run_fixture.h"

namespace regraft::wire {
namespace {

using namespace testing_support;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LinkStateTest : public ::testing::Test {
 protected:
  LinkStateTest() { welcome(1); }

  void welcome(std::uint64_t generation) {
    state_.on_welcome({.generation = generation, .ticket_bytes = 100, .latest = {generation, {}, 0}},
                      "inproc://weights", "key");
  }
  Ticket take(std::uint64_t id) {
    Ticket ticket;
    ticket.id = id;
    ticket.generation = state_.generation();
    state_.on_grant(ticket);
    EXPECT_EQ(state_.next_ticket(0ms), ticket);
    return ticket;
  }
  bool send(const Ticket& ticket, PartInfo info = {}, std::size_t bytes = 8) {
    return state_.send(ticket, info, payload(0, 1, bytes));
  }
  /// What the link's thread sends: ticket and part, and "!" where it is the last.
  std::vector<std::string> sent() {
    std::vector<std::string> all;
    for (; state_.has_part_to_send(); state_.part_sent()) {
      const Result header = state_.part_to_send().value().header;
      all.push_back(std::to_string(header.ticket) + "." + std::to_string(header.part) +
                    (header.last == 1 ? "!" : ""));
    }
    return all;
  }
  void fail(WireFault fault) { state_.fail(std::make_exception_ptr(WireError(fault, "ended", "", ""))); }

  LinkState state_;
};

TEST_F(LinkStateTest, PartsGoOutInOrderAndAgainAtAWelcomeUntilTheyAreAcknowledged) {
  const Ticket first = take(1), second = take(2);
  EXPECT_TRUE(send(first, {.last = false, .policy_steps = 9}) && send(second) && send(first));
  EXPECT_THAT(sent(), ElementsAre("1.0", "2.0!", "1.1!"));
  welcome(1);
  state_.on_ack({.ticket = 1, .verdict = Verdict::kStale, .latest = {5, {}, 0}});
  EXPECT_THAT(sent(), ElementsAre("2.0!")) << "not what was to be sent again of the first";
  EXPECT_FALSE(state_.flush(0ms));
  state_.on_ack({.ticket = 2, .latest = {4, {}, 0}});
  state_.on_ack({.ticket = 2, .verdict = Verdict::kLost, .latest = {}});
  EXPECT_TRUE(state_.flush(0ms));
  EXPECT_EQ(state_.latest().version, 5u) << "what is older says nothing";
  EXPECT_EQ(state_.next_ack(0ms)->verdict, Verdict::kStale);
  EXPECT_EQ(state_.next_ack(0ms)->verdict, Verdict::kAdmitted);
  EXPECT_FALSE(state_.next_ack(0ms)) << "a ticket has one verdict";
  EXPECT_EQ(state_.heartbeat().policy_steps, 9u) << "the most that was told";
}

TEST_F(LinkStateTest, ANewGenerationVoidsTicketsAndSaysThatWholeResultsAreLate) {
  const Ticket whole = take(1), half = take(2);
  Ticket waiting = half;
  waiting.id = 3;
  state_.on_grant(waiting);
  state_.on_grant(half);  // a second time
  EXPECT_TRUE(send(whole) && send(half, {.last = false}));
  EXPECT_THAT(state_.held(1), ElementsAre(1, 2, 3));
  welcome(2);
  EXPECT_THAT(sent(), IsEmpty());
  EXPECT_THAT(state_.held(1), IsEmpty());
  EXPECT_FALSE(send(half) || state_.wanted(half));
  state_.on_grant(waiting);
  EXPECT_FALSE(state_.next_ticket(0ms)) << "of the generation that has ended";
  const auto ack = state_.next_ack(0ms);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->ticket, whole.id);
  EXPECT_EQ(ack->verdict, Verdict::kLate);
  EXPECT_FALSE(state_.next_ack(0ms));
}

TEST_F(LinkStateTest, CallsOutOfOrderAreRefusedAndChangeNothing) {
  const Ticket ticket = take(1);
  const auto misused = [](const auto& call) { return error_of(call).fault() == WireFault::kMisuse; };
  EXPECT_TRUE(send(ticket, {.weight_version = 3, .last = false}, 56));
  EXPECT_TRUE(misused([&] { state_.weights_place(); })) << "in the middle of a ticket";
  EXPECT_TRUE(misused([&] { state_.await_weights_place({}); }));
  EXPECT_TRUE(misused([&] { send(ticket, {.weight_version = 4}); }));
  EXPECT_TRUE(misused([&] { send(ticket, {.weight_version = 3}, 48); })) << "56 and 48 bytes of 100";
  EXPECT_TRUE(send(ticket, {.weight_version = 3}, 40));
  EXPECT_TRUE(misused([&] { send(ticket, {.weight_version = 3}, 0); })) << "after the last part";
  EXPECT_THAT(sent(), ElementsAre("1.0", "1.1!"));
}

TEST_F(LinkStateTest, TheFirstFailureComesBehindVerdictsThatAreThere) {
  const Ticket ticket = take(1);
  EXPECT_TRUE(send(ticket));
  state_.on_ack({.ticket = 1, .latest = {}});
  fail(WireFault::kClosed);
  fail(WireFault::kTimeout);
  EXPECT_TRUE(state_.wait(kLong) && state_.flush(kLong) && state_.next_ack(kLong));
  for (const std::function<void()>& call : std::vector<std::function<void()>>{
           [&] { state_.next_ack(kLong); }, [&] { state_.next_ticket(kLong); }, [&] { state_.wait(kLong); },
           [&] { send(ticket); }, [&] { state_.weights_place(); }, [&] { state_.await_weights_place({}); }})
    EXPECT_EQ(error_of(call).fault(), WireFault::kClosed);
}

TEST_F(LinkStateTest, ThoseWhoWaitForWeightsGoOnAtAWelcomeAtAStopAndAtAFailure) {
  const auto waiting = [&](std::stop_token stopped) {
    return std::async(std::launch::async, [&, stopped] { return state_.await_weights_place(stopped); });
  };
  state_.on_lost();
  auto joins = waiting({});
  welcome(1);
  EXPECT_EQ(joins.get(), (WeightsPlace{"inproc://weights", "key", 2}));
  state_.on_lost();
  std::stop_source stop;
  auto stops = waiting(stop.get_token()), fails = waiting({});
  stop.request_stop();
  EXPECT_EQ(error_of([&] { stops.get(); }).fault(), WireFault::kClosed);
  fail(WireFault::kTimeout);
  EXPECT_EQ(error_of([&] { fails.get(); }).fault(), WireFault::kTimeout);
}

}  // namespace
}
