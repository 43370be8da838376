#include "core/wire/run_info.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/wire/keys.h"
#include "core/wire/run_url.h"

namespace regraft::wire {
namespace {

RunInfo sample() {
  return {"0123456789abcdef",
          3,
          "node-1",
          "node-1/boot-1",
          "tcp://node-1:5000",
          "ipc:///tmp/regraft-test.ipc",
          make_key_pair().public_key};
}

TEST(RunInfo, SurvivesFileAndUrl) {
  const TempDir folder;
  const RunInfo info = sample();
  info.save(folder.path() / "run.json");
  EXPECT_EQ(RunInfo::from_url_or_file((folder.path() / "run.json").string()), info);

  RunInfo from_url = RunInfo::from_url_or_file(testing_support::url_of(info));
  EXPECT_TRUE(from_url.ipc.empty());
  EXPECT_EQ(from_url.tcp, info.tcp);
  EXPECT_EQ(from_url.run_id, info.run_id);
  EXPECT_EQ(from_url.generation, 3u);
  EXPECT_EQ(from_url.server_key, info.server_key);
}

TEST(RunInfo, RefusesWhatIsNotARunFile) {
  const std::string good = sample().to_json();
  EXPECT_NO_THROW(RunInfo::from_json(good, "test"));
  for (std::size_t length = 0; length + 2 < good.size(); length += 3) {
    EXPECT_THROW(RunInfo::from_json(good.substr(0, length), "test"), WireError) << length;
  }
  for (const char* text : {"{}", "[]", "3", "null", "{\"schema\": 1}"}) {
    EXPECT_THROW(RunInfo::from_json(text, "test"), WireError) << text;
  }
}

TEST(RunInfo, ASecuredRunCannotBeTurnedIntoAPlainOneByLosingItsKey) {
  RunInfo info = sample();
  std::string text = info.to_json();
  text.replace(text.find(info.server_key), info.server_key.size(), "");
  EXPECT_THROW(RunInfo::from_json(text, "test"), WireError);
}

TEST(RunInfo, RefusesBrokenUrls) {
  const std::string good = testing_support::url_of(sample());
  EXPECT_NO_THROW(RunInfo::from_url(good));
  for (const char* url : {"http://x:1/r", "regraft://host", "regraft://host:99999/run", "regraft://host:1/",
                          "regraft://host:1/run?key=12", "regraft://host:1/run?colour=red",
                          "regraft://:1/run", "regraft://host:1/run?generation=x"}) {
    EXPECT_THROW(RunInfo::from_url(url), WireError) << url;
  }
}

TEST(RunInfo, ChoosesIpcOnTheLearnersOwnMachineOnly) {
  const TempDir folder;
  RunInfo info = sample();
  info.ipc = "ipc://" + (folder.path() / "socket").string();
  EXPECT_EQ(info.endpoint_from("node-1/boot-1"), info.tcp) << "no socket is there";
  write_file_atomic(folder.path() / "socket", std::string_view(""));
  EXPECT_EQ(info.endpoint_from("node-1/boot-1"), info.ipc);
  EXPECT_EQ(info.endpoint_from("node-1/boot-2"), info.tcp) << "another machine of that name";
  info.tcp.clear();
  EXPECT_THROW(info.endpoint_from("node-1/boot-2"), WireError);
}

TEST(RunInfo, AContainerIsOnItsMachineAndHasItsOwnNetwork) {
  const std::string machine = own_machine(), network = own_network();
  EXPECT_TRUE(machine.starts_with(own_host_name() + "/"));
  EXPECT_GT(machine.size(), own_host_name().size() + 1);
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) _exit(2);
    _exit(own_machine() == machine && own_network() != network ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "no namespaces may be made here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(own_network(), network);
}

TEST(Endpoint, IsCheckedBeforeItIsUsed) {
  for (const char* good : {"tcp://*:*", "tcp://127.0.0.1:5000", "tcp://[::1]:0", "ipc:///tmp/x"}) {
    EXPECT_NO_THROW(check_endpoint(good)) << good;
  }
  for (const char* bad : {"", "tcp://", "tcp://host", "tcp://host:", "tcp://host:70000", "tcp://:5000",
                          "ipc://x", "udp://host:1", "inproc://x"}) {
    EXPECT_THROW(check_endpoint(bad), WireError) << bad;
  }
  EXPECT_THROW(check_endpoint("ipc:///" + std::string(200, 'x')), WireError);
  EXPECT_NO_THROW(check_endpoint(default_ipc_endpoint("0123456789abcdef") + ".announce"));
}

TEST(Endpoint, LoopbackIsWhatNoOtherMachineHears) {
  for (const char* own :
       {"ipc:///tmp/x", "tcp://127.0.0.1:1", "tcp://127.9.9.9:1", "tcp://localhost:1", "tcp://[::1]:1"}) {
    EXPECT_TRUE(is_loopback(own)) << own;
  }
  for (const char* open :
       {"tcp://*:1", "tcp://0.0.0.0:1", "tcp://10.0.0.1:1", "tcp://127.0.0.1.example.org:1",
        "tcp://localhost.example.org:1", "tcp://[::]:1"}) {
    EXPECT_FALSE(is_loopback(open)) << open;
  }
}

}  // namespace
}
