#pragma once

#include <optional>

#include "core/wire/socket.h"

// Inside core/wire only.

namespace regraft::wire {

/// What the transport noticed on a connection. A handshake fails where the other end closes it.
enum class NetEvent {
  kConnected,
  kNotAuthorised,
  kHandshakeFailed,
  kHandshakeUnanswered,
  kNobodyListens,
  kDisconnected,
  kOther
};

/// The events of a client's socket from its connect() on, which comes after this is made. The socket and its
/// context outlive it.
class SocketEvents {
 public:
  SocketEvents(Context& context, zmq::socket_t& of);
  ~SocketEvents();
  SocketEvents(const SocketEvents&) = delete;
  SocketEvents& operator=(const SocketEvents&) = delete;

  /// None if there is none yet.
  std::optional<NetEvent> next();
  /// Can be read while there are some.
  void* handle() { return events_.handle(); }

 private:
  zmq::socket_t& of_;
  zmq::socket_t events_;
};

}
