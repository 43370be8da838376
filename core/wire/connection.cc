#include "core/wire/connection.h"

#include <cstring>

#include "core/wire/message.h"

namespace regraft::wire {
namespace {

constexpr int kEvents = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                        ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                        ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_DISCONNECTED;

constexpr SocketLimits kSmallMessages{.linger_ms = 0, .max_frame_bytes = kMaxHeaderBytes};

NetEvent meaning(std::uint16_t event) {
  switch (event) {
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      return NetEvent::kConnected;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      return NetEvent::kNotAuthorised;
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
      return NetEvent::kHandshakeFailed;
    case ZMQ_EVENT_CONNECT_RETRIED:
      return NetEvent::kNobodyListens;
    case ZMQ_EVENT_DISCONNECTED:
      return NetEvent::kDisconnected;
    default:
      return NetEvent::kOther;
  }
}

}  // namespace

std::string sibling_endpoint(const std::string& endpoint, std::string_view ipc_suffix,
                             std::uint16_t tcp_port) {
  if (endpoint.starts_with("ipc://")) return endpoint + std::string(ipc_suffix);
  return "tcp://" + host_of(endpoint) + ":" + std::to_string(tcp_port);
}

Connection::Connection(Context& context, const RunInfo& run, const KeyPair& keys, std::uint64_t attempt)
    : endpoint_(run.endpoint_from(own_machine())),
      results_(open_socket(context, zmq::socket_type::dealer, kSmallMessages)),
      announcements_(open_socket(context, zmq::socket_type::sub, kSmallMessages)),
      events_(open_socket(context, zmq::socket_type::pair, kSmallMessages)) {
  if (run.server_key.empty() && !is_loopback(endpoint_)) {
    throw WireError(WireFault::kAddress, "plain transport to another machine", endpoint_,
                    "let the learner use encryption, or connect on its own machine");
  }
  secure_as_client(results_, keys, run.server_key);
  secure_as_client(announcements_, keys, run.server_key);
  announcements_.set(zmq::sockopt::subscribe, "");
  const std::string monitor = "inproc://events-" + std::to_string(attempt);
  if (zmq_socket_monitor(results_.handle(), monitor.c_str(), kEvents) != 0) throw zmq::error_t();
  events_.connect(monitor);
  try {
    results_.connect(endpoint_);
  } catch (const zmq::error_t& error) {
    throw WireError(WireFault::kAddress, std::string("cannot connect: ") + error.what(), endpoint_,
                    "is it spelt right?");
  }
}

Connection::~Connection() {
  zmq_socket_monitor(results_.handle(), nullptr, 0);
}

void Connection::subscribe(std::uint16_t tcp_port) {
  if (subscribed_) return;
  announcements_.connect(sibling_endpoint(endpoint_, ".announce", tcp_port));
  subscribed_ = true;
}

bool Connection::next_event(NetEvent& event) {
  // Two frames: u16 event and u32 value, then the endpoint.
  zmq::message_t head, address;
  if (!events_.recv(head, zmq::recv_flags::dontwait)) return false;
  if (head.more()) static_cast<void>(events_.recv(address, zmq::recv_flags::dontwait));
  std::uint16_t number = 0;
  if (head.size() >= sizeof number) std::memcpy(&number, head.data(), sizeof number);
  event = meaning(number);
  return true;
}

}  // namespace regraft::wire
