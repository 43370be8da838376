#include "core/wire/socket_events.h"

#include "core/wire/tcp_proxy.h"

namespace regraft::wire {
namespace {

using namespace testing_support;

// A process that is stopped leaves connections where the system put them; one that refuses a key closes them.
TEST(SocketEvents, TellAHandshakeThatIsNotAnsweredFromOneThatIsRefused) {
  const std::uint16_t port = free_ports(1);
  const FileDescriptor listening = listen_at("127.0.0.1", port);
  ASSERT_TRUE(listening);
  Context context;
  zmq::socket_t socket = open_socket(context, zmq::socket_type::dealer, {});
  socket.set(zmq::sockopt::handshake_ivl, 50);
  SocketEvents events(context, socket);
  socket.connect("tcp://127.0.0.1:" + std::to_string(port));
  std::optional<NetEvent> event;
  const auto fails = [&] {
    event = events.next();
    return event == NetEvent::kHandshakeUnanswered || event == NetEvent::kHandshakeFailed;
  };
  EXPECT_TRUE(comes_to_hold(fails));
  EXPECT_EQ(event, NetEvent::kHandshakeUnanswered);
  EXPECT_TRUE(comes_to_hold([&] {
    FileDescriptor(::accept(listening.get(), nullptr, nullptr)).close();
    return events.next() == NetEvent::kHandshakeFailed;
  }));
}

}  // namespace
}
