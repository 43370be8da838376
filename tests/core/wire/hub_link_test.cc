#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <set>
#include <thread>

#include "core/base/atomic_file.h"
#include "core/wire/run_fixture.h"
#include "core/wire/socket.h"

// Real sockets, keys and journal.

#if defined(__SANITIZE_THREAD__)
// libzmq and its libsodium are not instrumented: what they hand over between threads, through lock-free
// queues, looks unsynchronised. Races between our own threads are still reported.
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libzmq.so\ncalled_from_lib:libsodium.so\nrace:libzmq.so\nrace:libsodium.so\n";
}
#endif

namespace regraft::wire {
namespace {

using namespace testing_support;

bool intact(const Delivery& delivery) {
  for (const Part& part : delivery.parts) {
    for (std::size_t f = 0; f < part.frames.size(); ++f) {
      const auto bytes = part.frames[f].bytes();
      std::vector<std::uint64_t> values(bytes.size() / 8);
      std::memcpy(values.data(), bytes.data(), bytes.size());
      for (const std::uint64_t value : values) {
        if (value != delivery.ticket.seed + f) return false;
      }
    }
  }
  return !delivery.parts.empty();
}

// Does its tickets until the run ends or `limit` are done; returns what was acknowledged as admitted.
std::vector<std::uint64_t> act(Link& link, int limit, std::size_t frames = 3, std::size_t size = 4096) {
  std::vector<std::uint64_t> admitted;
  for (int done = 0; done < limit;) {
    const auto ticket = link.next_ticket(kLong);
    if (!ticket) break;
    link.send(*ticket, {.last = false}, payload(ticket->seed, frames, size));
    link.send(*ticket, {}, payload(ticket->seed, frames, size));
    ++done;
    while (const auto ack = link.next_ack(done == limit ? kLong : 0s)) {
      if (ack->verdict == Verdict::kAdmitted) admitted.push_back(ack->ticket);
      if (ack->ticket == ticket->id) break;
    }
  }
  return admitted;
}

class Transport : public testing::TestWithParam<TestRun::Over> {};

TEST_P(Transport, ManyActorsOneKilledTheTicketCountsBalanceAndNothingIsAdmittedTwice) {
  TestRun run(GetParam());
  Hub& hub = run.start();
  constexpr int kActors = 4, kEach = 40;
  std::vector<LinkOptions> options;
  for (int i = 0; i < kActors; ++i) options.push_back(run.actor("actor-" + std::to_string(i)));
  std::vector<std::vector<std::uint64_t>> admitted(kActors);
  std::vector<std::jthread> threads;
  for (int i = 0; i < kActors; ++i) {
    threads.emplace_back([&, i] {
      Link link(options[static_cast<std::size_t>(i)], run.clock());
      // The first one leaves in the middle, with a ticket half done.
      admitted[static_cast<std::size_t>(i)] = act(link, i == 0 ? kEach / 4 : kEach);
      if (i != 0) return;
      if (const auto ticket = link.next_ticket(kLong)) link.send(*ticket, {.last = false}, payload(1, 1, 64));
    });
  }
  std::set<std::uint64_t> seen;
  int taken = 0;
  const int expected = (kActors - 1) * kEach + kEach / 4;
  while (taken < expected) {
    const auto delivery = hub.take(kLong);
    ASSERT_TRUE(delivery);
    EXPECT_TRUE(intact(*delivery));
    EXPECT_EQ(delivery->parts.size(), 2u);
    EXPECT_TRUE(seen.insert(delivery->ticket.id).second) << "delivered twice";
    EXPECT_EQ(hub.decide(delivery->ticket, Verdict::kAdmitted), Verdict::kAdmitted);
    ++taken;
  }
  threads.clear();
  EXPECT_TRUE(hub.wait_for([](const HubStatus& status) { return status.actors.empty(); }, kLong));
  hub.stop_issuing();
  hub.stop();
  const TicketCounts ticket_counts = run.ledger().ticket_counts().total();
  EXPECT_THAT(run.ledger().ticket_counts().check(), testing::IsEmpty());
  EXPECT_EQ(ticket_counts.admitted, static_cast<std::uint64_t>(expected));
  EXPECT_GE(ticket_counts.lost, 1u);
  EXPECT_EQ(ticket_counts.outstanding, 0u);
  std::set<std::uint64_t> acknowledged;
  for (const auto& list : admitted) acknowledged.insert(list.begin(), list.end());
  EXPECT_TRUE(std::includes(seen.begin(), seen.end(), acknowledged.begin(), acknowledged.end()));
  const TransportCounters counters = hub.counters();
  EXPECT_GT(counters.bytes_in, static_cast<std::uint64_t>(expected) * 2 * 3 * 4096);
  EXPECT_GT(counters.cpu_ns, 0u);
}

TEST_P(Transport, WeightsLargerThanAChunkComeWholeAndOldOnesAreGone) {
  TestRun run(GetParam());
  run.work_left = 1;
  Hub& hub = run.start();
  Link link(run.actor("a"), run.clock());
  EXPECT_EQ(error_of([&] { link.fetch(0); }).fault(), WireFault::kGone) << "none is published yet";
  std::vector<std::vector<std::byte>> versions;
  for (std::uint64_t version = 1; version <= 3; ++version) {
    versions.emplace_back((version << 20) + version * 1000, static_cast<std::byte>(version));
    hub.publish(version, versions.back());
  }
  const Weights latest = link.fetch(0);
  EXPECT_EQ(latest.info.version, 3u);
  EXPECT_EQ(latest.bytes, versions[2]);
  EXPECT_EQ(latest.info, hub.status().latest.version == 3 ? hub.status().latest : latest.info);
  EXPECT_EQ(link.fetch(2).bytes, versions[1]);
  EXPECT_EQ(error_of([&] { link.fetch(1); }).fault(), WireFault::kGone);

  const auto ticket = link.next_ticket(kLong);
  ASSERT_TRUE(ticket);
  link.send(*ticket, {.weight_version = 3, .last = false}, {});
  EXPECT_EQ(error_of([&] { link.fetch(0); }).fault(), WireFault::kMisuse) << "in the middle of a ticket";
  EXPECT_EQ(error_of([&] { link.send(*ticket, {.weight_version = 2}, {}); }).fault(), WireFault::kMisuse);
  link.send(*ticket, {.weight_version = 3}, {});
  EXPECT_EQ(link.fetch(3).info, latest.info);
  const auto delivery = hub.take(kLong);
  ASSERT_TRUE(delivery);
  hub.decide(delivery->ticket, Verdict::kStale);
  const auto ack = link.next_ack(kLong);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->verdict, Verdict::kStale);
  EXPECT_EQ(ack->latest, latest.info);
}

TEST_P(Transport, ASlowLearnerBoundsWhatIsOutstanding) {
  TestRun run(GetParam());
  run.options().dispatch.ticket_bytes = 64 << 10;
  run.options().dispatch.max_outstanding_bytes = 5 * (64 << 10);
  Hub& hub = run.start();
  std::vector<LinkOptions> options;
  for (int i = 0; i < 3; ++i) options.push_back(run.actor("actor-" + std::to_string(i)));
  std::atomic<bool> over{false};
  std::vector<std::jthread> threads;
  for (const LinkOptions& option : options) {
    threads.emplace_back([&] {
      Link link(option, run.clock());
      while (!over) {
        const auto ticket = link.next_ticket(50ms);
        if (ticket) link.send(*ticket, {}, payload(ticket->seed, 1, 32 << 10));
      }
    });
  }
  // At first 5 of at most 64 KiB, then as many of 32 as leave no room for the 40 that one more may need.
  ASSERT_TRUE(hub.wait_for([](const HubStatus& status) { return status.waiting == 9; }, kLong));
  for (int i = 0; i < 40; ++i) {
    EXPECT_LE(run.ledger().outstanding(), 9u);
    const auto delivery = hub.take(kLong);
    ASSERT_TRUE(delivery);
    hub.decide(delivery->ticket, Verdict::kAdmitted);
  }
  over = true;
}

TEST_P(Transport, AResultTooLargeIsStoppedAtItsSender) {
  TestRun run(GetParam());
  run.options().dispatch.ticket_bytes = 10000;
  run.start();
  Link link(run.actor("a"), run.clock());
  const auto ticket = link.next_ticket(kLong);
  ASSERT_TRUE(ticket);
  EXPECT_EQ(error_of([&] { link.send(*ticket, {}, payload(1, 1, 10008)); }).fault(), WireFault::kMisuse);
}

TEST_P(Transport, ARestartedLearnerIsJoinedAgainAndLosesNothingThatWasAcknowledged) {
  TestRun run(GetParam());
  run.start();
  LinkOptions options = run.actor("a");
  options.silence_timeout_ms = 1000;
  options.give_up_after_ms = 60000;
  run.options().dispatch.actor_timeout_ms = 30000;
  Link link(options, run.clock());
  const auto first = link.next_ticket(kLong);
  ASSERT_TRUE(first);
  link.send(*first, {}, payload(first->seed, 1, 1000));
  const auto delivery = run.hub().take(kLong);
  ASSERT_TRUE(delivery);
  run.hub().decide(delivery->ticket, Verdict::kAdmitted);
  ASSERT_TRUE(link.next_ack(kLong));
  const auto second = link.next_ticket(kLong);
  ASSERT_TRUE(second);
  const std::uint64_t generation = link.generation();

  // The disk fills up: the result arrives, but nothing can be said about it any more.
  {
    const FullDisk full(fs::file_size(run.journal()));
    link.send(*second, {}, payload(second->seed, 1, 1000));
    EXPECT_EQ(error_of([&] {
                while (const auto late = run.hub().take(kLong))
                  run.hub().decide(late->ticket, Verdict::kAdmitted);
              }).fault(),
              WireFault::kJournal);
    EXPECT_FALSE(link.next_ack(200ms)) << "acknowledged what is not on the journal";
    run.end();
  }
  Hub& hub = run.start();
  // The old ticket is closed: its sender is told so, and gets new work.
  const auto ack = link.next_ack(kLong);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->ticket, second->id);
  EXPECT_EQ(ack->verdict, Verdict::kLate);
  EXPECT_FALSE(link.wanted(*second));
  EXPECT_EQ(link.generation(), generation + 1);
  const auto third = link.next_ticket(kLong);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->generation, generation + 1);
  link.send(*third, {}, payload(third->seed, 1, 1000));
  const auto fresh = hub.take(kLong);
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh->ticket, *third);
  hub.decide(fresh->ticket, Verdict::kAdmitted);
  EXPECT_TRUE(link.flush(kLong));
  hub.stop();
  EXPECT_THAT(run.ledger().ticket_counts().check(), testing::IsEmpty())
      << run.ledger().ticket_counts().table();
  EXPECT_EQ(run.ledger().ticket_counts().total().admitted, 2u);
}

