// A long job over real sockets, with stubs for environments: nothing grows.
#include <gmock/gmock.h>

#include <fstream>

#include "core/wire/child.h"
#include "core/wire/run_fixture.h"

namespace regraft::wire {
namespace {

using namespace testing_support;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kShortest = 64 << 10;  // bytes of a journal that is worth to be cut

std::uint64_t resident_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t tickets() {
  const char* wanted = std::getenv("REGRAFT_SOAK");  // as `tests/run.sh --soak N` has it
  return wanted == nullptr ? 20'000 : std::strtoull(wanted, nullptr, 10);
}

TEST(Soak, MemoryIsFlatAfterATenthAndTheJournalIsBounded) {
  constexpr std::size_t kActors = 3, kLooks = 20;
  const std::uint64_t look = tickets() / kLooks;
  TestRun run(TestRun::Over::kTcp);
  std::vector<std::unique_ptr<Child>> actors;
  for (std::size_t i = 0; i < kActors; ++i) {
    actors.push_back(std::make_unique<Child>([&run, options = run.actor("actor-" + std::to_string(i))] {
      Link link(options, run.clock());
      while (const auto ticket = link.next_ticket(kLong))
        link.send(*ticket, {}, payload(ticket->seed, 2, 1000));
    }));
  }
  std::vector<pid_t> processes{getpid()};
  for (const auto& actor : actors) processes.push_back(actor->pid());
  Hub& hub = run.start();
  for (const auto& actor : actors) actor->go();
  std::vector<std::uint64_t> at_a_tenth, most(processes.size(), 0);
  std::uint64_t longest_journal = 0;
  JournalMark kept = run.ledger().mark();
  for (std::uint64_t admitted = 1; admitted <= look * kLooks; ++admitted) {
    const auto delivery = hub.take(kLong);
    ASSERT_TRUE(delivery);
    ASSERT_EQ(hub.decide(delivery->ticket, Verdict::kAdmitted), Verdict::kAdmitted);
    if (admitted % look != 0) continue;
    longest_journal = std::max<std::uint64_t>(longest_journal, fs::file_size(run.journal()));
    run.ledger().forget_before(kept, kShortest);
    kept = run.ledger().mark();
    std::vector<std::uint64_t> now;
    for (const pid_t pid : processes) now.push_back(resident_bytes(pid));
    std::printf("%8llu tickets: journal %5.1f MiB, resident", static_cast<unsigned long long>(admitted),
                static_cast<double>(fs::file_size(run.journal())) / kMiB);
    for (const std::uint64_t bytes : now) std::printf(" %6.1f", static_cast<double>(bytes) / kMiB);
    std::printf(" MiB\n");
    if (admitted == 2 * look) at_a_tenth = now;
    for (std::size_t i = 0; i < now.size(); ++i) most[i] = std::max(most[i], now[i]);
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep what was given back
  for (std::size_t i = 0; i < processes.size(); ++i)
    EXPECT_LT(most[i], at_a_tenth[i] + 4 * kMiB) << (i == 0 ? "the learner" : "an actor");
#endif
  // What an admitted ticket takes there, twice between two looks, and four times what it was cut to.
  EXPECT_LT(longest_journal, 2 * 100 * look + 4 * std::max(kShortest, 3 * 16 * look) + 2 * kMiB);
  EXPECT_LT(fs::file_size(run.journal()), 50 * tickets()) << "it was cut";
  hub.stop();
  for (const auto& actor : actors) EXPECT_EQ(actor->join(), 0);
  EXPECT_THAT(run.ledger().ticket_counts().check(), testing::IsEmpty());
}

}  // namespace
}
