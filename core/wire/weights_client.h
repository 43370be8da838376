#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/wire/counters.h"
#include "core/wire/frame.h"
#include "core/wire/keys.h"
#include "core/wire/socket.h"
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
  };

  WeightsClient(Context& context, const Options& options) : context_(context), options_(options) {}

  /// Version 0: the latest. `check_open` is called while it waits, and throws where the run has ended. Throws
  /// WireError: kGone, kCorrupt, kTimeout.
  Weights fetch(const std::string& endpoint, const KeyPair& keys, const std::string& server_key,
                std::uint64_t version, const std::function<void()>& check_open);
  TransportCounters counters() const { return counters_.read(); }

 private:
  struct Chunk {
    WeightsChunk header;
    Frame bytes;
  };

  void open(const std::string& endpoint, const KeyPair& keys, const std::string& server_key);
  Weights fetch_now(std::uint64_t version, const std::function<void()>& check_open);
  void request(std::uint64_t version, std::uint32_t chunk);
  Chunk receive_chunk(std::uint64_t version, const std::function<void()>& check_open);

  Context& context_;
  const Options options_;
  std::string endpoint_, server_key_;
  std::unique_ptr<zmq::socket_t> socket_;  // none before the first fetch and after a failed one
  LiveCounters counters_;
};

}  // namespace regraft::wire
