#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "core/wire/socket.h"
#include "core/wire/weights_store.h"

// Inside core/wire only.

namespace regraft::wire {

inline constexpr std::uint32_t kWeightsChunkBytes = 1u << 20;

/// Hands out weight versions by chunks (ROUTER) and announces new ones (PUB), on a thread of its own, so that
/// results never wait behind weights. The store outlives it. Any thread may call announce().
class WeightsServer {
 public:
  struct Endpoints {
    std::vector<std::string> weights;
    std::vector<std::string> announce;
  };

  /// Binds; throws WireError(kAddress). `keys`, if any, are asked at every request, so that a revoked actor
  /// gets no more.
  WeightsServer(Context& context, const KeyPair& server, const AuthorisedKeys* keys,
                const Endpoints& endpoints, const WeightsStore& store);
  ~WeightsServer();
  WeightsServer(const WeightsServer&) = delete;
  WeightsServer& operator=(const WeightsServer&) = delete;

  /// As bound, with their ports.
  const Endpoints& endpoints() const { return bound_; }
  /// The store has a new version.
  void announce() { wake_.signal(); }
  TransportCounters counters() const { return counters_.read(); }

 private:
  void serve(const std::stop_token& stop);
  void answer(const Incoming& request);
  void announce_latest();

  const AuthorisedKeys* keys_;
  const WeightsStore& store_;
  zmq::socket_t router_, publisher_;
  SocketFiles files_;
  Endpoints bound_;
  Wake wake_;
  LiveCounters counters_;
  std::uint64_t announced_ = 0;
  std::jthread thread_;
};

}
