#include "core/wire/connection.h"

#include "core/wire/message.h"

namespace regraft::wire {
namespace {

constexpr SocketLimits kSmallMessages{.linger_ms = 0, .max_frame_bytes = kMaxHeaderBytes};

}  // namespace

std::string sibling_endpoint(const std::string& endpoint, std::string_view ipc_suffix,
                             std::uint16_t tcp_port) {
  if (endpoint.starts_with("ipc://")) return endpoint + std::string(ipc_suffix);
  return "tcp://" + host_of(endpoint) + ":" + std::to_string(tcp_port);
}

Connection::Connection(Context& context, const RunInfo& run, const KeyPair& keys)
    : endpoint_(run.endpoint_from(own_machine())),
      results_(open_socket(context, zmq::socket_type::dealer, kSmallMessages)),
      announcements_(open_socket(context, zmq::socket_type::sub, kSmallMessages)),
      events_(context, results_) {
  if (run.server_key.empty() && !is_loopback(endpoint_)) {
    throw WireError(WireFault::kAddress, "plain transport to another machine", endpoint_,
                    "let the learner use encryption, or connect on its own machine");
  }
  secure_as_client(results_, keys, run.server_key);
  secure_as_client(announcements_, keys, run.server_key);
  announcements_.set(zmq::sockopt::subscribe, "");
  try {
    results_.connect(endpoint_);
  } catch (const zmq::error_t& error) {
    throw WireError(WireFault::kAddress, std::string("cannot connect: ") + error.what(), endpoint_,
                    "is it spelt right?");
  }
}

void Connection::subscribe(std::uint16_t tcp_port) {
  if (subscribed_) return;
  announcements_.connect(sibling_endpoint(endpoint_, ".announce", tcp_port));
  subscribed_ = true;
}

}
