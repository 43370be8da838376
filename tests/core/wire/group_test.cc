#include "core/wire/group.h"

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <semaphore>
#include <string>
#include <thread>

#include "core/base/rng.h"
#include "core/wire/child.h"
#include "core/wire/run_fixture.h"
#include "core/wire/tcp_proxy.h"

namespace regraft::wire {
namespace {

using namespace testing_support;

constexpr std::uint32_t kMembers = 3;

std::vector<float> numbers(std::uint32_t rank, std::size_t count, std::uint64_t seed) {
  Rng rng(seed, "group " + std::to_string(rank));
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.uniform(-1e3, 1e3));
  return values;
}

std::vector<float> sum_in_order(std::size_t count, std::uint64_t seed) {
  std::vector<float> sum = numbers(0, count, seed);
  for (std::uint32_t rank = 1; rank < kMembers; ++rank) {
    const std::vector<float> more = numbers(rank, count, seed);
    for (std::size_t i = 0; i < count; ++i) sum[i] += more[i];
  }
  return sum;
}

class GroupTest : public ::testing::TestWithParam<bool> {
 protected:
  GroupTest() {
    AuthorisedKeys authorised(folder_.path() / "authorised");
    for (std::uint32_t rank = 1; rank < kMembers; ++rank)
      authorised.add("actor-" + std::to_string(rank), keys_[rank].public_key);
    authorised.add("another", other_.public_key);
  }
  LeaderOptions leader() const {
    LeaderOptions options;
    options.size = kMembers;
    options.bind = {"tcp://127.0.0.1:*", "ipc://" + (folder_.path() / "group.ipc").string()};
    options.plain = GetParam();
    if (!options.plain) options.server_keys = server_;
    options.authorised = folder_.path() / "authorised";
    for (std::uint32_t rank = 1; rank < kMembers; ++rank) options.peer_keys.push_back(keys_[rank].public_key);
    options.run_id = "run";
    options.config = "alike";
    options.file = folder_.path() / "learners.json";
    options.patience = kLong;
    return options;
  }
  PeerOptions peer(std::uint32_t rank) const {
    PeerOptions options;
    options.rank = rank;
    options.size = kMembers;
    options.keys = keys_[rank];
    options.config = "alike";
    options.locate = [file = folder_.path() / "learners.json", ended = folder_.path() / "ended"] {
      if (fs::exists(ended)) throw WireError(WireFault::kClosed, "the run has ended", "", "");
      return RunInfo::load(file);
    };
    options.patience = kLong;
    return options;
  }
  struct Two {
    LeaderOptions first;
    PeerOptions second;
  };
  /// Their connection goes over a proxy at this port.
  Two over_proxy(std::uint16_t port) const {
    Two two{leader(), through_proxy(peer(1))};
    two.first.size = two.second.size = 2;
    two.first.bind = {"tcp://127.0.0.1:" + std::to_string(port)};
    return two;
  }
  void forget_the_first_leader() { fs::remove(folder_.path() / "learners.json"); }
  KeyPair other_ = make_key_pair();  // authorised, but no learner's

  void end() { std::ofstream(folder_.path() / "ended") << "now"; }

 private:
  TempDir folder_{"rg"};
  KeyPair server_ = make_key_pair();
  KeyPair keys_[kMembers] = {make_key_pair(), make_key_pair(), make_key_pair()};
};

/// What every member does.
std::vector<float> take_part(Group& group) {
  std::vector<float> all;
  for (std::uint64_t round = 0; round < 20; ++round) {
    std::vector<float> values = numbers(group.rank(), 1 + 997 * round, round);
    group.add_up(values);
    all.insert(all.end(), values.begin(), values.end());
    const std::string text = "round " + std::to_string(round);
    std::vector<std::byte> bytes;
    if (group.rank() == 0)
      bytes.assign(std::as_bytes(std::span(text)).begin(), std::as_bytes(std::span(text)).end());
    const std::vector<std::byte> shared = group.share(bytes);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(shared.data()), shared.size()), text);
  }
  return all;
}

