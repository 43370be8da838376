#include "core/wire/relay_book.h"

namespace regraft::wire {

void RelayBook::add(const std::string& kind, const Ticket& ticket) {
  const MutexLock lock(mutex_);
  if (entries_.try_emplace(ticket.id, Entry{kind, ticket}).second) waiting_[kind].push_back(ticket.id);
}

std::optional<TicketSpec> RelayBook::next(const std::string& kind) {
  const MutexLock lock(mutex_);
  const auto waiting = waiting_.find(kind);
  if (waiting == waiting_.end()) return std::nullopt;
  Entry& entry = entries_.at(waiting->second.front());
  waiting->second.pop_front();
  if (waiting->second.empty()) waiting_.erase(waiting);
  entry.state = State::issued;
  chosen_ = entry.ticket;
  return chosen_;
}

Ticket RelayBook::issue(const TicketSpec&) {
  const MutexLock lock(mutex_);
  return chosen_;  // where its kind was forgotten in between, its result will be late
}

void RelayBook::deliver(std::uint64_t id) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  if (found != entries_.end()) found->second.state = State::delivered;
}

bool RelayBook::acknowledge(std::uint64_t id) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return false;
  if (found->second.state == State::delivered) return true;
  if (found->second.state == State::refused) entries_.erase(found);
  return false;
}

std::vector<std::pair<std::string, Ticket>> RelayBook::take_refused() {
  const MutexLock lock(mutex_);
  std::vector<std::pair<std::string, Ticket>> refused;
  for (const auto& [id, entry] : entries_)
    if (entry.state == State::refused) refused.emplace_back(entry.kind, entry.ticket);
  for (const auto& [kind, ticket] : refused) entries_.erase(ticket.id);
  return refused;
}

std::vector<Ticket> RelayBook::forget(const std::string& kind) {
  const MutexLock lock(mutex_);
  std::vector<Ticket> delivered;
  waiting_.erase(kind);
  std::erase_if(entries_, [&](const auto& entry) {
    if (entry.second.kind != kind) return false;
    if (entry.second.state == State::delivered) delivered.push_back(entry.second.ticket);
    return true;
  });
  return delivered;
}

Verdict RelayBook::close(std::uint64_t id, Verdict wanted) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end()) return Verdict::kLate;
  Entry& entry = found->second;
  if (wanted == Verdict::kLost) {
    entry.state = State::waiting;
    waiting_[entry.kind].push_front(id);
  } else if (wanted == Verdict::kRejected && entry.state == State::issued) {
    entry.state = State::refused;
  } else {
    entries_.erase(found);
  }
  return wanted;
}

bool RelayBook::is_outstanding(std::uint64_t id, std::uint64_t generation) const {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(id);
  return generation == generation_ && found != entries_.end() && found->second.state != State::waiting &&
         found->second.state != State::refused;
}

std::uint64_t RelayBook::outstanding() const {
  const MutexLock lock(mutex_);
  return entries_.size();
}

void RelayBook::drop_outstanding() {
  const MutexLock lock(mutex_);
  entries_.clear();
  waiting_.clear();
}

}
