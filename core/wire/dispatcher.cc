#include "core/wire/dispatcher.h"

#include <algorithm>
#include <utility>

namespace regraft::wire {
namespace {

constexpr std::int64_t kNanosecondsPerMillisecond = 1'000'000;
constexpr std::size_t kMaxKnownNames = std::size_t{1} << 16;
constexpr std::uint32_t kHeartbeatsATimeout = 4;  // at least: one that comes late ends no actor
constexpr std::size_t kFewUndecided = 16;         // results without a verdict, however few actors there are

}  // namespace

Dispatcher::Dispatcher(const DispatchOptions& options, TicketBook& ledger, WeightsStore& weights,
                       TicketSource source, const Clock& clock)
    : options_(options),
      ledger_(ledger),
      weights_(weights),
      source_(std::move(source)),
      clock_(clock),
      sizes_(options.ticket_bytes) {}

void Dispatcher::on_message(const Sender& from, std::span<const std::byte> header,
                            std::vector<Frame> frames) {
  Message message;
  const auto known = peers_.find(from.connection);
  try {
    message = decode(header);
  } catch (const WireError& error) {
    ++protocol_errors_;
    if (known != peers_.end()) drop_peer(known);
    return refuse(from.connection, Refusal::kHelloFirst, error.what());
  }
  if (const auto* hello = std::get_if<Hello>(&message)) return on_hello(from, *hello);
  if (known == peers_.end() || known->second.key != from.key) {
    return refuse(from.connection, Refusal::kHelloFirst, "this connection is not known");
  }
  Peer& peer = known->second;
  peer.last_heard_ns = clock_.steady_ns();
  if (const auto* result = std::get_if<Result>(&message)) {
    on_result(peer, from.connection, *result, std::move(frames));
  } else if (const auto* beat = std::get_if<Heartbeat>(&message)) {
    on_heartbeat(peer, from.connection, *beat);
  } else if (std::holds_alternative<Bye>(message)) {
    drop_peer(known);
  } else {
    ++protocol_errors_;
    drop_peer(known);
    refuse(from.connection, Refusal::kHelloFirst, "an actor does not send this message");
  }
}

void Dispatcher::on_hello(const Sender& from, const Hello& hello) {
  if (!admits(from, hello)) return;
  Peer peer;
  peer.status.info = {hello.actor, hello.kind, hello.incarnation, hello.pid, hello.told};
  peer.key = from.key;
  peer.wanted = std::clamp<std::uint32_t>(hello.tickets_wanted, 1, options_.max_tickets_per_actor);
  peer.last_heard_ns = peer.counted_ns = clock_.steady_ns();
  peer.held = take_over(hello);
  on_unreachable(from.connection);  // a connection that was another actor's until now
  incarnations_[hello.actor] = hello.incarnation;
  peers_[from.connection] = std::move(peer);
  const std::uint32_t heartbeat_ms =
      std::min(options_.heartbeat_ms, options_.actor_timeout_ms / kHeartbeatsATimeout);
  send(from.connection, Welcome{ledger_.generation(), heartbeat_ms, ports_.weights, ports_.announce,
                                options_.ticket_bytes, weights_.latest()});
}

bool Dispatcher::admits(const Sender& from, const Hello& hello) {
  const auto refused = [&](Refusal reason, const std::string& text) {
    refuse(from.connection, reason, text);
    return false;
  };
  if (hello.run_id != ledger_.run_id()) {
    return refused(Refusal::kWrongRun, "this learner serves run " + ledger_.run_id());
  }
  if (hello.generation != ledger_.generation()) {
    return refused(Refusal::kOldGeneration,
                   "the learner is in generation " + std::to_string(ledger_.generation()));
  }
  const auto present = peer_named(hello.actor);
  if (present != peers_.end() && present->second.key != from.key) {
    return refused(Refusal::kNameTaken, "an actor with another key is called " + hello.actor);
  }
  const auto seen = incarnations_.find(hello.actor);
  if (seen != incarnations_.end() && hello.incarnation < seen->second) {
    return refused(Refusal::kOldIncarnation,
                   "incarnation " + std::to_string(seen->second) + " of " + hello.actor + " has joined");
  }
  const bool full = present == peers_.end() && actor_count() >= options_.max_actors;
  if (full || (seen == incarnations_.end() && incarnations_.size() >= kMaxKnownNames)) {
    return refused(Refusal::kFull,
                   "no more than " + std::to_string(options_.max_actors) + " actors are taken");
  }
  return true;
}

// The same worker on a new connection keeps what it says it holds; what was on its way is lost, and so is all
// that an older incarnation held.
std::map<std::uint64_t, Dispatcher::Held> Dispatcher::take_over(const Hello& hello) {
  std::map<std::uint64_t, Held> kept;
  const auto old = peer_named(hello.actor);
  if (old == peers_.end()) return kept;
  if (old->second.status.info.incarnation == hello.incarnation) {
    for (const std::uint64_t id : hello.held) {
      const auto found = old->second.held.find(id);
      if (found == old->second.held.end()) continue;
      kept[id] = {found->second.ticket, {}, 0, found->second.reserved};  // its parts will be sent again
      old->second.held.erase(found);
    }
  }
  drop_peer(old);
  return kept;
}

void Dispatcher::on_heartbeat(Peer& peer, const std::string& connection, const Heartbeat& beat) {
  peer.status.policy_steps = beat.policy_steps;
  peer.status.process_cpu_ns = beat.process_cpu_ns;
  peer.status.wire_cpu_ns = beat.wire_cpu_ns;
  peer.status.relayed = beat.relayed;
  settle_wait(peer);
  const std::size_t others = actor_count() - peer.status.actors;
  const auto room = static_cast<std::uint32_t>(options_.max_actors -
                                               std::min<std::size_t>(others, options_.max_actors - 1));
  peer.status.actors =
      std::clamp<std::uint32_t>(beat.actors, 1, std::min(room, options_.max_actors_per_connection));
  peer.wanted = std::min(beat.tickets_wanted, peer.status.actors * options_.max_tickets_per_actor);
  send(connection, Heartbeat{.latest = weights_.latest()});
}

void Dispatcher::on_result(Peer& peer, const std::string& connection, const Result& result,
                           std::vector<Frame> frames) {
  peer.status.policy_steps = std::max(peer.status.policy_steps, result.policy_steps);
  const auto held = peer.held.find(result.ticket);
  if (held == peer.held.end() || result.generation != ledger_.generation()) {
    if (ledger_.is_outstanding(result.ticket, result.generation)) {
      // Delivered and awaiting its verdict, which will be acknowledged; or another actor's by now.
      const auto delivered = delivered_.find(result.ticket);
      if (delivered != delivered_.end() && delivered->second.actor == peer.status.info.name) return;
      ++protocol_errors_;
      if (result.last == 1) send(connection, Ack{result.ticket, Verdict::kLate, weights_.latest()});
    } else if (result.last == 1) {
      const Verdict state = ledger_.count_extra_result(result.ticket, result.generation);
      send(connection, Ack{result.ticket, state, weights_.latest()});
    }
    return;
  }
  Held& work = held->second;
  if (result.part == 0) {
    work.parts.clear();
    work.bytes = 0;
  }
  const std::uint64_t bytes = total_bytes(frames);
  work.bytes += bytes;
  const bool good = result.part == work.parts.size() && result.part < options_.max_parts &&
                    bytes == result.payload_bytes && work.bytes <= options_.ticket_bytes &&
                    (work.parts.empty() || work.parts.front().header.weight_version == result.weight_version);
  if (!good) return reject(peer, connection, held);
  work.parts.push_back({result, std::move(frames)});
  if (result.last == 1) deliver(peer, held);
}

void Dispatcher::deliver(Peer& peer, std::map<std::uint64_t, Held>::iterator held) {
  Held work = take_from(peer, held);
  reserved_ += work.bytes;
  sizes_.add(peer.status.info.kind, work.ticket.model, work.bytes);
  delivered_[work.ticket.id] = {peer.status.info.name, work.ticket, work.bytes};
  deliveries_.push_back({work.ticket, peer.status.info, std::move(work.parts)});
}

void Dispatcher::reject(Peer& peer, const std::string& connection,
                        std::map<std::uint64_t, Held>::iterator held) {
  const Ticket ticket = take_from(peer, held).ticket;
  const Verdict state = ledger_.close(ticket.id, Verdict::kRejected);
  unpin(ticket);
  send(connection, Ack{ticket.id, state, weights_.latest()});
}

Dispatcher::Held Dispatcher::take_from(Peer& peer, std::map<std::uint64_t, Held>::iterator held) {
  Held taken = std::move(held->second);
  reserved_ -= taken.reserved;
  settle_wait(peer);
  if (peer.held.size() == peer.status.actors) peer.needs_memory = false;  // its next wait begins
  peer.held.erase(held);
  return taken;
}

void Dispatcher::on_away(const std::string& connection) {
  const auto peer = peers_.find(connection);
  if (peer != peers_.end()) peer->second.away = true;
}

void Dispatcher::on_unreachable(const std::string& connection) {
  const auto peer = peers_.find(connection);
  if (peer != peers_.end()) drop_peer(peer);
}

void Dispatcher::on_decided(std::uint64_t id, Verdict verdict) {
  const auto found = delivered_.find(id);
  if (found == delivered_.end()) return;
  const auto peer = peer_named(found->second.actor);
  // An actor that is away sends its result again when it is back, and is told then.
  if (peer != peers_.end()) send(peer->first, Ack{id, verdict, weights_.latest()});
  unpin(found->second.ticket);
  reserved_ -= found->second.bytes;
  delivered_.erase(found);
}

void Dispatcher::tick() {
  const std::int64_t deadline_ns =
      clock_.steady_ns() - std::int64_t{options_.actor_timeout_ms} * kNanosecondsPerMillisecond;
  for (auto it = peers_.begin(); it != peers_.end();) {
    const auto peer = it++;
    if (peer->second.last_heard_ns >= deadline_ns) continue;
    refuse(peer->first, Refusal::kHelloFirst, "nothing was heard for too long");
    drop_peer(peer);
  }
  if (issuing_) issue_all();
}

void Dispatcher::drop_unauthorised(const std::function<bool(const std::string& key)>& authorised) {
  for (auto it = peers_.begin(); it != peers_.end();) {
    const auto peer = it++;
    if (authorised(peer->second.key)) continue;
    refuse(peer->first, Refusal::kKeyRevoked, "the key of this actor was revoked");
    drop_peer(peer);
  }
}

void Dispatcher::say_bye() {
  for (const auto& [connection, peer] : peers_) send(connection, Bye{"the run has ended"});
}

void Dispatcher::drop_peer(Peers::iterator peer) {
  while (!peer->second.held.empty())
    lose(peer->second.status.info.kind, take_from(peer->second, peer->second.held.begin()).ticket);
  peers_.erase(peer);
}

void Dispatcher::lose(const std::string& kind, const Ticket& ticket) {
  ledger_.close(ticket.id, Verdict::kLost);
  if (options_.deterministic) {
    again_.push_back({kind, ticket});  // keeps its pin
  }
}

void Dispatcher::unpin(const Ticket& ticket) {
  if (options_.deterministic) weights_.unpin(ticket.weight_version);
}

void Dispatcher::issue_all() {
  const std::size_t most_undecided = std::max(kFewUndecided, actor_count() * options_.max_tickets_per_actor);
  if (!options_.deterministic && delivered_.size() >= most_undecided) return note_memory(false);
  std::size_t idle = 0;
  auto it = peers_.lower_bound(last_served_);
  std::uint32_t served = it != peers_.end() && it->first == last_served_ ? served_ : 0;
  while (idle < peers_.size()) {
    if (it == peers_.end()) it = peers_.begin();
    if (reserved_ > 0 &&
        reserved_ + sizes_.expected(it->second.status.info.kind) > options_.max_outstanding_bytes)
      return note_memory(true);
    const bool turn_over = served >= it->second.status.actors;
    if (!turn_over && issue_one(it->first, it->second)) {
      last_served_ = it->first;
      served_ = ++served;
      idle = 0;
      continue;
    }
    if (!turn_over) ++idle;
    ++it;
    served = 0;
  }
  note_memory(false);
}

void Dispatcher::note_memory(bool is_short) {
  for (auto& [connection, peer] : peers_) {
    if (peer.needs_memory == is_short) continue;
    settle_wait(peer);
    peer.needs_memory = is_short;
  }
}

bool Dispatcher::issue_one(const std::string& connection, Peer& peer) {
  if (peer.away || peer.held.size() >= peer.wanted) return false;
  const auto spec = next_spec(peer);
  if (!spec) return false;
  const Ticket ticket = ledger_.issue(*spec);
  settle_wait(peer);
  const std::uint64_t reserved = sizes_.expected(peer.status.info.kind, ticket.model);
  peer.held[ticket.id] = {ticket, {}, 0, reserved};
  reserved_ += reserved;
  send(connection, TicketGrant{ticket});
  return true;
}

void Dispatcher::count_wait(const Peer& peer, ActorStatus& status) const {
  const std::uint64_t idle = status.actors - std::min<std::size_t>(peer.held.size(), status.actors);
  const auto waited_ns = idle * static_cast<std::uint64_t>(clock_.steady_ns() - peer.counted_ns);
  status.waited_ns += waited_ns;
  if (peer.needs_memory) status.waited_for_memory_ns += waited_ns;
}

void Dispatcher::settle_wait(Peer& peer) {
  count_wait(peer, peer.status);
  peer.counted_ns = clock_.steady_ns();
}

std::size_t Dispatcher::actor_count() const {
  std::size_t count = 0;
  for (const auto& [connection, peer] : peers_) count += peer.status.actors;
  return count;
}

std::optional<TicketSpec> Dispatcher::next_spec(const Peer& peer) {
  const auto& info = peer.status.info;
  const auto again =
      std::find_if(again_.begin(), again_.end(), [&](const Again& a) { return a.kind == info.kind; });
  if (again != again_.end()) {
    const TicketSpec spec = again->spec;
    again_.erase(again);
    return spec;
  }
  const auto spec = source_(info);
  if (spec && options_.deterministic) weights_.pin(spec->weight_version);
  return spec;
}

void Dispatcher::refuse(const std::string& connection, Refusal reason, const std::string& text) {
  send(connection, Refused{reason, ledger_.generation(), text.substr(0, kMaxTextBytes)});
}

void Dispatcher::send(const std::string& connection, Message message) {
  outgoing_.push_back({connection, std::move(message)});
}

Dispatcher::Peers::iterator Dispatcher::peer_named(const std::string& actor) {
  return std::find_if(peers_.begin(), peers_.end(),
                      [&](const auto& entry) { return entry.second.status.info.name == actor; });
}

std::vector<ActorStatus> Dispatcher::actors() const {
  std::vector<ActorStatus> all;
  for (const auto& [connection, peer] : peers_) {
    all.push_back(peer.status);
    all.back().tickets_held = peer.held.size();
    count_wait(peer, all.back());
  }
  return all;
}

}
