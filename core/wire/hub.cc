#include "core/wire/hub.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

#include "core/base/log.h"
#include "core/base/mutex.h"
#include "core/wire/awake_clock.h"
#include "core/wire/socket.h"
#include "core/wire/weights_server.h"
#include "core/wire/zap_handler.h"

namespace regraft::wire {
namespace {

// How often the clock and the keys' folder are looked at; a manual clock is noticed this late.
constexpr std::chrono::milliseconds kTickEvery{20};
constexpr std::int64_t kRereadKeysEveryNs = 500'000'000;
// Messages taken in one go before the others (decisions, time) get their turn.
constexpr int kBatch = 64;
constexpr int kTurnsPerStatus = 16;
constexpr int kByeLingerMilliseconds = 500;
constexpr std::string_view kTcp = "tcp://";

struct AllEndpoints {
  std::vector<std::string> results;
  WeightsServer::Endpoints others;
};

std::string next_port(const std::string& tcp_endpoint, int by) {
  const std::uint16_t port = port_of(tcp_endpoint);
  const std::string host = std::string(kTcp) + host_of(tcp_endpoint) + ":";
  return host + (port == 0 ? "*" : std::to_string(port + by));
}

AllEndpoints all_endpoints(const HubOptions& options) {
  AllEndpoints all;
  for (const std::string& endpoint : options.bind) {
    const bool tcp = endpoint.starts_with(kTcp);
    all.results.push_back(endpoint);
    all.others.weights.push_back(tcp ? next_port(endpoint, 1) : endpoint + ".weights");
    all.others.announce.push_back(tcp ? next_port(endpoint, 2) : endpoint + ".announce");
  }
  return all;
}

SocketLimits result_limits(const DispatchOptions& options) {
  SocketLimits limits;
  // Inwards come parts of results, which take memory: who sends more waits, a relay too. Outwards go tickets,
  // acknowledgements and heartbeats, for as many actors as a connection may have: who reads none is dropped.
  const auto queued = [&](std::uint32_t actors) {
    return static_cast<int>(4 * options.max_tickets_per_actor * actors + 64);
  };
  limits.receive_messages = queued(1);
  limits.send_messages = queued(options.max_actors_per_connection);
  limits.linger_ms = kByeLingerMilliseconds;
  limits.max_frame_bytes =
      static_cast<std::int64_t>(std::max<std::uint64_t>(options.ticket_bytes, kMaxHeaderBytes));
  return limits;
}

std::uint16_t tcp_port(const std::vector<std::string>& endpoints) {
  for (const std::string& endpoint : endpoints) {
    if (endpoint.starts_with(kTcp)) return port_of(endpoint);
  }
  return 0;
}

}  // namespace

class Hub::Impl {
 public:
  Impl(HubOptions options, TicketBook& ledger, TicketSource source, const Clock& clock)
      : options_(std::move(options)),
        ledger_(ledger),
        clock_(clock),
        awake_(clock),
        keys_(options_.plain ? nullptr : std::make_unique<AuthorisedKeys>(options_.authorised)),
        dispatcher_(options_.dispatch, ledger, store_, std::move(source), awake_),
        zap_(context_, keys_.get()),
        router_(open_socket(context_, zmq::socket_type::router, result_limits(options_.dispatch))) {
    check_listening(options_.bind, options_.plain, options_.server_keys);
    const KeyPair keys = options_.plain ? KeyPair{} : options_.server_keys;
    const AllEndpoints endpoints = all_endpoints(options_);
    secure_as_server(router_, keys);
    std::vector<std::string> bound;
    for (const std::string& endpoint : endpoints.results) {
      bound.push_back(bind_socket(router_, endpoint));
      files_.add(bound.back());
    }
    weights_ = std::make_unique<WeightsServer>(context_, keys, keys_.get(), endpoints.others, store_);
    dispatcher_.set_ports(
        {tcp_port(weights_->endpoints().weights), tcp_port(weights_->endpoints().announce)});
    describe(bound);
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }

  ~Impl() { end_thread(); }

  const RunInfo& run_info() const { return info_; }

  std::optional<Delivery> take(std::chrono::milliseconds wait) {
    MutexLock lock(mutex_);
    changed_.wait_for(lock, wait, [&]() REQUIRES(mutex_) { return !queue_.empty() || ended_; });
    if (failure_) std::rethrow_exception(failure_);
    if (queue_.empty()) return std::nullopt;
    Delivery delivery = std::move(queue_.front());
    queue_.pop_front();
    --status_.waiting;
    return delivery;
  }