TEST_P(GroupTest, SumsHaveTheSameBitsEverywhereInTheOrderOfRanks) {
  std::vector<std::vector<float>> results(kMembers);
  std::vector<std::jthread> peers;
  for (std::uint32_t rank = 1; rank < kMembers; ++rank)
    peers.emplace_back(
        [&, options = peer(rank)] { results[options.rank] = take_part(*join_group(options)); });
  results[0] = take_part(*lead_group(leader()));
  peers.clear();
  std::vector<float> expected;
  for (std::uint64_t round = 0; round < 20; ++round) {
    const std::vector<float> sum = sum_in_order(1 + 997 * round, round);
    expected.insert(expected.end(), sum.begin(), sum.end());
  }
  for (const std::vector<float>& result : results) EXPECT_EQ(result, expected);
}

TEST_P(GroupTest, APeerThatIsKilledAndStartedAnewEndsTheGroupAndJoinsTheNext) {
  const auto work = [options = peer(1)] {
    const auto group = join_group(options);
    std::vector<float> values{1};
    for (;;) group->add_up(values);
  };
  Child killed(work), next(work);
  Child steady([options = peer(2)] {  // as a supervisor would: again, until the run has ended
    for (;;) {
      try {
        const auto group = join_group(options);
        std::vector<float> values{1};
        for (;;) group->add_up(values);
      } catch (const WireError& error) {
        if (error.fault() == WireFault::kClosed) throw;
      }
    }
  });
  killed.go();
  steady.go();
  {
    const auto group = lead_group(leader());
    std::vector<float> values{1};
    group->add_up(values);
    EXPECT_EQ(values, std::vector<float>{3});
    killed.kill_now();
    next.go();
    const WireError error = error_of([&] {
      for (;;) group->add_up(values);
    });
    EXPECT_EQ(error.fault(), WireFault::kRefused) << error.what();
    EXPECT_THAT(error.what(), ::testing::HasSubstr("learner 1 has gone"));
  }
  const auto group = lead_group(leader());
  std::vector<float> values{1};
  group->add_up(values);
  EXPECT_EQ(values, std::vector<float>{3});
  end();
  EXPECT_EQ(steady.join(), 0);
}

TEST_P(GroupTest, AMemberThatComputesSomethingElseEndsIt) {
  std::vector<std::jthread> peers;
  for (std::uint32_t rank = 1; rank < kMembers; ++rank) {
    peers.emplace_back([options = peer(rank)] {
      const auto group = join_group(options);
      std::vector<float> values(options.rank == 1 ? 5 : 6);
      EXPECT_THROW(group->add_up(values), WireError);
    });
  }
  {
    const auto group = lead_group(leader());
    std::vector<float> values(5);
    EXPECT_EQ(error_of([&] { group->add_up(values); }).fault(), WireFault::kMisuse);
  }
  end();
}

TEST_P(GroupTest, WhoDoesNotJoinOrAnswerIsWaitedForAWhile) {
  LeaderOptions impatient = leader();
  impatient.size = 2;
  impatient.patience = 300ms;
  EXPECT_THAT(error_of([&] { lead_group(impatient); }).what(),
              ::testing::HasSubstr("1 learners have not joined"));
  impatient.patience = 5s;
  forget_the_first_leader();
  std::jthread peer_that_waits([options = peer(1)] {
    const auto group = join_group(options);
    EXPECT_EQ(error_of([&] { group->share({}); }).fault(), WireFault::kClosed);
  });
  {
    const auto group = lead_group(impatient);
    std::vector<float> values(5);
    EXPECT_EQ(error_of([&] { group->add_up(values); }).fault(), WireFault::kTimeout);
    end();
  }
}

// A leader whose first update is hours away writes its file only then.
TEST_P(GroupTest, ALeadThatIsNotThereYetIsWaitedForLongerThanPatience) {
  PeerOptions early = peer(1);
  early.size = 2;
  early.patience = 2s;
  early.locate = [locate = early.locate, looks = std::make_shared<int>(11)] {  // five a second
    if (--*looks >= 0) throw FileError("is not there yet", "learners.json", "");
    return locate();
  };
  std::jthread peer_that_waits([&] {
    std::vector<float> values{2};
    join_group(early)->add_up(values);
    EXPECT_EQ(values, std::vector<float>{3});
  });
  LeaderOptions of_two = leader();
  of_two.size = 2;
  std::vector<float> values{1};
  lead_group(of_two)->add_up(values);
  EXPECT_EQ(values, std::vector<float>{3});
}

