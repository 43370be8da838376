// Jobs whose processes are killed, stopped, cut off and starved of disk at random: they go on, and their
// books balance.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <numeric>
#include <random>
#include <thread>

#include "core/base/rng.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using testing::json_of;
using testing::Running;
using testing::train;

/// Longer than an actor's silence may be, shorter than the supervisor's patience.
constexpr std::chrono::milliseconds kStopped{1500};
/// A worker that dies sooner than 2 s after its start counts as one that cannot run.
constexpr int kCheckpointsBetween = 4;
/// Files of a process.
constexpr int kMostOpen = 1024;

/// For each job.
int faults() {
  const char* wanted = std::getenv("REGRAFT_CHAOS");  // of both, as `tests/run.sh --chaos N` has it
  return wanted == nullptr ? 2 : (std::atoi(wanted) + 1) / 2;
}

/// The parameter: wire.relay.
class ChaosTest : public ::testing::TestWithParam<std::string> {
 protected:
  void start(bool resumed) {
    std::vector<std::string> more{"--set", "train.learners=2",
                                  "--set", "train.updates=1000000",
                                  "--set", "actors.count=2",
                                  "--set", "wire.actor_timeout_s=1",
                                  "--set", "train.checkpoint_minutes=0.01",
                                  "--set", "wire.relay=" + GetParam()};
    if (resumed) more.emplace_back("--resume");
    job_ = std::make_unique<Running>(train(run(), std::move(more)));
  }
  std::uint64_t newest_checkpoint() const {
    constexpr std::string_view kPrefix = "checkpoint-";
    std::uint64_t newest = 0;
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(run() / "checkpoints", missing))
      if (const std::string name = entry.path().filename(); name.starts_with(kPrefix))
        newest = std::max<std::uint64_t>(newest, std::stoull(name.substr(kPrefix.size())));
    return newest;
  }
  /// Until it has saved some times beyond what was saved, which it does as long as it learns.
  void expect_that_it_goes_on() {
    const std::uint64_t before = newest_checkpoint();
    for (int saved = 0; saved < kCheckpointsBetween;) {
      ASSERT_TRUE(job_->wait_for_line("checkpoint ")) << job_->seen();
      saved += newest_checkpoint() > before ? 1 : 0;
    }
  }

  bool relayed() const { return GetParam() != "off"; }
  pid_t relay() { return one_of(job_->workers("relay")); }
  pid_t actor() { return one_of(job_->workers("actor")); }
  pid_t peer() { return one_of(job_->workers("--rank")); }
  pid_t learner() {
    std::vector<pid_t> first = job_->workers("learner");
    for (const pid_t peer : job_->workers("--rank")) std::erase(first, peer);
    return one_of(first);
  }
  pid_t one_of(const std::vector<pid_t>& all) { return all.empty() ? 0 : all[rng_.below(all.size())]; }

  using Who = pid_t (ChaosTest::*)();
  /// Does it to such a process, once that succeeds: it may just have been started anew.
  void happens_to(Who who, const std::function<bool(pid_t)>& fault) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < until)
      if (const pid_t pid = (this->*who)(); pid > 0 && fault(pid)) return;
    FAIL() << "there is no such process, or it may not be touched\n" << job_->seen();
  }
  void kill_one(Who who) {
    ASSERT_NO_FATAL_FAILURE(happens_to(who, [](pid_t pid) { return kill(pid, SIGKILL) == 0; }));
    ASSERT_TRUE(job_->wait_for_line(": killed by signal 9")) << job_->seen();
  }
  /// Silent as on a host that is cut off.
  static bool stop_for_a_while(pid_t pid) {
    if (kill(pid, SIGSTOP) != 0) return false;
    std::this_thread::sleep_for(kStopped);
    kill(pid, SIGCONT);
    return true;
  }
  /// No file of it may grow any more.
  static bool fill_disk(pid_t pid) {
    const rlimit full{0, RLIM_INFINITY};
    return prlimit(pid, RLIMIT_FSIZE, &full, nullptr) == 0;
  }
  /// All its connections end, as those of a host do whose network fails for a moment. It still listens.
  static bool cut_links(pid_t pid) {
    bool cut = false;
    const FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    for (int number = STDERR_FILENO + 1; number < kMostOpen; ++number) {
      const FileDescriptor socket(static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), number, 0)));
      int listens = 1;  // or is no socket
      socklen_t size = sizeof listens;
      getsockopt(socket.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
      cut |= listens == 0 && shutdown(socket.get(), SHUT_RDWR) == 0;
    }
    return cut;
  }
  void kill_all() {
    job_->signal(SIGKILL);
    EXPECT_EQ(job_->finish().signal, SIGKILL);
    start(true);
  }
  void stop_and_resume() {
    job_->signal(SIGTERM);
    EXPECT_EQ(job_->finish().code, 0) << job_->seen();
    start(true);
  }

  struct Fault {
    std::string name;
    std::function<void()> happens;
    int times = 0;
  };
  std::vector<Fault> all_faults() {
    std::vector<Fault> all{
        {"the supervisor is killed", [this] { kill_all(); }},
        {"the job is stopped and resumed", [this] { stop_and_resume(); }},
        {"the disk of the first learner is full", [this] { happens_to(&ChaosTest::learner, fill_disk); }}};
    std::vector<std::pair<std::string, Who>> processes{{"an actor", &ChaosTest::actor},
                                                       {"the first learner", &ChaosTest::learner},
                                                       {"the other learner", &ChaosTest::peer}};
    if (relayed()) processes.emplace_back("the relay", &ChaosTest::relay);
    for (const auto& process : processes) {
      const Who who = process.second;
      all.push_back({process.first + " is silent", [this, who] { happens_to(who, stop_for_a_while); }});
      all.push_back({"links of " + process.first + " are cut", [this, who] { happens_to(who, cut_links); }});
      all.push_back({process.first + " is killed", [this, who] { kill_one(who); }});
    }
    return all;
  }
  /// Each kind once, in random order, and again. First comes the death of a relay: short runs have it too.
  Fault& next_fault(std::vector<Fault>& all) {
    if (deck_.empty()) {
      deck_.resize(all.size());
      std::iota(deck_.begin(), deck_.end(), std::size_t{0});
      std::shuffle(deck_.begin(), deck_.end() - (relayed() && happened_ == 0 ? 1 : 0), rng_);
    }
    ++happened_;
    const std::size_t next = deck_.back();
    deck_.pop_back();
    return all[next];
  }

  fs::path run() const { return dir_.path() / "run"; }
  int processes_left() const {
    int left = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline");
      const std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      left += line.find(run().string()) != std::string::npos ? 1 : 0;
    }
    return left;
  }

  TempDir dir_;
  const std::uint64_t seed_ = std::random_device{}();
  Rng rng_{seed_, "chaos"};
  std::vector<std::size_t> deck_;
  int happened_ = 0;
  std::unique_ptr<Running> job_;
};

