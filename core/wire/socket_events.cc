#include "core/wire/socket_events.h"

#include <cerrno>
#include <cstring>

#include "core/wire/message.h"

namespace regraft::wire {
namespace {

constexpr int kEvents = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                        ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                        ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_DISCONNECTED;

NetEvent meaning(std::uint16_t event, std::uint32_t value) {
  switch (event) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      return NetEvent::kConnected;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      return NetEvent::kNotAuthorised;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
      return NetEvent::kHandshakeFailed;
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      // With the errno of a read; else its time was over, as with a learner that is stopped.
      return value == EPIPE || value == ECONNRESET ? NetEvent::kHandshakeFailed
                                                   : NetEvent::kHandshakeUnanswered;
    case ZMQ_EVENT_CONNECT_RETRIED:
      return NetEvent::kNobodyListens;
    case ZMQ_EVENT_DISCONNECTED:
      return NetEvent::kDisconnected;
    default:
      return NetEvent::kOther;
  }
}

}  // namespace

SocketEvents::SocketEvents(Context& context, zmq::socket_t& of)
    : of_(of), events_(open_socket(context, zmq::socket_type::pair, {.max_frame_bytes = kMaxHeaderBytes})) {
  const std::string name = context.new_name();
  if (zmq_socket_monitor(of.handle(), name.c_str(), kEvents) != 0) throw zmq::error_t();
  events_.connect(name);
}

SocketEvents::~SocketEvents() {
  zmq_socket_monitor(of_.handle(), nullptr, 0);
}

std::optional<NetEvent> SocketEvents::next() {
  // Two frames: u16 event and u32 value, then the endpoint.
  zmq::message_t head, address;
  if (!events_.recv(head, zmq::recv_flags::dontwait)) return std::nullopt;
  if (head.more()) static_cast<void>(events_.recv(address, zmq::recv_flags::dontwait));
  std::uint16_t event = 0;
  std::uint32_t value = 0;
  if (head.size() >= sizeof event + sizeof value) {
    std::memcpy(&event, head.data(), sizeof event);
    std::memcpy(&value, static_cast<const char*>(head.data()) + sizeof event, sizeof value);
  }
  return meaning(event, value);
}

}