TEST_P(GroupTest, AHandshakeOrAHelloThatIsCutOnItsWayIsSaidAgain) {
  for (const std::size_t bytes : {20, 5'000}) {
    const std::uint16_t port = free_ports(1);
    Two two = over_proxy(port);
    two.first.config = two.second.config = std::string(10'000, 'c');
    std::atomic<bool> joined = false;
    std::counting_semaphore<> looks(0);  // of who has joined, and hears nothing yet
    two.second.locate = [&, locate = two.second.locate] {
      if (joined) looks.release();
      return locate();
    };
    TcpProxy proxy(port);
    proxy.cut_after(TcpProxy::kToLearner, bytes);
    std::jthread peer([&] {
      const auto group = join_group(two.second);
      joined = true;
      EXPECT_EQ(group->share({}).size(), 1);
      std::vector<float> values{2};
      group->add_up(values);
      EXPECT_EQ(values, std::vector<float>{3});
    });
    const auto group = lead_group(two.first);
    looks.acquire();
    group->share({std::byte{1}});
    std::vector<float> values{1};
    group->add_up(values);
    EXPECT_EQ(values, std::vector<float>{3});
    EXPECT_TRUE(proxy.was_cut(TcpProxy::kToLearner));
    forget_the_first_leader();
  }
}

TEST_P(GroupTest, AConnectionThatIsCutAmidValuesEndsItAtOnce) {
  constexpr std::size_t kValues = 100'000;
  const std::uint16_t port = free_ports(1);
  const Two two = over_proxy(port);
  TcpProxy proxy(port);
  std::jthread peer([&] {
    std::vector<float> values(kValues);
    for (const TcpProxy::To to : TcpProxy::kBoth) {
      const auto group = join_group(two.second);
      group->add_up(values);
      proxy.cut_after(to, kValues * sizeof(float) / 2);
      EXPECT_EQ(error_of([&] { group->add_up(values); }).fault(), WireFault::kRefused) << to;
    }
    EXPECT_EQ(error_of([&] { join_group(two.second); }).fault(), WireFault::kClosed);
  });
  for (int groups = 0; groups < 2; ++groups) {
    const auto group = lead_group(two.first);
    std::vector<float> values(kValues);
    const WireError error = error_of([&] {
      for (;;) group->add_up(values);
    });
    EXPECT_THAT(error.what(), ::testing::HasSubstr("learner 1 has gone"));
  }
  end();
}

TEST_P(GroupTest, NeitherAStrangerNorAnActorJoins) {
  if (GetParam()) GTEST_SKIP() << "plain transport knows no strangers";
  LeaderOptions impatient = leader();
  impatient.size = 2;
  impatient.patience = 1s;
  for (const KeyPair& keys : {make_key_pair(), other_}) {
    PeerOptions wrong = peer(1);
    wrong.keys = keys;
    wrong.patience = 1s;
    std::jthread tries([&] { EXPECT_EQ(error_of([&] { join_group(wrong); }).fault(), WireFault::kTimeout); });
    EXPECT_EQ(error_of([&] { lead_group(impatient); }).fault(), WireFault::kTimeout);
  }
}

TEST_P(GroupTest, OfAnotherConfigIsRefused) {
  PeerOptions other = peer(1);
  other.config = "another";
  LeaderOptions options = leader();
  options.size = 2;
  std::jthread tries([&] { EXPECT_THROW(join_group(other), WireError); });
  EXPECT_EQ(error_of([&] { lead_group(options); }).fault(), WireFault::kMisuse);
  end();
}

TEST_P(GroupTest, WhoIsAskedToStopWaitsNoLonger) {
  LeaderOptions options = leader();
  options.size = 2;
  options.stopped = [] { return true; };
  options.patience = 100ms;  // shorter than for who is asked to stop
  EXPECT_EQ(error_of([&] { lead_group(options); }).fault(), WireFault::kClosed);
}

INSTANTIATE_TEST_SUITE_P(Transports, GroupTest, ::testing::Values(false, true),
                         [](const auto& plain) { return plain.param ? "plain" : "secured"; });

}  // namespace
}
