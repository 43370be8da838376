#include "core/wire/socket.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "core/wire/cpu_clock.h"
#include "core/wire/run_info.h"
#include "core/wire/wire_error.h"

namespace regraft::wire {
namespace {

namespace fs = std::filesystem;

constexpr int kHandshakeMilliseconds = 5000;
constexpr int kReconnectMilliseconds = 50;
constexpr int kReconnectMaxMilliseconds = 1000;
constexpr char kZapDomain[] = "regraft";
constexpr std::string_view kIpc = "ipc://";
constexpr int kFreePortAttempts = 16;

std::vector<int> own_threads() {
  std::vector<int> ids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/self/task", error)) {
    const std::string name = entry.path().filename().string();
    int id = 0;
    std::from_chars(name.data(), name.data() + name.size(), id);
    ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

[[noreturn]] void bad_address(const std::string& what, const std::string& endpoint,
                              const std::string& remedy) {
  throw WireError(WireFault::kAddress, what, endpoint, remedy);
}

// ZeroMQ unlinks a socket file that it finds, also that of a living process: ask first.
bool somebody_listens(const std::string& ipc_path) {
  const FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ipc_path.copy(address.sun_path, sizeof address.sun_path - 1);
  return probe && ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

int set_frames_flags(bool more) {
  return ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0);
}

}  // namespace

// The context starts its threads with its first socket; those that appear then are taken for them.
Context::Context() : context_(1) {
  const std::vector<int> before = own_threads();
  zmq::socket_t first(context_, zmq::socket_type::pair);
  const std::vector<int> after = own_threads();
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(threads_));
}

std::uint64_t Context::io_cpu_ns() const {
  std::uint64_t sum = 0;
  // Linux: the CPU clock of thread t of this process has the id ~t << 3 | 6 (per thread, scheduler time).
  for (const int id : threads_)
    sum += cpu_clock_ns(static_cast<clockid_t>((~static_cast<unsigned>(id) << 3) | 6u));
  return sum;
}

zmq::socket_t open_socket(Context& context, zmq::socket_type type, const SocketLimits& limits) {
  zmq::socket_t socket(context.zmq(), type);
  socket.set(zmq::sockopt::sndhwm, limits.send_messages);
  socket.set(zmq::sockopt::rcvhwm, limits.receive_messages);
  socket.set(zmq::sockopt::linger, limits.linger_ms);
  socket.set(zmq::sockopt::maxmsgsize, limits.max_frame_bytes);
  socket.set(zmq::sockopt::handshake_ivl, kHandshakeMilliseconds);
  socket.set(zmq::sockopt::reconnect_ivl, kReconnectMilliseconds);
  socket.set(zmq::sockopt::reconnect_ivl_max, kReconnectMaxMilliseconds);
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::ipv6, true);
  if (type == zmq::socket_type::router) socket.set(zmq::sockopt::router_mandatory, true);
  return socket;
}

void secure_as_server(zmq::socket_t& socket, const KeyPair& keys) {
  // With a domain the handler is asked on plain transport too.
  socket.set(zmq::sockopt::zap_domain, kZapDomain);
  if (keys.secret_key.empty()) return;
  socket.set(zmq::sockopt::curve_server, true);
  socket.set(zmq::sockopt::curve_secretkey, keys.secret_key);
}

void secure_as_client(zmq::socket_t& socket, const KeyPair& own, const std::string& server_key) {
  if (server_key.empty()) return;
  socket.set(zmq::sockopt::curve_serverkey, server_key);
  socket.set(zmq::sockopt::curve_publickey, own.public_key);
  socket.set(zmq::sockopt::curve_secretkey, own.secret_key);
}

void check_listening(const std::vector<std::string>& endpoints, bool plain, const KeyPair& keys) {
  if (endpoints.empty()) bad_address("there is nowhere to listen", "wire", "bind an endpoint");
  for (const std::string& endpoint : endpoints) {
    check_endpoint(endpoint);
    if (plain && !is_loopback(endpoint))
      bad_address("plain transport would be open to other machines", endpoint,
                  "use 127.0.0.1 or ipc, or leave encryption on");
  }
  if (plain || (is_key(keys.public_key) && is_key(keys.secret_key))) return;
  throw WireError(WireFault::kKey, "a secured socket needs a key pair", "wire",
                  "make one, or ask for plain transport");
}