  Verdict decide(const Ticket& ticket, Verdict verdict) {
    {
      const MutexLock lock(mutex_);
      if (failure_) std::rethrow_exception(failure_);
    }
    const bool known = verdict == Verdict::kAdmitted || verdict == Verdict::kStale ||
                       verdict == Verdict::kRejected || verdict == Verdict::kLate;
    if (!known) throw WireError(WireFault::kMisuse, "this is no verdict", std::string(name_of(verdict)), "");
    const Verdict recorded = ledger_.close(ticket.id, verdict);
    {
      const MutexLock lock(mutex_);
      decisions_.emplace_back(ticket.id, recorded);
    }
    wake_.signal();
    return recorded;
  }

  WeightsInfo publish(std::uint64_t version, std::vector<std::byte> bytes) {
    const WeightsInfo info = store_.publish(version, std::move(bytes));
    weights_->announce();
    wake_.signal();
    return info;
  }

  void pass_on(std::uint64_t version, std::vector<std::byte> bytes) {
    store_.keep(version, std::move(bytes));
    weights_->announce();
  }

  void wake() { wake_.signal(); }

  void stop_issuing() {
    issuing_ = false;
    wake_.signal();
  }

  void stop() {
    run_over_ = true;
    end_thread();
    const MutexLock lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

  HubStatus status() const {
    const MutexLock lock(mutex_);
    return status_;
  }

  bool wait_for(const std::function<bool(const HubStatus&)>& condition,
                std::chrono::milliseconds wait) const {
    MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + wait;
    while (!ended_) {
      const HubStatus now = status_;
      const std::uint64_t seen = revision_;
      lock.unlock();
      if (condition(now)) return true;
      lock.lock();
      if (!changed_.wait_until(lock, deadline,
                               [&]() REQUIRES(mutex_) { return revision_ != seen || ended_; }))
        return false;
    }
    return false;
  }

  TransportCounters counters() const {
    TransportCounters sum = counters_.read();
    sum += weights_->counters();
    sum.cpu_ns += context_.io_cpu_ns();
    return sum;
  }

 private:
  void describe(const std::vector<std::string>& bound) {
    info_.run_id = ledger_.run_id();
    info_.generation = ledger_.generation();
    info_.host = own_host_name();
    info_.machine = own_machine();
    info_.server_key = options_.plain ? "" : options_.server_keys.public_key;
    for (const std::string& endpoint : bound) info_.add_endpoint(endpoint);
  }

  void end_thread() {
    thread_.request_stop();
    wake_.signal();
    if (thread_.joinable()) thread_.join();
  }

  void run(const std::stop_token& stop) {
    try {
      while (!stop.stop_requested()) turn();
      if (run_over_) say_goodbye();
    } catch (const std::exception& error) {
      log_error("the hub has ended: {}", error.what());
      const MutexLock lock(mutex_);
      failure_ = std::current_exception();
    }
    const MutexLock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  void turn() {
    awake_.look();
    std::array<zmq::pollitem_t, 2> items{
        {{router_.handle(), 0, ZMQ_POLLIN, 0}, {nullptr, wake_.fd(), ZMQ_POLLIN, 0}}};
    zmq::poll(items.data(), items.size(), kTickEvery);
    if (items[1].revents != 0) wake_.drain();
    // A result has as many frames as its parts have tensors; the bytes are bounded by the ticket.
    const ReceiveCaps caps{.frames = kMaxFrames, .bytes = options_.dispatch.ticket_bytes + kMaxHeaderBytes};
    Incoming message;
    int received = 0;
    while (received < kBatch && receive(router_, true, caps, counters_, message)) {
      accept(std::move(message));
      ++received;
    }
    for (const auto& [id, verdict] : take_decisions()) dispatcher_.on_decided(id, verdict);
    check_keys();
    if (!issuing_) dispatcher_.stop_issuing();
    dispatcher_.tick();
    send_all();
    hand_over();
    // The list of actors is for people: under load it need not be made at every turn.
    if (received == 0 || ++turns_since_status_ >= kTurnsPerStatus) renew_status();
    counters_.sample_thread_cpu();
  }

  void accept(Incoming message) {
    const Dispatcher::Sender from{std::move(message.connection), std::move(message.key)};
    std::vector<Frame> frames = std::move(message.frames);
    if (frames.empty()) frames.emplace_back();  // oversized: an empty header, which is malformed
    const Frame header = std::move(frames.front());
    frames.erase(frames.begin());
    dispatcher_.on_message(from, header.bytes(), std::move(frames));
  }

  std::vector<std::pair<std::uint64_t, Verdict>> take_decisions() {
    const MutexLock lock(mutex_);
    return std::exchange(decisions_, {});
  }

  void check_keys() {
    if (!keys_ || clock_.steady_ns() < reread_keys_ns_) return;
    reread_keys_ns_ = clock_.steady_ns() + kRereadKeysEveryNs;
    keys_->reload();
    dispatcher_.drop_unauthorised([&](const std::string& key) { return keys_->contains(key); });
  }

  // One who reads nothing is dropped; that may free work for others, hence the loop.
  void send_all() {
    for (auto batch = dispatcher_.take_outgoing(); !batch.empty(); batch = dispatcher_.take_outgoing()) {
      for (const auto& [connection, message] : batch) {
        const auto outcome = send(router_, connection, encode(message), {}, counters_);
        if (outcome == SendOutcome::kUnreachable) dispatcher_.on_away(connection);
        if (outcome == SendOutcome::kFull) dispatcher_.on_unreachable(connection);
      }
    }
  }

  void hand_over() {
    std::vector<Delivery> finished = dispatcher_.take_deliveries();
    if (finished.empty()) return;
    const MutexLock lock(mutex_);
    for (Delivery& delivery : finished) queue_.push_back(std::move(delivery));
    status_.waiting = queue_.size();
    changed_.notify_all();
  }

  void renew_status() {
    turns_since_status_ = 0;
    HubStatus status;
    status.actors = dispatcher_.actors();
    status.outstanding = ledger_.outstanding();
    status.protocol_errors = dispatcher_.protocol_errors();
    status.latest = store_.latest();
    const MutexLock lock(mutex_);
    status.waiting = queue_.size();
    status_ = std::move(status);
    ++revision_;
    changed_.notify_all();
  }

  void say_goodbye() {
    for (const auto& [id, verdict] : take_decisions()) dispatcher_.on_decided(id, verdict);
    dispatcher_.say_bye();
    send_all();
    ledger_.drop_outstanding();
    files_.remove();
    router_.close();
  }

  const HubOptions options_;
  TicketBook& ledger_;
  const Clock& clock_;
  AwakeClock awake_;  // by which actors are silent
  std::unique_ptr<AuthorisedKeys> keys_;
  WeightsStore store_;
  Dispatcher dispatcher_;
  Context context_;
  ZapHandler zap_;
  zmq::socket_t router_;
  SocketFiles files_;
  std::unique_ptr<WeightsServer> weights_;
  RunInfo info_;
  Wake wake_;
  LiveCounters counters_;
  std::int64_t reread_keys_ns_ = 0;
  int turns_since_status_ = 0;
  std::atomic<bool> issuing_{true}, run_over_{false};

  mutable Mutex mutex_;
  mutable ConditionVariable changed_;
  std::deque<Delivery> queue_ GUARDED_BY(mutex_);
  std::vector<std::pair<std::uint64_t, Verdict>> decisions_ GUARDED_BY(mutex_);
  HubStatus status_ GUARDED_BY(mutex_);
  std::uint64_t revision_ GUARDED_BY(mutex_) = 0;
  std::exception_ptr failure_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

std::size_t HubStatus::actor_count() const {
  std::size_t count = 0;
  for (const ActorStatus& actor : actors) count += actor.actors;
  return count;
}

Hub::Hub(HubOptions options, TicketBook& ledger, TicketSource source, const Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), ledger, std::move(source), clock)) {}
Hub::~Hub() = default;

const RunInfo& Hub::run_info() const {
  return impl_->run_info();
}
std::optional<Delivery> Hub::take(std::chrono::milliseconds wait) {
  return impl_->take(wait);
}
Verdict Hub::decide(const Ticket& ticket, Verdict verdict) {
  return impl_->decide(ticket, verdict);
}
WeightsInfo Hub::publish(std::uint64_t version, std::vector<std::byte> bytes) {
  return impl_->publish(version, std::move(bytes));
}
void Hub::pass_on(std::uint64_t version, std::vector<std::byte> bytes) {
  impl_->pass_on(version, std::move(bytes));
}
void Hub::wake() {
  impl_->wake();
}
void Hub::stop_issuing() {
  impl_->stop_issuing();
}
void Hub::stop() {
  impl_->stop();
}
HubStatus Hub::status() const {
  return impl_->status();
}
bool Hub::wait_for(const std::function<bool(const HubStatus&)>& condition,
                   std::chrono::milliseconds wait) const {
  return impl_->wait_for(condition, wait);
}
TransportCounters Hub::counters() const {
  return impl_->counters();
}

}
