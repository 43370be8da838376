#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <limits>
#include <list>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/wire/run_fixture.h"
#include "core/wire/socket.h"

namespace regraft::wire::testing_support {

inline sockaddr_in address_of(const char* host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

/// None if something else listens there.
inline FileDescriptor listen_at(const char* host, std::uint16_t port) {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int reuse = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  const sockaddr_in here = address_of(host, port);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0)
    socket.close();
  return socket;
}

/// The first of so many in a row on which nobody listens, and of which the system gives none to others.
inline std::uint16_t free_ports(std::uint16_t count) {
  std::random_device random;
  while (true) {
    const auto first = static_cast<std::uint16_t>(10000 + random() % 20000);
    std::uint16_t free = 0;
    while (free < count && listen_at("127.0.0.1", static_cast<std::uint16_t>(first + free))) ++free;
    if (free == count) return first;
  }
}

/// A link that a test breaks: what listens at a port of 127.0.0.1 is reached at the same port of 127.0.0.2.
/// What was under way where a connection is cut is lost, as in a network.
class TcpProxy {
 public:
  enum To : std::size_t { kToLearner, kToActors };
  static constexpr std::array kBoth{kToLearner, kToActors};
  static constexpr char kHost[] = "127.0.0.2";

  explicit TcpProxy(std::uint16_t port) : port_(port), listening_(listen_at(kHost, port)) {
    if (!listening_) throw std::runtime_error("the proxy cannot listen");
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) turn();
    });
  }
  ~TcpProxy() {
    thread_.request_stop();
    wake_.signal();
  }
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  /// From now on bytes to there wait; whoever sends them is not told.
  void hold(To to) {
    change([&]() REQUIRES(mutex_) { held_[to] = true; });
  }
  /// The same once so many more bytes have gone there, and up to 64 KiB that were read with the last of them.
  void hold_after(To to, std::size_t bytes) {
    change([&]() REQUIRES(mutex_) {
      left_[to] = bytes;
      then_held_[to] = true;
    });
  }
  void let_go(To to) {
    change([&]() REQUIRES(mutex_) { held_[to] = false; });
  }
  void cut() {
    change([&]() REQUIRES(mutex_) { cut_ = true; });
  }
  /// Once so many more bytes have gone there, and once only.
  void cut_after(To to, std::size_t bytes) {
    change([&]() REQUIRES(mutex_) { left_[to] = bytes; });
  }
  /// Ends the way to there of all connections: what comes is thrown away.
  void half_close(To to) {
    change([&]() REQUIRES(mutex_) {
      for (Connection& connection : connections_) connection.pipes[to].end();
    });
  }

  /// Waits until so many have come in all.
  bool wait_for_connections(std::size_t count) {
    MutexLock lock(mutex_);
    return changed_.wait_for(lock, kLong, [&]() REQUIRES(mutex_) { return accepted_ >= count; });
  }
  std::size_t connections() const {
    const MutexLock lock(mutex_);
    return accepted_;
  }
  /// Whether cut_after(), or hold_after(), has come to its end.
  bool was_cut(To to) const {
    const MutexLock lock(mutex_);
    return left_[to] == kNoCut;
  }

 private:
  static constexpr std::size_t kNoCut = std::numeric_limits<std::size_t>::max();

  /// One way of a connection.
  struct Pipe {
    int from, to;
    std::string waiting{};  // read, not yet written
    bool ended = false;     // nothing more is written
    bool drained = false;   // nothing more is to be read

    void end() {
      ended = true;
      waiting.clear();
      ::shutdown(to, SHUT_WR);
    }
    void close() {
      drained = true;
      if (!ended) end();
    }
  };
  struct Connection {
    Connection(FileDescriptor of_actor, FileDescriptor of_learner)
        : actor(std::move(of_actor)),
          learner(std::move(of_learner)),
          pipes{Pipe{actor.get(), learner.get()}, Pipe{learner.get(), actor.get()}} {}
    FileDescriptor actor, learner;
    std::array<Pipe, 2> pipes;  // by To
  };

  void change(const std::function<void()>& how) {
    const MutexLock lock(mutex_);
    how();
    wake_.signal();
  }

  void turn() {
    std::vector<pollfd> items{{wake_.fd(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
    {
      const MutexLock lock(mutex_);
      for (const Connection& connection : connections_)
        for (const To to : kBoth) {
          const Pipe& pipe = connection.pipes[to];
          // Not polled for nothing: an end that was closed would be reported for ever.
          if (!pipe.waiting.empty()) items.push_back({pipe.to, POLLOUT, 0});
          if (may_read(pipe, to)) items.push_back({pipe.from, POLLIN, 0});
        }
    }
    ::poll(items.data(), items.size(), -1);
    wake_.drain();
    const MutexLock lock(mutex_);
    if (std::exchange(cut_, false)) connections_.clear();
    accept_all();
    connections_.remove_if([this](Connection& connection) REQUIRES(mutex_) { return !pass_on(connection); });
    for (const To to : kBoth)
      if (left_[to] == 0) {
        if (std::exchange(then_held_[to], false))
          held_[to] = true;
        else
          connections_.clear();
        left_[to] = kNoCut;
      }
    changed_.notify_all();
  }

  bool may_read(const Pipe& pipe, To to) const REQUIRES(mutex_) {
    return !held_[to] && !pipe.drained && pipe.waiting.empty();
  }

  void accept_all() REQUIRES(mutex_) {
    const sockaddr_in there = address_of("127.0.0.1", port_);
    while (true) {
      FileDescriptor actor(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!actor) return;
      ++accepted_;
      FileDescriptor learner(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      // Where nobody listens, the actor's connection is closed.
      if (::connect(learner.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0)
        connections_.emplace_back(std::move(actor), std::move(learner));
    }
  }

  /// False: the connection is over. Where one end has closed it, what that had said before still arrives.
  bool pass_on(Connection& connection) REQUIRES(mutex_) {
    for (const To to : kBoth) {
      Pipe& pipe = connection.pipes[to];
      std::array<char, 65536> bytes;
      while (may_read(pipe, to)) {
        const ssize_t got = ::recv(pipe.from, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) break;
        if (got <= 0) {
          pipe.close();
          break;
        }
        if (!pipe.ended) pipe.waiting.assign(bytes.data(), static_cast<std::size_t>(got));
        if (!write(pipe, to)) pipe.close();
      }
      if (!write(pipe, to)) pipe.close();
    }
    return !(connection.pipes[kToLearner].drained && connection.pipes[kToActors].drained);
  }

  bool write(Pipe& pipe, To to) REQUIRES(mutex_) {
    while (!pipe.waiting.empty() && left_[to] > 0) {
      const std::size_t most = std::min(pipe.waiting.size(), left_[to]);
      const ssize_t put = ::send(pipe.to, pipe.waiting.data(), most, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (put < 0 && errno == EAGAIN) return true;
      if (put < 0) return false;
      pipe.waiting.erase(0, static_cast<std::size_t>(put));
      if (left_[to] != kNoCut) left_[to] -= static_cast<std::size_t>(put);
    }
    return true;
  }

  const std::uint16_t port_;
  FileDescriptor listening_;
  Wake wake_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::list<Connection> connections_ GUARDED_BY(mutex_);
  std::array<bool, 2> held_ GUARDED_BY(mutex_){}, then_held_ GUARDED_BY(mutex_){};
  std::array<std::size_t, 2> left_ GUARDED_BY(mutex_){kNoCut, kNoCut};  // bytes until the cut, by To
  std::size_t accepted_ GUARDED_BY(mutex_) = 0;
  bool cut_ GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

/// All three ports of a hub.
struct Proxies {
  explicit Proxies(std::uint16_t port)
      : results(port),
        weights(static_cast<std::uint16_t>(port + 1)),
        announcements(static_cast<std::uint16_t>(port + 2)) {}
  TcpProxy results, weights, announcements;
};

/// A link, or a learner that joins another one, looks for that at the proxy.
template <typename Options>
Options through_proxy(Options options) {
  options.locate = [of_hub = options.locate] {
    RunInfo info = of_hub();
    info.tcp = std::string("tcp://") + TcpProxy::kHost + ":" + std::to_string(port_of(info.tcp));
    return info;
  };
  return options;
}

/// A run at a known port, so that the proxies know where weights are.
inline std::uint16_t bind_known_port(HubOptions& options) {
  const std::uint16_t port = free_ports(3);
  options.bind = {"tcp://127.0.0.1:" + std::to_string(port)};
  return port;
}

}
