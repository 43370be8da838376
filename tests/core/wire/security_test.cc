#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/wire/run_fixture.h"

// Who may join and who may not, over real sockets.

namespace regraft::wire {
namespace {

using namespace testing_support;

class Security : public testing::TestWithParam<TestRun::Over> {};

TEST_P(Security, AnUnknownKeyIsNotLetIn) {
  TestRun run(GetParam());
  run.start();
  LinkOptions options = run.actor("a");
  options.keys = make_key_pair();
  const WireError error = error_of([&] { Link(options, run.clock()); });
  EXPECT_EQ(error.fault(), WireFault::kKey);
  EXPECT_THAT(error.what(), testing::HasSubstr("authorise"));
  EXPECT_TRUE(run.hub().status().actors.empty());
}

TEST_P(Security, ALearnerWithAnotherKeyIsNotTrusted) {
  TestRun run(GetParam());
  run.start();
  LinkOptions options = run.actor("a");
  RunInfo forged = run.hub().run_info();
  forged.server_key = make_key_pair().public_key;
  options.locate = [forged] { return forged; };
  const WireError error = error_of([&] { Link(options, run.clock()); });
  EXPECT_EQ(error.fault(), WireFault::kKey);
  EXPECT_THAT(error.what(), testing::HasSubstr("expected key"));
}

TEST_P(Security, AnActorWithoutEncryptionIsNotLetIn) {
  TestRun run(GetParam());
  run.start();
  LinkOptions options = run.actor("a");
  RunInfo plain = run.hub().run_info();
  plain.server_key.clear();
  options.locate = [plain] { return plain; };
  options.connect_timeout_ms = 1000;
  const WireError error = error_of([&] { Link(options, run.clock()); });
  EXPECT_TRUE(error.fault() == WireFault::kKey || error.fault() == WireFault::kTimeout) << error.what();
  EXPECT_TRUE(run.hub().status().actors.empty());
}

TEST_P(Security, ARevokedKeyEndsTheActorAndItsTicketsAreLost) {
  TestRun run(GetParam());
  run.start();
  run.hub().publish(1, std::vector<std::byte>(100));
  Link link(run.actor("a"), run.clock());
  ASSERT_TRUE(link.next_ticket(kLong));
  EXPECT_EQ(link.fetch(1).bytes.size(), 100u);
  run.work_left = 0;
  ASSERT_TRUE(AuthorisedKeys(run.options().authorised).revoke("a"));
  const WireError error = error_of([&] {
    while (true) link.next_ticket(kLong);
  });
  EXPECT_EQ(error.fault(), WireFault::kKey);
  EXPECT_THAT(error.what(), testing::HasSubstr("revoked"));
  EXPECT_TRUE(run.hub().wait_for([](const HubStatus& status) { return status.outstanding == 0; }, kLong));
  EXPECT_GE(run.ledger().ticket_counts().total().lost, 1u);
  EXPECT_THROW(link.fetch(1), WireError);
}

TEST_P(Security, AKeyAddedWhileTheLearnerRunsIsLetIn) {
  TestRun run(GetParam());
  run.start();
  const LinkOptions later = run.actor("later");  // adds its key now
  Link link(later, run.clock());
  EXPECT_TRUE(link.next_ticket(kLong));
}

INSTANTIATE_TEST_SUITE_P(Over, Security, testing::Values(TestRun::Over::kIpc, TestRun::Over::kTcp),
                         transport_name);

TEST(Joining, AnotherRunAndAnOlderWorkerAreRefusedWithTheReason) {
  TestRun run;
  run.start();
  LinkOptions options = run.actor("a", 5);
  RunInfo other = run.hub().run_info();
  other.run_id = "other";
  options.locate = [other] { return other; };
  const WireError wrong = error_of([&] { Link(options, run.clock()); });
  EXPECT_EQ(wrong.fault(), WireFault::kRefused);
  EXPECT_THAT(wrong.what(), testing::HasSubstr("wrong run id"));

  options.locate = [path = run.run_file()] { return RunInfo::load(path); };
  const Link link(options, run.clock());
  options.incarnation = 4;
  const WireError old = error_of([&] { Link(options, run.clock()); });
  EXPECT_EQ(old.fault(), WireFault::kRefused);
  EXPECT_THAT(old.what(), testing::HasSubstr("incarnation 5"));
}

TEST(Joining, AnOldGenerationIsToldTheNewOneAndJoinsWithIt) {
  TestRun run;
  run.start();
  const RunInfo old = run.hub().run_info();
  run.end();
  run.start();
  LinkOptions options = run.actor("a");
  options.locate = [old] { return old; };
  const Link link(options, run.clock());
  EXPECT_EQ(link.generation(), old.generation + 1);
}

TEST(Joining, ANewerWorkerReplacesTheOldOne) {
  TestRun run;
  run.start();
  LinkOptions options = run.actor("a", 1);
  Link old(options, run.clock());
  ASSERT_TRUE(old.next_ticket(kLong));
  options.incarnation = 2;
  const Link fresh(options, run.clock());
  EXPECT_TRUE(run.hub().wait_for(
      [](const HubStatus& s) { return s.actors.size() == 1 && s.actors[0].info.incarnation == 2; }, kLong));
  EXPECT_GE(run.ledger().ticket_counts().total().lost, 1u);
  EXPECT_EQ(error_of([&] {
              while (true) old.next_ticket(kLong);
            }).fault(),
            WireFault::kRefused);
}

TEST(Joining, WhereNobodyListensItTimesOutAndSaysWhere) {
  TestRun run(TestRun::Over::kTcp);
  run.start();
  LinkOptions options = run.actor("a");
  const RunInfo info = run.hub().run_info();
  run.end();
  options.locate = [info] { return info; };
  options.connect_timeout_ms = 500;
  const WireError error = error_of([&] { Link(options, run.clock()); });
  EXPECT_EQ(error.fault(), WireFault::kTimeout);
  EXPECT_THAT(error.what(), testing::HasSubstr(info.tcp));

  options.locate = [path = run.folder() / "none.json"] { return RunInfo::load(path); };
  start_log("info", "a", run.folder() / "log");
  EXPECT_EQ(error_of([&] { Link(options, run.clock()); }).fault(), WireFault::kTimeout);
  start_log("warning", "");
  EXPECT_THAT(read_file(run.folder() / "log"), testing::HasSubstr("a: waits 0.5 s at most for a learner: "));
}

TEST(Joining, ASecuredRunNeedsAKey) {
  TestRun run;
  run.start();
  LinkOptions options = run.actor("a");
  options.keys = {};
  EXPECT_EQ(error_of([&] { Link(options, run.clock()); }).fault(), WireFault::kKey);
}

class Listening : public testing::Test {
 protected:
  WireError error_with(const HubOptions& options) {
    return error_of([&] {
      Hub(
          options, run_.ledger(), [](const ActorInfo&) { return std::nullopt; }, run_.clock());
    });
  }
  TestRun run_{TestRun::Over::kTcp};
};

TEST_F(Listening, APortInUseIsAClearError) {
  run_.start();
  HubOptions options = run_.options();
  options.bind = {run_.hub().run_info().tcp};
  const WireError error = error_with(options);
  EXPECT_EQ(error.fault(), WireFault::kAddress);
  EXPECT_THAT(error.what(), testing::HasSubstr("port is in use"));
}

TEST_F(Listening, AnIpcPathInUseIsNotTakenAwayButAStaleOneIs) {
  TestRun ipc;
  ipc.start();
  run_.start();
  HubOptions options = run_.options();
  options.bind = {ipc.hub().run_info().ipc};
  EXPECT_THAT(error_with(options).what(), testing::HasSubstr("another process listens"));

  const fs::path stale = run_.folder() / "stale.ipc";
  write_file_atomic(stale, std::string_view(""));
  options.bind = {"ipc://" + stale.string()};
  EXPECT_NO_THROW(Hub(
      options, run_.ledger(), [](const ActorInfo&) { return std::nullopt; }, run_.clock()));
}

// Whether it says goodbye or not.
TEST_F(Listening, AHubThatEndsLeavesNoSocketFiles) {
  for (const bool goodbye : {true, false}) {
    TestRun ipc;
    ipc.start();
    const auto sockets = [&] {
      return std::ranges::count_if(fs::directory_iterator(ipc.run_file().parent_path()),
                                   [](const auto& entry) { return entry.is_socket(); });
    };
    EXPECT_EQ(sockets(), 3) << "results, weights, announcements";
    if (goodbye) ipc.hub().stop();
    ipc.end();
    EXPECT_EQ(sockets(), 0);
  }
}

TEST_F(Listening, PlainTransportIsForThisMachineOnly) {
  run_.start();
  HubOptions options = run_.options();
  options.plain = true;
  for (const char* open : {"tcp://*:*", "tcp://0.0.0.0:*"}) {
    options.bind = {open};
    EXPECT_THAT(error_with(options).what(), testing::HasSubstr("plain transport")) << open;
  }
  options.plain = false;
  options.server_keys = {};
  EXPECT_EQ(error_with(options).fault(), WireFault::kKey);
  options.bind = {};
  options.plain = true;
  EXPECT_EQ(error_with(options).fault(), WireFault::kAddress);
}

}  // namespace
}
