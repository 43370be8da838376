#include "core/wire/group.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <random>
#include <utility>

#include "core/base/log.h"
#include "core/wire/socket.h"
#include "core/wire/socket_events.h"
#include "core/wire/zap_handler.h"

namespace regraft::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLook{200};  // between looks at what else may have happened
constexpr milliseconds kHelloAgain{1000};
constexpr milliseconds kSayWaiting{30'000};
constexpr milliseconds kStopping{10'000};  // of patience, for who was asked to stop
constexpr milliseconds kForEver = std::chrono::hours(24 * 365);
constexpr int kLingerMilliseconds = 2000;                  // for the last words
constexpr std::int64_t kMaxBytes = std::int64_t{4} << 30;  // of a message

enum class Kind : std::uint32_t { hello = 1, welcome, values, bytes };

/// Before every message. `call`: how many calls of the group came before.
struct Header {
  Kind kind = Kind::hello;
  std::uint32_t rank = 0;
  std::uint64_t generation = 0, call = 0;
};
static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) == 24);

struct Message {
  Header header;
  Frame body;
  std::string connection, key;
};

[[noreturn]] void fail(WireFault fault, const std::string& what, const std::string& remedy = "") {
  throw WireError(fault, what, "learners", remedy);
}

Frame frame_of(std::span<const float> values) {
  return Frame::copy_of(std::as_bytes(values));
}

[[noreturn]] void fail_gone(std::uint32_t rank) {
  fail(WireFault::kRefused, "learner " + std::to_string(rank) + " has gone");
}

[[noreturn]] void fail_other(std::uint32_t rank) {
  fail(WireFault::kMisuse, "learner " + std::to_string(rank) + " computes something else",
       "start all learners on machines alike, with one program and one config");
}

/// How long a member waits for another.
class Patience {
 public:
  Patience(milliseconds length, const std::function<bool()>& stopped)
      : length_(length), until_(steady_clock::now() + length), stopped_(stopped) {}
  bool lasts() {
    if (!hurries_ && stopped_ && stopped_()) {
      hurries_ = true;
      until_ = std::min(until_, steady_clock::now() + kStopping);
    }
    return steady_clock::now() < until_;
  }
  /// From now on.
  void begin_again() {
    if (!hurries_) until_ = steady_clock::now() + length_;
  }
  /// Ends it, as asked to stop or because of what did not come.
  [[noreturn]] void fail_out(const std::string& what, const std::string& remedy) const {
    if (hurries_) fail(WireFault::kClosed, "asked to stop");
    fail(WireFault::kTimeout, what, remedy);
  }

 private:
  const milliseconds length_;
  steady_clock::time_point until_;
  const std::function<bool()>& stopped_;
  bool hurries_ = false;
};

/// One end: messages of this group in and out.
class End {
 public:
  End(Context& context, zmq::socket_type type)
      : socket_(open_socket(context, type, {.linger_ms = kLingerMilliseconds, .max_frame_bytes = kMaxBytes})),
        routed_(type == zmq::socket_type::router) {
    if (!routed_) events_.emplace(context, socket_);
  }

  zmq::socket_t& socket() { return socket_; }

  /// Whether a peer's connection was lost, and with it what was on its way. Then it says nothing more. One
  /// that ended before its handshake had carried nothing: the next one carries it all.
  bool lost() {
    while (const auto event = events_->next()) {
      shook_hands_ |= event == NetEvent::kConnected;
      lost_ |= shook_hands_ && event == NetEvent::kDisconnected;
    }
    if (lost_) socket_.set(zmq::sockopt::linger, 0);
    return lost_;
  }

  /// To learner `rank`, who is behind that connection.
  void send(const Header& header, std::uint32_t rank, const std::string& connection, const Frame& body) {
    const auto head = std::as_bytes(std::span(&header, 1));
    const std::array<Frame, 1> frames{body.share()};
    if (body.size() > static_cast<std::size_t>(kMaxBytes))
      fail(WireFault::kMisuse, std::to_string(body.size()) + " bytes are too many to be shared at once",
           "lower train.steps_per_update, or world.collect_steps");
    if (wire::send(socket_, connection, head, frames, counters_) != SendOutcome::kSent) fail_gone(rank);
  }