TEST_P(Transport, TheEndOfTheRunReachesTheActor) {
  TestRun run(GetParam());
  run.work_left = 0;
  Hub& hub = run.start();
  Link link(run.actor("a"), run.clock());
  hub.stop();
  EXPECT_EQ(error_of([&] { link.next_ticket(kLong); }).fault(), WireFault::kClosed);
}

TEST_P(Transport, AHubThatAnErrorUnwoundIsLookedForAgain) {
  TestRun run(GetParam());
  run.work_left = 0;
  run.start();
  Link link(run.actor("a"), run.clock());
  const std::uint64_t generation = link.generation();
  run.end();  // without stop()
  run.work_left = 1;
  run.start();
  const auto ticket = link.next_ticket(kLong);
  ASSERT_TRUE(ticket);
  EXPECT_EQ(ticket->generation, generation + 1);
  run.hub().stop();
}

TEST(Fetching, EndsAsTheRunDoes) {
  TestRun run;
  run.options().plain = true;
  Hub& hub = run.start();
  // In place of the hub's own server of weights, one that does not answer.
  const std::string endpoint = run.options().bind.front() + ".weights";
  Context context;
  zmq::socket_t mute = open_socket(context, zmq::socket_type::router, {});
  fs::remove(endpoint.substr(std::string_view("ipc://").size()));
  bind_socket(mute, endpoint);
  LinkOptions options = run.actor("a");
  options.fetch_timeout_ms = 60000;
  Link link(options, run.clock());
  std::optional<WireError> end;
  std::jthread actor([&] { end = error_of([&] { link.fetch(1); }); });
  zmq::pollitem_t asked{mute.handle(), 0, ZMQ_POLLIN, 0};
  ASSERT_EQ(zmq::poll(&asked, 1, kLong), 1);
  hub.stop();
  actor.join();
  EXPECT_EQ(end->fault(), WireFault::kClosed) << end->what();
}

TEST(Machines, OfOneNameAreNotOne) {
  TestRun run(TestRun::Over::kTcp);
  RunInfo info = run.start().run_info();
  info.ipc = "ipc://" + (run.folder() / "of the other").string();
  write_file_atomic(run.folder() / "of the other", std::string_view(""));
  info.machine = info.host + "/another boot";
  LinkOptions options = run.actor("a");
  options.locate = [info] { return info; };
  Link link(options, run.clock());
  EXPECT_TRUE(link.next_ticket(kLong));
}

INSTANTIATE_TEST_SUITE_P(Over, Transport,
                         testing::Values(TestRun::Over::kIpc, TestRun::Over::kTcp, TestRun::Over::kPlainTcp),
                         transport_name);

}  // namespace
}
