#pragma once

#include <optional>
#include <string>
#include <thread>

#include "core/wire/relay.h"
#include "core/wire/run_fixture.h"

namespace regraft::wire::testing_support {

inline RelayOptions relay_options(TestRun& run, std::uint64_t incarnation = 1) {
  static const KeyPair keys = make_key_pair();  // of all its incarnations
  RelayOptions options;
  options.upstream = run.actor("relay", incarnation);
  options.upstream.keys = keys;
  if (!run.options().plain) AuthorisedKeys(run.options().authorised).add("relay", keys.public_key);
  options.upstream.give_up_after_ms = 60000;
  options.hub = run.options();
  options.hub.bind = {run.options().bind.front().starts_with("tcp")
                          ? "tcp://127.0.0.1:*"
                          : "ipc://" + (run.folder() / "relay.ipc").string()};
  options.hub.dispatch.max_tickets_per_actor = 2;
  options.run_file = run.folder() / "relay.json";
  return options;
}

/// A relay on a thread of its own, and how it ended.
class Relay {
 public:
  Relay(const RelayOptions& options, const Clock& clock)
      : thread_([this, options, &clock](const std::stop_token& stop) {
          try {
            run_relay(options, clock, stop);
          } catch (const WireError& error) {
            fault = error.fault();
          }
        }) {}
  void stop() {
    thread_.request_stop();
    join();
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  std::optional<WireFault> fault;

 private:
  std::jthread thread_;
};

/// An actor that joins the relay.
inline LinkOptions behind(TestRun& run, const std::string& name) {
  LinkOptions options = run.actor(name);
  options.locate = [path = run.folder() / "relay.json"] { return RunInfo::load(path); };
  options.give_up_after_ms = 60000;
  return options;
}

}
