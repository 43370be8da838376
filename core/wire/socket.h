#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "core/base/file.h"
#include "core/wire/counters.h"
#include "core/wire/frame.h"
#include "core/wire/keys.h"
#include "core/wire/message.h"

// Inside core/wire only: the one place that sets socket options and moves frames.

namespace regraft::wire {

/// A ZeroMQ context that knows the CPU time of the threads it started.
class Context {
 public:
  Context();
  zmq::context_t& zmq() { return context_; }
  /// An inproc endpoint that no other socket had. Any thread may ask.
  std::string new_name() { return "inproc://" + std::to_string(++names_); }
  /// CPU time of the I/O threads, where encryption happens.
  std::uint64_t io_cpu_ns() const;

 private:
  zmq::context_t context_;
  std::vector<int> threads_;  // kernel thread ids
  std::atomic<std::uint64_t> names_{0};
};

/// Bounds that every socket gets.
struct SocketLimits {
  int receive_messages = 64;  // queued for each connection; the sender waits
  int send_messages = 64;     // the same outwards
  int linger_ms = 0;          // how long closing may wait for unsent messages
  std::int64_t max_frame_bytes = 1 << 16;
};

zmq::socket_t open_socket(Context& context, zmq::socket_type type, const SocketLimits& limits);

/// Both ends of a secured connection. Empty keys: plain transport.
void secure_as_server(zmq::socket_t& socket, const KeyPair& keys);
void secure_as_client(zmq::socket_t& socket, const KeyPair& own, const std::string& server_key);

/// What a server is about to listen with. Throws WireError: kAddress for no endpoint, or a plain one that
/// other machines hear; kKey for no keys without plain.
void check_listening(const std::vector<std::string>& endpoints, bool plain, const KeyPair& keys);

/// Binds and returns the endpoint with its port. Throws WireError(kAddress), with its own words for one in
/// use.
std::string bind_socket(zmq::socket_t& socket, const std::string& endpoint);

/// The files of ipc endpoints that are bound, which ZeroMQ leaves behind. Removed while the socket still
/// listens: a file of that name which is there later is a successor's. Declared after the sockets.
class SocketFiles {
 public:
  SocketFiles() = default;
  ~SocketFiles() { remove(); }
  SocketFiles(const SocketFiles&) = delete;
  SocketFiles& operator=(const SocketFiles&) = delete;

  /// An endpoint as bind_socket() gave it; those without a file are let pass.
  void add(const std::string& endpoint);
  void remove();

 private:
  std::vector<std::filesystem::path> files_;
};

/// Wakes a thread that polls.
class Wake {
 public:
  Wake();
  void signal();
  void drain();
  int fd() const { return fd_.get(); }

 private:
  FileDescriptor fd_;
};

/// A message as it came. On a routed socket `connection` is its sender.
struct Incoming {
  std::string connection;
  std::string key;            // proved by CURVE, else empty
  std::vector<Frame> frames;  // header first
  bool oversized = false;     // more than the caps; its frames were thrown away
};

struct ReceiveCaps {
  std::size_t frames = kMaxFrames;
  std::size_t bytes = std::size_t{64} << 20;
};

/// Takes the next message if there is one. `routed`: the first frame names the connection.
bool receive(zmq::socket_t& socket, bool routed, const ReceiveCaps& caps, LiveCounters& counters,
             Incoming& message);

enum class SendOutcome { kSent, kFull, kUnreachable };

/// Never waits. An empty connection sends on an unrouted socket. The frames are shared, not moved: on kFull
/// the caller still has them.
SendOutcome send(zmq::socket_t& socket, const std::string& connection, std::span<const std::byte> header,
                 std::span<const Frame> frames, LiveCounters& counters);

}
