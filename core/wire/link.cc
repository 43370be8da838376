#include "core/wire/link.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include "core/base/log.h"
#include "core/wire/awake_clock.h"
#include "core/wire/connection.h"
#include "core/wire/link_state.h"
#include "core/wire/weights_client.h"

namespace regraft::wire {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr std::int64_t kNanosecondsPerMillisecond = 1'000'000;
constexpr Milliseconds kTickEvery{20};
constexpr Milliseconds kPauseBeforeRetry{200};
constexpr std::int64_t kHelloEveryNs = 100 * kNanosecondsPerMillisecond;
// Where a learner dies or a link is cut in the middle of a handshake, it looks like a learner with another
// key: but not several times, nor is it one after the right key was seen.
constexpr int kHandshakesUntilWrongKey = 3;
constexpr std::uint32_t kLookAgainMilliseconds = 500;
constexpr int kLeaveLingerMilliseconds = 500;

std::int64_t to_ns(std::uint32_t milliseconds) {
  return milliseconds * kNanosecondsPerMillisecond;
}

}  // namespace

class Link::Impl {
 public:
  Impl(LinkOptions options, const Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        awake_(clock),
        weights_(context_, state_, options_.keys,
                 {options_.fetch_timeout_ms, options_.max_weights_bytes, options_.stopped}) {
    state_.stand_for({.tickets_wanted = options_.tickets_wanted});
    search_since_ns_ = awake_.steady_ns();
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    if (!options_.of_relay) state_.wait_until_joined();
  }

  ~Impl() {
    thread_.request_stop();
    wake_.signal();
  }

  LinkState& state() { return state_; }
  const LinkState& state() const { return state_; }

  bool send(const Ticket& ticket, const PartInfo& part, std::vector<Frame> frames) {
    const bool wanted = state_.send(ticket, part, std::move(frames));
    wake_.signal();
    return wanted;
  }

  bool send_whole(const Ticket& ticket, std::vector<Part> parts) {
    const bool wanted = state_.send_whole(ticket, std::move(parts));
    wake_.signal();
    return wanted;
  }

  void stand_for(const RelayedActors& relayed) {
    if (!state_.stand_for(relayed)) return;
    beat_due_ = true;
    wake_.signal();
  }

  Weights fetch(std::uint64_t version) { return weights_.fetch(version); }

  TransportCounters counters() const {
    TransportCounters sum = counters_.read();
    sum += weights_.counters();
    sum.cpu_ns += context_.io_cpu_ns();
    return sum;
  }

 private:
  void run(const std::stop_token& stop) {
    try {
      while (!stop.stop_requested() && !state_.failed()) turn();
      leave();
    } catch (...) {
      state_.fail(std::current_exception());
    }
    // Else ZeroMQ aborts where the other end closes amid frames of a message (libzmq issue 3442).
    if (connection_ && joined_) connection_->linger(kLeaveLingerMilliseconds);
    connection_.reset();
  }

  void turn() {
    awake_.look();
    if (!connection_ && !connect()) return pause();
    std::array<zmq::pollitem_t, 4> items{{{connection_->results().handle(), 0, poll_flags(), 0},
                                          {connection_->announcements().handle(), 0, ZMQ_POLLIN, 0},
                                          {connection_->events().handle(), 0, ZMQ_POLLIN, 0},
                                          {nullptr, wake_.fd(), ZMQ_POLLIN, 0}}};
    zmq::poll(items.data(), items.size(), kTickEvery);
    wake_.drain();
    while (const auto event = connection_->events().next()) on_event(*event);
    Incoming message;
    const ReceiveCaps caps{.frames = 1, .bytes = kMaxHeaderBytes};
    while (receive(connection_->announcements(), false, caps, counters_, message)) accept(message, false);
    while (receive(connection_->results(), false, caps, counters_, message)) accept(message, true);
    // Only now: a goodbye may have come before the connection was closed.
    if (reconnect_) return disconnect();
    say_due_hello();
    send_parts();
    send_heartbeat();
    check_silence();
    counters_.sample_thread_cpu();
  }

  short poll_flags() const {
    const bool blocked = joined_ && blocked_ && state_.has_part_to_send();
    return static_cast<short>(ZMQ_POLLIN | (blocked ? ZMQ_POLLOUT : 0));
  }

  bool connect() {
    try {
      const RunInfo run = options_.locate();
      if (!run.server_key.empty() && !is_key(options_.keys.secret_key))
        throw WireError(WireFault::kKey, "this run wants a key", run.run_id, "give the actor's key file");
      run_id_ = run.run_id;
      // A URL does not follow the learner's restarts: what it told us last is newer.
      generation_ = std::max(generation_, run.generation);
      server_key_ = run.server_key;
      connection_ = std::make_unique<Connection>(context_, run, options_.keys);
    } catch (const Error& error) {
      // The run file may be missing while the learner restarts.
      last_problem_ = error.what();
      const auto* wire = dynamic_cast<const WireError*>(&error);
      // Trying again cannot help where the key is wrong, or where locate() knows that the run has ended.
      if (wire != nullptr && (wire->fault() == WireFault::kKey || wire->fault() == WireFault::kClosed)) throw;
      give_up_in_time();
      return false;
    }
    nobody_listens_ = reconnect_ = connected_ = hello_lost_ = false;
    last_heard_ns_ = awake_.steady_ns();
    say_hello();
    return true;
  }

  void pause() {
    zmq::pollitem_t item{nullptr, wake_.fd(), ZMQ_POLLIN, 0};
    zmq::poll(&item, 1, kPauseBeforeRetry);
    wake_.drain();
  }

  void say_hello() {
    Hello hello{.run_id = run_id_,
                .generation = generation_,
                .incarnation = options_.incarnation,
                .actor = options_.actor,
                .kind = options_.kind,
                .pid = static_cast<std::uint64_t>(::getpid()),
                .tickets_wanted = options_.tickets_wanted,
                .told = told_,
                .held = state_.held(generation_)};
    joined_ = hello_due_ = false;
    said_hello_ns_ = awake_.steady_ns();
    post(hello);
  }

  SendOutcome post(const Message& message) {
    return wire::send(connection_->results(), "", encode(message), {}, counters_);
  }

  void on_event(NetEvent event) {
    switch (event) {
      case NetEvent::kNotAuthorised:
        throw WireError(WireFault::kKey, "the learner does not authorise this actor's key",
                        connection_->endpoint(), "regraft keys add it on the learner's side");
      case NetEvent::kHandshakeUnanswered:
        last_problem_ = "the handshake was not answered";
        return;
      case NetEvent::kHandshakeFailed:
        last_problem_ = "the handshake failed";
        if (ever_joined_ || ++failed_handshakes_ < kHandshakesUntilWrongKey) return;
        throw WireError(WireFault::kKey, "the learner does not have the expected key",
                        connection_->endpoint(), "take the run file of the run that is running");
      case NetEvent::kNobodyListens:
        last_problem_ = "nobody listens there";
        nobody_listens_ = true;
        return;
      case NetEvent::kDisconnected:
        last_problem_ = "the connection was closed";
        reconnect_ = reconnect_ || joined_;  // a restarted learner may be elsewhere: look before knocking
        hello_lost_ = hello_lost_ || connected_;
        return;
      case NetEvent::kConnected:
        connected_ = true;
        nobody_listens_ = false;
        failed_handshakes_ = 0;
        return;
      case NetEvent::kOther:
        return;
    }
  }

  void accept(const Incoming& message, bool from_results) {
    if (message.oversized || message.frames.empty()) return;
    const Message decoded = decode(message.frames.front().bytes());
    if (const auto* announce = std::get_if<WeightsAnnounce>(&decoded))
      return state_.on_latest(announce->info);
    if (!from_results) return;
    last_heard_ns_ = awake_.steady_ns();
    if (const auto* welcome = std::get_if<Welcome>(&decoded)) return on_welcome(*welcome);
    if (const auto* refused = std::get_if<Refused>(&decoded)) return on_refused(*refused);
    if (const auto* grant = std::get_if<TicketGrant>(&decoded)) return state_.on_grant(grant->ticket);
    if (const auto* ack = std::get_if<Ack>(&decoded)) return state_.on_ack(*ack);
    if (const auto* beat = std::get_if<Heartbeat>(&decoded)) return state_.on_latest(beat->latest);
    if (const auto* bye = std::get_if<Bye>(&decoded))
      throw WireError(WireFault::kClosed, bye->reason, connection_->endpoint(), "");
  }

  void on_welcome(const Welcome& welcome) {
    joined_ = true;
    ever_joined_ = true;
    generation_ = welcome.generation;
    heartbeat_ns_ = to_ns(welcome.heartbeat_ms);
    beat_due_ = true;
    connection_->subscribe(welcome.announce_port);
    state_.on_welcome(welcome, sibling_endpoint(connection_->endpoint(), ".weights", welcome.weights_port),
                      server_key_);
    log_debug("joined run {} generation {} at {}", run_id_, generation_, connection_->endpoint());
  }

  void on_refused(const Refused& refused) {
    last_problem_ = refused.text;
    switch (refused.reason) {
      case Refusal::kOldGeneration:
        return say_hello_again(std::exchange(generation_, refused.generation) != refused.generation);
      case Refusal::kHelloFirst:
        return say_hello_again(joined_);
      case Refusal::kFull:
        return say_hello_again(false);  // there may be room later: asked again until the deadline
      case Refusal::kKeyRevoked:
        throw WireError(WireFault::kKey, refused.text, connection_->endpoint(), "regraft keys add it again");
      case Refusal::kWrongRun:
      case Refusal::kOldIncarnation:
      case Refusal::kNameTaken:
        throw WireError(WireFault::kRefused, std::string(name_of(refused.reason)) + ": " + refused.text,
                        connection_->endpoint(), "is this actor of this run, and started once?");
    }
  }

  // At once after a change, else at intervals: a learner that goes on refusing is not flooded.
  void say_hello_again(bool changed) {
    hello_due_ns_ = changed ? awake_.steady_ns() : said_hello_ns_ + kHelloEveryNs;
    joined_ = false;
    hello_due_ = true;
  }

  void say_due_hello() {
    if (hello_due_ && awake_.steady_ns() >= hello_due_ns_) say_hello();
  }

  void send_parts() {
    blocked_ = false;
    while (joined_ && !blocked_) {
      const auto part = state_.part_to_send();
      if (!part) return;
      const auto header = encode(part->header);
      const auto outcome = wire::send(connection_->results(), "", header, part->frames, counters_);
      blocked_ = outcome != SendOutcome::kSent;
      if (blocked_) return;
      told_.policy_steps = std::max(told_.policy_steps, part->header.policy_steps);
      state_.part_sent();
    }
  }

  void send_heartbeat() {
    const std::int64_t now = clock_.steady_ns();
    if (!joined_ || (!beat_due_ && now - last_beat_ns_ < heartbeat_ns_)) return;
    beat_due_ = false;
    last_beat_ns_ = now;
    Heartbeat beat = state_.heartbeat();
    if (!options_.of_relay) beat.process_cpu_ns += process_cpu_ns();
    beat.wire_cpu_ns += counters().cpu_ns;
    told_ = {beat.policy_steps, beat.process_cpu_ns, beat.wire_cpu_ns};
    post(beat);
  }

  void check_silence() {
    const std::int64_t now = awake_.steady_ns();
    if (joined_) {
      search_since_ns_ = now;
      if (now - last_heard_ns_ < to_ns(options_.silence_timeout_ms)) return;
      last_problem_ = "nothing was heard from the learner";
      log_warning("nothing was heard from the learner for {} ms: looking for it anew",
                  options_.silence_timeout_ms);
      return disconnect();
    }
    give_up_in_time();
    const bool unheard = nobody_listens_ || hello_lost_;
    const std::uint32_t patience_ms = unheard ? kLookAgainMilliseconds : options_.silence_timeout_ms;
    if (now - said_hello_ns_ >= to_ns(patience_ms)) disconnect();
  }

  void disconnect() {
    joined_ = false;
    state_.on_lost();
    connection_.reset();
  }

  void give_up_in_time() {
    const std::uint32_t patience_ms = ever_joined_ ? options_.give_up_after_ms : options_.connect_timeout_ms;
    if (!last_problem_.empty() && !std::exchange(told_to_wait_, true))
      log_info("waits {:g} s at most for a learner: {}", patience_ms / 1e3, last_problem_);
    if (awake_.steady_ns() - search_since_ns_ < to_ns(patience_ms)) return;
    const std::string where = connection_ ? connection_->endpoint() : run_id_.empty() ? "" : "run " + run_id_;
    throw WireError(WireFault::kTimeout,
                    "no learner answered in " + std::to_string(patience_ms) + " ms" +
                        (last_problem_.empty() ? "" : ": " + last_problem_),
                    where, "is the learner running, and reachable from here?");
  }

  void leave() {
    if (!connection_ || !joined_) return;
    send_parts();
    post(Bye{"the actor leaves"});
  }

  const LinkOptions options_;
  const Clock& clock_;
  AwakeClock awake_;  // by which the learner is silent; for the link's thread
  Context context_;
  LinkState state_;
  WeightsClient weights_;
  Wake wake_;
  LiveCounters counters_;
  std::atomic<bool> beat_due_ = false;

  // The link's thread only.
  std::unique_ptr<Connection> connection_;
  std::string run_id_, server_key_, last_problem_;
  std::uint64_t generation_ = 0;
  bool joined_ = false, ever_joined_ = false, blocked_ = false;
  bool connected_ = false, hello_due_ = false, hello_lost_ = false, nobody_listens_ = false;
  bool reconnect_ = false, told_to_wait_ = false;
  int failed_handshakes_ = 0;
  ActorWork told_;
  std::int64_t heartbeat_ns_ = to_ns(1000);
  std::int64_t search_since_ns_ = 0, last_heard_ns_ = 0, said_hello_ns_ = 0, hello_due_ns_ = 0;
  std::int64_t last_beat_ns_ = 0;
  std::jthread thread_;
};

Link::Link(LinkOptions options, const Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), clock)) {}
Link::~Link() = default;

std::optional<Ticket> Link::next_ticket(Milliseconds wait) {
  return impl_->state().next_ticket(wait);
}
bool Link::wait(Milliseconds wait) const {
  return impl_->state().wait(wait);
}
void Link::stand_for(const RelayedActors& relayed) {
  impl_->stand_for(relayed);
}
bool Link::wanted(const Ticket& ticket) const {
  return impl_->state().wanted(ticket);
}
bool Link::send(const Ticket& ticket, const PartInfo& part, std::vector<Frame> frames) {
  return impl_->send(ticket, part, std::move(frames));
}
bool Link::send_whole(const Ticket& ticket, std::vector<Part> parts) {
  return impl_->send_whole(ticket, std::move(parts));
}
std::optional<Ack> Link::next_ack(Milliseconds wait) {
  return impl_->state().next_ack(wait);
}
bool Link::flush(Milliseconds wait) {
  return impl_->state().flush(wait);
}
WeightsInfo Link::latest() const {
  return impl_->state().latest();
}
Weights Link::fetch(std::uint64_t version) {
  return impl_->fetch(version);
}
std::uint64_t Link::generation() const {
  return impl_->state().generation();
}
TransportCounters Link::counters() const {
  return impl_->counters();
}

}
