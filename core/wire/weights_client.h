#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "core/wire/counters.h"
#include "core/wire/frame.h"
#include "core/wire/keys.h"
#include "core/wire/link_state.h"
#include "core/wire/socket.h"
#include "core/wire/socket_events.h"
#include "core/wire/weights.h"
#include "core/wire/weights_store.h"

// Inside core/wire only.

namespace regraft::wire {

/// Fetches weight versions chunk by chunk, a few requests ahead, and checks their hash. Used by one thread.
class WeightsClient {
 public:
  struct Options {
    std::uint32_t chunk_timeout_ms = 10000;
    std::uint64_t max_bytes = std::uint64_t{1} << 30;
    std::stop_token stopped;
  };

  WeightsClient(Context& context, const LinkState& link, const KeyPair& keys, const Options& options)
      : context_(context), link_(link), keys_(keys), options_(options) {}

  /// Version 0: the latest. From the beginning again where the connection is lost, or the link's. Throws what
  /// ended the link; WireError: kGone, kCorrupt, kTimeout, kClosed where a stop was asked for.
  Weights fetch(std::uint64_t version);
  TransportCounters counters() const { return counters_.read(); }

 private:
  struct Chunk {
    WeightsChunk header;
    Frame bytes;
  };

  /// The same, once; none where it has to be asked for again.
  std::optional<Weights> fetch_once(std::uint64_t version);
  void open();
  void close();
  void request(std::uint64_t version, std::uint32_t chunk);
  std::optional<Chunk> receive_chunk(std::uint64_t version);
  bool lost();
  [[noreturn]] void throw_gone(std::uint64_t version) const;
  void be_patient();

  Context& context_;
  const LinkState& link_;
  const KeyPair keys_;
  const Options options_;
  WeightsPlace place_;
  std::chrono::steady_clock::time_point until_;
  bool none_yet_ = false;                  // as its learner said last
  std::unique_ptr<zmq::socket_t> socket_;  // none before the first fetch and after a failed one
  std::unique_ptr<SocketEvents> events_;
  LiveCounters counters_;
};

}