std::string bind_socket(zmq::socket_t& socket, const std::string& endpoint) {
  check_endpoint(endpoint);
  if (endpoint.starts_with(kIpc) && somebody_listens(endpoint.substr(kIpc.size()))) {
    bad_address("another process listens there", endpoint, "end it, or choose another path");
  }
  // A socket for both families reports its IPv4 address in IPv6's form: only where one of those was asked
  // for.
  socket.set(zmq::sockopt::ipv6, endpoint.find('[') != std::string::npos);
  // ZeroMQ binds with SO_REUSEADDR: two sockets may be given the same free port, and the second to listen
  // fails.
  int attempts = endpoint.ends_with(":*") ? kFreePortAttempts : 1;
  while (::zmq_bind(socket.handle(), endpoint.c_str()) != 0) {
    const int error = ::zmq_errno();
    if (error != EADDRINUSE)
      bad_address(std::string("cannot listen there: ") + ::zmq_strerror(error), endpoint,
                  "is it an address of this machine?");
    if (--attempts == 0)
      bad_address("the port is in use", endpoint, "choose another one, or * for a free one");
  }
  return socket.get(zmq::sockopt::last_endpoint);
}

void SocketFiles::add(const std::string& endpoint) {
  if (endpoint.starts_with(kIpc)) files_.emplace_back(endpoint.substr(kIpc.size()));
}

void SocketFiles::remove() {
  std::error_code ignored;  // nothing depends on its being gone
  for (const fs::path& file : files_) fs::remove(file, ignored);
  files_.clear();
}

Wake::Wake() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!fd_)
    throw WireError(WireFault::kMisuse, "no event descriptor is left", "wire",
                    "raise the limit of open files");
}

void Wake::signal() {
  const std::uint64_t one = 1;
  // It can only fail when a signal is pending already.
  [[maybe_unused]] const auto written = ::write(fd_.get(), &one, sizeof one);
}

void Wake::drain() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(fd_.get(), &count, sizeof count);
}

bool receive(zmq::socket_t& socket, bool routed, const ReceiveCaps& caps, LiveCounters& counters,
             Incoming& message) {
  message = {};
  bool more = true, first = true;
  std::size_t bytes = 0;
  while (more) {
    Frame frame;
    auto* raw = static_cast<zmq_msg_t*>(frame.handle());
    // Only the first frame can be missing: ZeroMQ hands messages over whole.
    if (zmq_msg_recv(raw, socket.handle(), ZMQ_DONTWAIT) < 0) {
      if (errno == EAGAIN || errno == EINTR) return false;
      throw zmq::error_t();
    }
    more = zmq_msg_more(raw) != 0;
    if (const char* key = zmq_msg_gets(raw, "User-Id"); key != nullptr && message.key.empty())
      message.key = key;
    if (std::exchange(first, false) && routed) {
      message.connection.assign(reinterpret_cast<const char*>(frame.bytes().data()), frame.size());
      continue;
    }
    bytes += frame.size();
    message.oversized = message.oversized || bytes > caps.bytes || message.frames.size() >= caps.frames;
    if (message.oversized) {
      message.frames.clear();
    } else {
      message.frames.push_back(std::move(frame));
    }
  }
  counters.count_in(bytes);
  return true;
}

SendOutcome send(zmq::socket_t& socket, const std::string& connection, std::span<const std::byte> header,
                 std::span<const Frame> frames, LiveCounters& counters) {
  std::vector<Frame> all;
  all.reserve(frames.size() + 2);
  if (!connection.empty()) all.push_back(Frame::copy_of(std::as_bytes(std::span(connection))));
  all.push_back(Frame::copy_of(header));
  for (const Frame& frame : frames) all.push_back(frame.share());
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto* raw = static_cast<zmq_msg_t*>(all[i].handle());
    const int flags = set_frames_flags(i + 1 < all.size());
    while (zmq_msg_send(raw, socket.handle(), flags) < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return SendOutcome::kFull;
      if (errno == EHOSTUNREACH) return SendOutcome::kUnreachable;
      throw zmq::error_t();
    }
  }
  counters.count_out(header.size() + total_bytes(frames));
  return SendOutcome::kSent;
}

}
