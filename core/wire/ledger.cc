#include "core/wire/ledger.h"

#include <utility>

#include "core/wire/bounded_archive.h"

namespace regraft::wire {
namespace {

enum RecordType : std::uint16_t { kGeneration = 1, kIssue, kClose, kExtra, kMark, kRollback };

template <class... Fields>
std::vector<std::byte> pack(const Fields&... fields) {
  std::vector<std::byte> bytes;
  BytesOutputArchive archive(bytes);
  archive(fields...);
  return bytes;
}

template <class... Fields>
void unpack(std::span<const std::byte> bytes, Fields&... fields) {
  BoundedInputArchive archive(bytes);
  archive(fields...);
  archive.expect_end();
}

std::vector<std::byte> pack_ticket(const Ticket& t) {
  return pack(t.id, t.generation, t.model, t.seed, t.weight_version, t.segment_length, t.sequence);
}

Ticket unpack_ticket(std::span<const std::byte> bytes) {
  Ticket t;
  unpack(bytes, t.id, t.generation, t.model, t.seed, t.weight_version, t.segment_length, t.sequence);
  return t;
}

Verdict checked(std::uint8_t value, Verdict highest) {
  if (value < 1 || value > static_cast<std::uint8_t>(highest)) {
    throw WireError(WireFault::kJournal, "a record holds an unknown state", "journal", "");
  }
  return static_cast<Verdict>(value);
}

std::uint64_t& counter(TicketCounts& counts, Verdict verdict) {
  switch (verdict) {
    case Verdict::kAdmitted:
      return counts.admitted;
    case Verdict::kStale:
      return counts.stale;
    case Verdict::kRejected:
      return counts.rejected;
    case Verdict::kDropped:
      return counts.dropped;
    case Verdict::kLost:
      return counts.lost;
    case Verdict::kLate:
      return counts.late;
  }
  throw WireError(WireFault::kMisuse, "unknown verdict", "ledger", "");
}

// What an actor is told of a ticket that has been closed before.
Verdict as_acknowledged(Verdict state) {
  const bool gone = state == Verdict::kLost || state == Verdict::kDropped;
  return gone ? Verdict::kLate : state;
}

}  // namespace

Ledger::Ledger(const std::filesystem::path& journal, std::string run_id)
    : run_id_(std::move(run_id)), journal_(journal, [this](const Journal::Record& record) {
        const MutexLock lock(mutex_);
        replay(record);
      }) {
  const std::uint64_t next = generation_ + 1;
  // Synced, so that no generation number is ever used twice.
  journal_.append_synced(kGeneration, pack(next, run_id_));
  begin_generation(next);
}

void Ledger::replay(const Journal::Record& record) {
  std::uint64_t number = 0;
  std::uint8_t state = 0;
  switch (record.type) {
    case kGeneration: {
      std::string run;
      unpack(record.payload, number, run);
      if (run != run_id_) {
        throw WireError(WireFault::kJournal, "the journal belongs to run " + run + ", not to " + run_id_,
                        "journal", "use the run folder of that run, or a new one");
      }
      return begin_generation(number);
    }
    case kIssue:
      return apply_issue(unpack_ticket(record.payload));
    case kClose:
      unpack(record.payload, number, state);
      if (final_state(number, generation_)) {
        throw WireError(WireFault::kJournal, "ticket " + std::to_string(number) + " is closed twice",
                        "journal", "");
      }
      return apply_close(number, checked(state, Verdict::kLost), record.end);
    case kExtra:
      unpack(record.payload, number, state);
      return apply_extra(number, checked(state, Verdict::kLate));
    case kMark:
      return;
    case kRollback:
      unpack(record.payload, number);
      return apply_rollback(number);
    default:
      throw WireError(WireFault::kJournal, "record type " + std::to_string(record.type) + " is not known",
                      "journal", "was it written by a newer regraft?");
  }
}

void Ledger::begin_generation(std::uint64_t generation) {
  if (!ticket_counts_.generations.empty()) {
    TicketCounts& old = ticket_counts_.generations.back();
    old.lost += std::exchange(old.outstanding, 0);
  }
  outstanding_.clear();
  states_.clear();
  first_id_ = next_id_;
  generation_ = generation;
  ticket_counts_.generations.push_back(TicketCounts{.generation = generation});
}

Ticket Ledger::issue(const TicketSpec& spec) {
  const MutexLock lock(mutex_);
  Ticket ticket;
  static_cast<TicketSpec&>(ticket) = spec;
  ticket.id = next_id_;
  ticket.generation = generation_;
  journal_.append(kIssue, pack_ticket(ticket));
  apply_issue(ticket);
  return ticket;
}

void Ledger::apply_issue(const Ticket& ticket) {
  next_id_ = ticket.id + 1;
  states_.push_back(0);
  outstanding_.emplace(ticket.id, ticket);
  TicketCounts& counts = ticket_counts_.generations.back();
  ++counts.issued;
  ++counts.outstanding;
}

Verdict Ledger::close(std::uint64_t id, Verdict wanted) {
  const MutexLock lock(mutex_);
  if (wanted == Verdict::kLate) throw WireError(WireFault::kMisuse, "late is no final state", "ledger", "");
  if (const auto state = final_state(id, generation_)) return as_acknowledged(*state);
  append_close(id, wanted);
  return wanted;
}

void Ledger::append_close(std::uint64_t id, Verdict verdict) {
  const std::uint64_t end = journal_.append(kClose, pack(id, static_cast<std::uint8_t>(verdict)));
  apply_close(id, verdict, end);
}

void Ledger::apply_close(std::uint64_t id, Verdict verdict, std::uint64_t end) {
  outstanding_.erase(id);
  states_.at(id - first_id_) = static_cast<std::uint8_t>(verdict);
  TicketCounts& counts = ticket_counts_.generations.back();
  --counts.outstanding;
  ++counter(counts, verdict);
  if (verdict != Verdict::kAdmitted) return;
  ++counts.retained;
  admissions_.push_back({end, ticket_counts_.generations.size() - 1});
}

std::optional<Verdict> Ledger::final_state(std::uint64_t id, std::uint64_t generation) const {
  // All that an older generation left open was lost; a ticket never issued is as good as lost.
  if (generation != generation_ || id < first_id_ || id >= next_id_) return Verdict::kLost;
  const std::uint8_t state = states_[id - first_id_];
  if (state == 0) return std::nullopt;
  return static_cast<Verdict>(state);
}

Verdict Ledger::count_extra_result(std::uint64_t id, std::uint64_t generation) {
  const MutexLock lock(mutex_);
  const auto state = final_state(id, generation);
  if (!state) throw WireError(WireFault::kMisuse, "the ticket is outstanding", "ledger", "");
  const Verdict counted = as_acknowledged(*state);
  journal_.append(kExtra, pack(generation, static_cast<std::uint8_t>(counted)));
  apply_extra(generation, counted);
  return counted;
}

void Ledger::apply_extra(std::uint64_t generation, Verdict counted) {
  TicketCounts* counts = &ticket_counts_.generations.back();
  for (TicketCounts& each : ticket_counts_.generations) {
    if (each.generation == generation) counts = &each;
  }
  ++(counted == Verdict::kLate ? counts->late : counts->duplicates);
}

bool Ledger::is_outstanding(std::uint64_t id, std::uint64_t generation) const {
  const MutexLock lock(mutex_);
  return !final_state(id, generation);
}

std::uint64_t Ledger::outstanding() const {
  const MutexLock lock(mutex_);
  return outstanding_.size();
}

void Ledger::drop_outstanding() {
  const MutexLock lock(mutex_);
  while (!outstanding_.empty()) append_close(outstanding_.begin()->first, Verdict::kDropped);
  journal_.append_synced(kMark, pack(generation_));
}

JournalMark Ledger::mark() {
  const MutexLock lock(mutex_);
  return {run_id_, generation_, journal_.append_synced(kMark, pack(generation_))};
}

void Ledger::roll_back(const JournalMark& mark) {
  const MutexLock lock(mutex_);
  const auto refuse = [&](const std::string& what) REQUIRES(mutex_) {
    throw WireError(WireFault::kJournal, what, journal_.path().string(),
                    "resume with the journal that belongs to the checkpoint");
  };
  if (mark.offset > 0 && mark.run_id != run_id_) refuse("the checkpoint is of run " + mark.run_id);
  if (mark.offset > journal_.size_bytes()) refuse("the journal ends before the checkpoint's mark");
  journal_.append_synced(kRollback, pack(mark.offset));
  apply_rollback(mark.offset);
}

void Ledger::apply_rollback(std::uint64_t offset) {
  while (!admissions_.empty() && admissions_.back().end > offset) {
    TicketCounts& counts = ticket_counts_.generations[admissions_.back().generation_index];
    --counts.retained;
    ++counts.rolled_back;
    admissions_.pop_back();
  }
}

JobTicketCounts Ledger::ticket_counts() const {
  const MutexLock lock(mutex_);
  return ticket_counts_;
}

}  // namespace regraft::wire
