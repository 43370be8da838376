#pragma once

#include <string>

#include "core/wire/run_info.h"
#include "core/wire/socket.h"
#include "core/wire/socket_events.h"

// Inside core/wire only.

namespace regraft::wire {

/// Where the sockets beside the results' one are: PATH.weights for ipc, the port told by the learner for tcp.
std::string sibling_endpoint(const std::string& endpoint, std::string_view ipc_suffix,
                             std::uint16_t tcp_port);

/// An actor's sockets to one learner: results (DEALER), announcements (SUB, once announced where), and the
/// events of the first. Used by one thread, made anew for every attempt.
class Connection {
 public:
  Connection(Context& context, const RunInfo& run, const KeyPair& keys);

  const std::string& endpoint() const { return endpoint_; }
  zmq::socket_t& results() { return results_; }
  zmq::socket_t& announcements() { return announcements_; }
  SocketEvents& events() { return events_; }

  void subscribe(std::uint16_t tcp_port);
  /// Closing may take this long to send what is queued.
  void linger(int milliseconds) { results_.set(zmq::sockopt::linger, milliseconds); }

 private:
  std::string endpoint_;
  zmq::socket_t results_, announcements_;
  SocketEvents events_;
  bool subscribed_ = false;
};

}
