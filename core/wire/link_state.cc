#include "core/wire/link_state.h"

#include <algorithm>
#include <utility>

namespace regraft::wire {
namespace {

constexpr std::size_t kKeptAcks = kMaxHeldTickets;

Part shared_copy(const Part& part) {
  Part copy{part.header, {}};
  for (const Frame& frame : part.frames) copy.frames.push_back(frame.share());
  return copy;
}

}  // namespace

void LinkState::throw_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

std::optional<Ticket> LinkState::next_ticket(Milliseconds wait) {
  MutexLock lock(mutex_);
  changed_.wait_for(lock, wait, [&]() REQUIRES(mutex_) { return !tickets_.empty() || failure_; });
  throw_failure();
  if (tickets_.empty()) return std::nullopt;
  const Ticket ticket = tickets_.front();
  tickets_.pop_front();
  return ticket;
}

bool LinkState::send(const Ticket& ticket, const PartInfo& info, std::vector<Frame> frames) {
  const MutexLock lock(mutex_);
  return add_part(ticket, info, std::move(frames));
}

bool LinkState::send_whole(const Ticket& ticket, std::vector<Part> parts) {
  const MutexLock lock(mutex_);  // over all: between tickets there are no parts without a last one
  for (Part& part : parts) {
    const PartInfo info{.weight_version = part.header.weight_version,
                        .steps = part.header.steps,
                        .last = part.header.last == 1,
                        .policy_steps = part.header.last == 1 ? part.header.policy_steps : 0};
    if (!add_part(ticket, info, std::move(part.frames))) return false;
  }
  return true;
}

bool LinkState::add_part(const Ticket& ticket, const PartInfo& info, std::vector<Frame> frames) {
  throw_failure();
  policy_steps_ = std::max(policy_steps_, info.policy_steps);
  const auto found = open_.find(ticket.id);
  if (found == open_.end() || found->second.ticket.generation != ticket.generation) return false;
  Open& open = found->second;
  const auto misuse = [&](const char* what) {
    throw WireError(WireFault::kMisuse, what, "ticket " + std::to_string(ticket.id), "");
  };
  if (open.complete) misuse("the last part was sent already");
  if (!open.parts.empty() && open.parts.front().header.weight_version != info.weight_version) {
    misuse("the weights changed within a ticket");
  }
  if (frames.size() >= kMaxFrames) misuse("too many frames in one part");
  const std::uint64_t bytes = total_bytes(frames);
  // The learner's socket would close on it, and the result be sent again for ever.
  if (open.bytes + bytes > ticket_bytes_) misuse("the result is larger than the learner takes");
  Result header;
  header.ticket = ticket.id;
  header.generation = ticket.generation;
  header.part = static_cast<std::uint32_t>(open.parts.size());
  header.last = info.last ? 1 : 0;
  header.weight_version = info.weight_version;
  header.steps = info.steps;
  header.payload_bytes = bytes;
  header.policy_steps = info.policy_steps;
  open.bytes += bytes;
  open.complete = info.last;
  to_send_.push_back({ticket.id, open.parts.size()});
  open.parts.push_back({header, std::move(frames)});
  return true;
}

std::optional<Ack> LinkState::next_ack(Milliseconds wait) {
  MutexLock lock(mutex_);
  changed_.wait_for(lock, wait, [&]() REQUIRES(mutex_) { return !acks_.empty() || failure_; });
  if (acks_.empty()) {
    throw_failure();
    return std::nullopt;
  }
  const Ack ack = acks_.front();
  acks_.pop_front();
  return ack;
}

bool LinkState::flush(Milliseconds wait) {
  MutexLock lock(mutex_);
  const auto nothing_left = [&]() REQUIRES(mutex_) {
    return std::none_of(open_.begin(), open_.end(), [](const auto& entry) { return entry.second.complete; });
  };
  const bool done =
      changed_.wait_for(lock, wait, [&]() REQUIRES(mutex_) { return nothing_left() || failure_; });
  if (!nothing_left()) throw_failure();
  return done;
}

bool LinkState::wait(Milliseconds wait) const {
  MutexLock lock(mutex_);
  const auto something = [&]() REQUIRES(mutex_) { return !tickets_.empty() || !acks_.empty(); };
  changed_.wait_for(lock, wait, [&]() REQUIRES(mutex_) { return something() || failure_; });
  if (!something()) throw_failure();
  return something();
}

bool LinkState::wanted(const Ticket& ticket) const {
  const MutexLock lock(mutex_);
  const auto found = open_.find(ticket.id);
  return found != open_.end() && found->second.ticket.generation == ticket.generation;
}

WeightsInfo LinkState::latest() const {
  const MutexLock lock(mutex_);
  return latest_;
}

void LinkState::expect_between_tickets() const {
  for (const auto& [id, open] : open_) {
    if (open.parts.empty() || open.complete) continue;
    throw WireError(WireFault::kMisuse, "weights are swapped between tickets only",
                    "ticket " + std::to_string(id), "send its last part first");
  }
}

void LinkState::wait_until_joined() {
  MutexLock lock(mutex_);
  // The link's thread has the deadline, and ends in one or the other.
  changed_.wait(lock, [&]() REQUIRES(mutex_) { return joined_ || failure_; });
  throw_failure();
}

WeightsPlace LinkState::weights_place() const {
  const MutexLock lock(mutex_);
  throw_failure();
  expect_between_tickets();
  return weights_place_;
}

WeightsPlace LinkState::await_weights_place(const std::stop_token& stopped) const {
  MutexLock lock(mutex_);
  // Here too the link's thread has the deadline.
  changed_.wait(lock, stopped,
                [&]() REQUIRES(mutex_) { return !weights_place_.endpoint.empty() || failure_; });
  throw_failure();
  if (stopped.stop_requested()) throw WireError(WireFault::kClosed, "asked to stop", "weights", "");
  expect_between_tickets();
  return weights_place_;
}

std::uint64_t LinkState::generation() const {
  const MutexLock lock(mutex_);
  return generation_;
}

void LinkState::on_lost() {
  const MutexLock lock(mutex_);
  weights_place_.endpoint.clear();
}

void LinkState::on_welcome(const Welcome& welcome, const std::string& weights_endpoint,
                           const std::string& server_key) {
  const MutexLock lock(mutex_);
  give_up_older(welcome.generation);
  generation_ = welcome.generation;
  ticket_bytes_ = welcome.ticket_bytes;
  weights_place_ = {weights_endpoint, server_key, weights_place_.joined + 1};
  latest_ = welcome.latest;
  joined_ = true;
  to_send_.clear();
  for (const auto& [id, open] : open_) {
    for (std::size_t part = 0; part < open.parts.size(); ++part) to_send_.push_back({id, part});
  }
  changed_.notify_all();
}

// The learner has closed these tickets as lost; their results would be late.
void LinkState::give_up_older(std::uint64_t generation) {
  std::erase_if(tickets_, [&](const Ticket& ticket) { return ticket.generation != generation; });
  for (auto it = open_.begin(); it != open_.end();) {
    if (it->second.ticket.generation == generation) {
      ++it;
      continue;
    }
    if (it->second.complete) push_ack({it->first, Verdict::kLate, latest_});
    it = open_.erase(it);
  }
}

void LinkState::on_grant(const Ticket& ticket) {
  const MutexLock lock(mutex_);
  if (ticket.generation != generation_ || open_.contains(ticket.id)) return;
  open_[ticket.id].ticket = ticket;
  tickets_.push_back(ticket);
  changed_.notify_all();
}

void LinkState::on_ack(const Ack& ack) {
  const MutexLock lock(mutex_);
  const auto found = open_.find(ack.ticket);
  if (found == open_.end()) return;
  open_.erase(found);
  skip_acknowledged();
  latest_ = ack.latest.version > latest_.version ? ack.latest : latest_;
  push_ack(ack);
}

void LinkState::push_ack(const Ack& ack) {
  acks_.push_back(ack);
  if (acks_.size() > kKeptAcks) acks_.pop_front();
  changed_.notify_all();
}

void LinkState::on_latest(const WeightsInfo& info) {
  const MutexLock lock(mutex_);
  if (info.version > latest_.version) latest_ = info;
}

void LinkState::fail(std::exception_ptr error) {
  const MutexLock lock(mutex_);
  if (!failure_) failure_ = std::move(error);
  changed_.notify_all();
}

bool LinkState::failed() const {
  const MutexLock lock(mutex_);
  return failure_ != nullptr;
}

std::vector<std::uint64_t> LinkState::held(std::uint64_t generation) const {
  const MutexLock lock(mutex_);
  std::vector<std::uint64_t> ids;
  for (const auto& [id, open] : open_) {
    if (open.ticket.generation == generation && ids.size() < kMaxHeldTickets) ids.push_back(id);
  }
  return ids;
}

bool LinkState::stand_for(const RelayedActors& relayed) {
  const MutexLock lock(mutex_);
  const bool changed = relayed.actors != relayed_.actors || relayed.tickets_wanted != relayed_.tickets_wanted;
  relayed_ = relayed;
  return changed;
}

Heartbeat LinkState::heartbeat() const {
  const MutexLock lock(mutex_);
  return {.policy_steps = std::max(policy_steps_, relayed_.work.policy_steps),
          .process_cpu_ns = relayed_.work.cpu_ns,
          .wire_cpu_ns = relayed_.work.wire_cpu_ns,
          .actors = relayed_.actors,
          .tickets_wanted = relayed_.tickets_wanted,
          .relayed = relayed_.traffic,
          .latest = {}};
}

void LinkState::skip_acknowledged() {
  std::erase_if(to_send_, [&](const Place& place) REQUIRES(mutex_) { return !open_.contains(place.ticket); });
}

bool LinkState::has_part_to_send() const {
  const MutexLock lock(mutex_);
  return !to_send_.empty();
}

std::optional<Part> LinkState::part_to_send() const {
  const MutexLock lock(mutex_);
  if (to_send_.empty()) return std::nullopt;
  const Place& place = to_send_.front();
  return shared_copy(open_.at(place.ticket).parts.at(place.part));
}

void LinkState::part_sent() {
  const MutexLock lock(mutex_);
  if (!to_send_.empty()) to_send_.pop_front();
}

}