  /// The next message; none after `wait`. What is no message of ours is passed over.
  std::optional<Message> next(milliseconds wait) {
    std::array<zmq::pollitem_t, 1> items{{{socket_.handle(), 0, ZMQ_POLLIN, 0}}};
    const ReceiveCaps caps{.frames = 2, .bytes = kMaxBytes};
    Incoming incoming;
    while (receive(socket_, routed_, caps, counters_, incoming) || zmq::poll(items.data(), 1, wait) > 0) {
      if (incoming.frames.size() != 2 || incoming.frames[0].size() != sizeof(Header)) continue;
      Message message{
          {}, std::move(incoming.frames[1]), std::move(incoming.connection), std::move(incoming.key)};
      std::memcpy(&message.header, incoming.frames[0].bytes().data(), sizeof(Header));
      return message;
    }
    return std::nullopt;
  }

 private:
  zmq::socket_t socket_;
  std::optional<SocketEvents> events_;
  bool routed_, shook_hands_ = false, lost_ = false;
  LiveCounters counters_;
};

class Leader : public Group {
 public:
  explicit Leader(const LeaderOptions& options)
      : options_(options),
        keys_(options.plain ? nullptr : std::make_unique<AuthorisedKeys>(options.authorised)),
        zap_(context_, keys_.get()),
        end_(context_, zmq::socket_type::router),
        peers_(options.size) {
    check_listening(options.bind, options.plain, options.server_keys);
    secure_as_server(end_.socket(), options.plain ? KeyPair{} : options.server_keys);
    RunInfo info;
    info.run_id = options.run_id;
    info.generation = generation_;
    info.host = own_host_name();
    info.machine = own_machine();
    if (!options.plain) info.server_key = options.server_keys.public_key;
    for (const std::string& endpoint : options.bind) {
      const std::string bound = bind_socket(end_.socket(), endpoint);
      files_.add(bound);
      info.add_endpoint(bound);
    }
    info.save(options.file);
    await_peers();
  }

  std::uint32_t rank() const override { return 0; }
  std::uint32_t size() const override { return options_.size; }

  void add_up(std::span<float> values) override {
    std::vector<Frame> parts(options_.size);
    std::vector<bool> came(options_.size, false);
    for (std::uint32_t missing = options_.size - 1; missing > 0; --missing) {
      Message message = answer();
      if (message.header.kind != Kind::values || message.header.call != call_ ||
          message.body.size() != values.size_bytes() || came[message.header.rank])
        fail_other(message.header.rank);
      came[message.header.rank] = true;
      parts[message.header.rank] = std::move(message.body);
    }
    for (std::uint32_t rank = 1; rank < options_.size; ++rank) {
      const std::byte* part = parts[rank].bytes().data();  // not at a multiple of 4
      for (std::size_t i = 0; i < values.size(); ++i) {
        float value = 0;
        std::memcpy(&value, part + i * sizeof value, sizeof value);
        values[i] += value;
      }
    }
    tell(Kind::values, frame_of(values));
  }

  std::vector<std::byte> share(std::vector<std::byte> bytes) override {
    tell(Kind::bytes, Frame::copy_of(bytes));
    return bytes;
  }

 private:
  void tell(Kind kind, const Frame& body) {
    for (std::uint32_t rank = 1; rank < options_.size; ++rank)
      end_.send({kind, 0, generation_, call_}, rank, peers_[rank], body);
    ++call_;
  }

  /// The next message to this generation from one who may be a peer.
  std::optional<Message> next() {
    std::optional<Message> message = end_.next(kLook);
    if (!message || message->header.generation != generation_) return std::nullopt;
    const std::uint32_t rank = message->header.rank;
    if (rank == 0 || rank >= options_.size) return std::nullopt;
    if (!options_.plain && message->key != options_.peer_keys[rank - 1]) return std::nullopt;
    return message;
  }

  /// The next message of a peer that has joined.
  Message answer() {
    Patience patience(options_.patience, options_.stopped);
    while (patience.lasts()) {
      std::optional<Message> message = next();
      if (!message) continue;
      // Started anew, or on another connection: what it was sent meanwhile is lost.
      if (message->connection != peers_[message->header.rank]) fail_gone(message->header.rank);
      return *std::move(message);
    }
    patience.fail_out("a learner does not answer", "is its host there?");
  }