TEST_P(ChaosTest, WhateverDiesTheJobGoesOnAndItsBooksBalance) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  start(false);
  ASSERT_NO_FATAL_FAILURE(expect_that_it_goes_on());
  std::vector<Fault> all = all_faults();
  while (happened_ < faults()) {
    Fault& fault = next_fault(all);
    std::printf("fault %d: %s\n", happened_, fault.name.c_str());
    SCOPED_TRACE(fault.name);
    ASSERT_NO_FATAL_FAILURE(fault.happens());
    ++fault.times;
    ASSERT_NO_FATAL_FAILURE(expect_that_it_goes_on());
  }
  job_->signal(SIGTERM);
  EXPECT_EQ(job_->finish().code, 0) << job_->seen();
  const nlohmann::json summary = json_of(run() / "summary.json");
  EXPECT_TRUE(summary.at("ticket_counts_balance"));
  EXPECT_EQ(summary.at("trained_twice"), 0);
  EXPECT_GT(summary.at("updates"), 0);
  EXPECT_GE(summary.at("played_steps"), summary.at("steps"));
  EXPECT_EQ(processes_left(), 0);
  for (const Fault& fault : all) std::printf("%4d x %s\n", fault.times, fault.name.c_str());
  std::printf("tickets: %s\n", summary.at("tickets").dump().c_str());
  for (const auto& entry : fs::recursive_directory_iterator(run()))
    EXPECT_EQ(entry.path().filename().string().find(".aside"), std::string::npos) << entry.path();
}

INSTANTIATE_TEST_SUITE_P(Relays, ChaosTest, ::testing::Values("off", "all"),
                         [](const auto& relays) { return relays.param; });

}  // namespace
}
