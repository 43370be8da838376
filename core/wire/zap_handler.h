#pragma once

#include <thread>

#include "core/wire/socket.h"

// Inside core/wire only.

namespace regraft::wire {

/// Answers, on a thread of its own, who may connect to the secured sockets of a context (ZeroMQ RFC 27). With
/// keys: those in the folder, which is reread for every request. Without: everybody, on sockets that are
/// plain and on loopback. Make it before the sockets bind; destroy it after they are closed.
class ZapHandler {
 public:
  ZapHandler(Context& context, AuthorisedKeys* keys);
  ~ZapHandler();
  ZapHandler(const ZapHandler&) = delete;
  ZapHandler& operator=(const ZapHandler&) = delete;

 private:
  void serve(const std::stop_token& stop);
  void answer(const Incoming& request);

  AuthorisedKeys* keys_;
  zmq::socket_t socket_;
  Wake wake_;
  LiveCounters counters_;
  std::jthread thread_;
};

}