  void await_peers() {
    Patience patience(options_.patience, options_.stopped);
    const auto begin = steady_clock::now();
    bool said = false;
    for (std::uint32_t missing = options_.size - 1; missing > 0;) {
      if (!patience.lasts())
        patience.fail_out(std::to_string(missing) + " learners have not joined",
                          "start them, or lower train.learners");
      if (steady_clock::now() - begin > kSayWaiting && !std::exchange(said, true))
        log_warning("waits for {} of {} learners", missing, options_.size - 1);
      const std::optional<Message> message = next();
      if (!message || message->header.kind != Kind::hello) continue;
      const auto config = std::as_bytes(std::span(options_.config));
      if (!std::ranges::equal(message->body.bytes(), config)) fail_other(message->header.rank);
      std::string& peer = peers_[message->header.rank];
      missing -= peer.empty() ? 1 : 0;
      peer = message->connection;  // of one that was started anew meanwhile, its next
    }
    tell(Kind::welcome, Frame());
  }

  const LeaderOptions options_;
  const std::uint64_t generation_ = (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}();
  Context context_;
  std::unique_ptr<AuthorisedKeys> keys_;
  ZapHandler zap_;
  End end_;
  SocketFiles files_;
  std::vector<std::string> peers_;  // connections, by rank
  std::uint64_t call_ = 0;
};

class Peer : public Group {
 public:
  explicit Peer(const PeerOptions& options) : options_(options) {
    Patience patience(options.patience, options_.stopped);
    while (patience.lasts()) {
      if (!said_hello(patience)) continue;
      const std::optional<Message> message = end_->next(kHelloAgain);
      if (!message || message->header.kind != Kind::welcome || message->header.generation != generation_)
        continue;
      call_ = message->header.call + 1;
      return;
    }
    patience.fail_out("the first learner does not let this one join", "is it running?");
  }

  std::uint32_t rank() const override { return options_.rank; }
  std::uint32_t size() const override { return options_.size; }

  void add_up(std::span<float> values) override {
    end_->send({Kind::values, options_.rank, generation_, call_}, 0, "", frame_of(values));
    const Message sum = told(Kind::values, options_.patience);
    if (sum.body.size() != values.size_bytes()) fail_other(0);
    std::memcpy(values.data(), sum.body.bytes().data(), values.size_bytes());
  }

  std::vector<std::byte> share(std::vector<std::byte>) override {
    const Message message = told(Kind::bytes, kForEver);
    const auto bytes = message.body.bytes();
    return {bytes.begin(), bytes.end()};
  }

 private:
  /// To where the file says that the leader is now; false where that cannot be found out. For a leader that
  /// is not there yet it waits as long as it takes: the first update may be hours away.
  bool said_hello(Patience& patience) {
    try {
      const RunInfo info = options_.locate();
      const std::string endpoint = info.endpoint_from(own_machine());
      if (!end_ || end_->lost() || endpoint != endpoint_ || info.generation != generation_) {
        end_.emplace(context_, zmq::socket_type::dealer);
        secure_as_client(end_->socket(), options_.keys, info.server_key);
        end_->socket().connect(endpoint);
        endpoint_ = endpoint;
        generation_ = info.generation;
        end_->send({Kind::hello, options_.rank, generation_, 0}, 0, "",
                   Frame::copy_of(std::as_bytes(std::span(options_.config))));
      }
      return true;
    } catch (const WireError& error) {
      if (error.fault() == WireFault::kClosed) throw;
    } catch (const FileError&) {
      patience.begin_again();
    }
    std::this_thread::sleep_for(kLook);
    return false;
  }

  Message told(Kind kind, milliseconds length) {
    Patience patience(length, options_.stopped);
    while (patience.lasts()) {
      const bool lost = end_->lost();  // what came before that is still read
      std::optional<Message> message = end_->next(lost ? milliseconds(0) : kLook);
      if (!message) {  // by the end of the run, it may be: then locate() throws
        if (options_.locate().generation != generation_ || lost) fail_gone(0);
        continue;
      }
      if (message->header.generation != generation_) continue;
      if (message->header.kind != kind || message->header.call != call_) fail_other(0);
      ++call_;
      return *std::move(message);
    }
    patience.fail_out("the first learner does not answer", "is its host there?");
  }

  const PeerOptions options_;
  Context context_;
  std::optional<End> end_;
  std::string endpoint_;
  std::uint64_t generation_ = 0, call_ = 0;
};

}  // namespace

std::unique_ptr<Group> lead_group(const LeaderOptions& options) {
  return std::make_unique<Leader>(options);
}

std::unique_ptr<Group> join_group(const PeerOptions& options) {
  return std::make_unique<Peer>(options);
}

}
