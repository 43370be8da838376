#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/file.h"
#include "core/wire/hub.h"
#include "core/wire/ledger.h"
#include "core/wire/link.h"

namespace regraft::wire::testing_support {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// While it lives, no file of this process grows beyond `size_bytes`: what a full disk does to the journal.
class FullDisk {
 public:
  explicit FullDisk(std::uint64_t size_bytes) : old_handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit full = before_;
    full.rlim_cur = size_bytes;
    setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, old_handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  sighandler_t old_handler_;
};

/// Waits are on conditions; this is the limit that only a failure reaches.
inline constexpr auto kLong = 30s;

/// What nobody tells of, as a file that another process writes, is looked at again and again; false if it did
/// not come to hold.
inline bool comes_to_hold(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + kLong;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

inline std::vector<Frame> payload(std::uint64_t seed, std::size_t frames, std::size_t size) {
  std::vector<Frame> all;
  for (std::size_t i = 0; i < frames; ++i)
    all.push_back(Frame::adopt(std::vector<std::uint64_t>(size / 8, seed + i)));
  return all;
}

/// The system's, which a test makes jump ahead.
class JumpingClock : public SystemClock {
 public:
  std::int64_t steady_ns() const override { return SystemClock::steady_ns() + ahead_ns_; }
  void jump(std::chrono::nanoseconds by) { ahead_ns_ += by.count(); }

 private:
  std::atomic<std::int64_t> ahead_ns_{0};
};

// A run folder with its keys, and as many hubs after another as a test wants.
class TestRun {
 public:
  enum class Over { kIpc, kTcp, kPlainTcp };

  explicit TestRun(Over over = Over::kIpc) : server_(load_or_make_key_pair(folder_.path() / "server.key")) {
    fs::create_directory(folder());
    options_.plain = over == Over::kPlainTcp;
    if (!options_.plain) {
      options_.server_keys = server_;
      options_.authorised = folder_.path() / "keys";
    }
    options_.bind = {over == Over::kIpc ? "ipc://" + (folder_.path() / "hub.ipc").string()
                                        : "tcp://127.0.0.1:*"};
    options_.dispatch.heartbeat_ms = 50;
    options_.dispatch.actor_timeout_ms = 3000;
    options_.dispatch.ticket_bytes = 1 << 20;
  }

  Hub& start() {
    ledger_ = std::make_unique<Ledger>(journal(), "run");
    hub_ = std::make_unique<Hub>(
        options_, *ledger_, [this](const ActorInfo&) { return next_spec(); }, clock_);
    hub_->run_info().save(run_file());
    return *hub_;
  }
  void end() {
    hub_.reset();
    ledger_.reset();
  }

  LinkOptions actor(const std::string& name, std::uint64_t incarnation = 1) {
    LinkOptions options;
    options.locate = [path = run_file()] { return RunInfo::load(path); };
    options.keys = make_key_pair();
    if (!options_.plain) AuthorisedKeys(options_.authorised).add(name, options.keys.public_key);
    options.actor = name;
    options.kind = "policy";
    options.incarnation = incarnation;
    options.connect_timeout_ms = 20000;
    options.fetch_timeout_ms = 60000;  // the successor of a killed relay may have none yet
    return options;
  }

  fs::path run_file() const { return folder_.path() / "run.json"; }
  fs::path journal() const { return folder_.path() / "journal"; }
  fs::path folder() const { return folder_.path() / "run"; }  // no lock but its users' is on it
  HubOptions& options() { return options_; }
  Hub& hub() { return *hub_; }
  Ledger& ledger() { return *ledger_; }
  const Clock& clock() const { return clock_; }
  void jump(std::chrono::nanoseconds by) { clock_.jump(by); }
  std::atomic<std::uint64_t> work_left{~0ull};
  std::uint32_t segment_length = 32;  // of tickets, as the next one; set before start()
  std::uint64_t weight_version = 0;

 private:
  std::optional<TicketSpec> next_spec() {
    if (work_left == 0) return std::nullopt;
    --work_left;
    return TicketSpec{.seed = ++seed_,
                      .weight_version = weight_version,
                      .segment_length = segment_length,
                      .sequence = seed_};
  }

  TempDir folder_{"rw"};
  KeyPair server_;
  HubOptions options_;
  JumpingClock clock_;
  std::uint64_t seed_ = 0;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<Hub> hub_;
};

inline std::string transport_name(const testing::TestParamInfo<TestRun::Over>& over) {
  if (over.param == TestRun::Over::kIpc) return "ipc";
  return over.param == TestRun::Over::kTcp ? "tcp" : "plain";
}

inline WireError error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const WireError& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return WireError(WireFault::kMisuse, "no error", "", "");
}

}
