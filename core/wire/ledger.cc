#include "core/wire/ledger.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/wire/bounded_archive.h"

namespace regraft::wire {
namespace {

// What is known of closed tickets of this generation: of one so far back a result is as good as late.
constexpr std::size_t kKnownStates = 1 << 18;
constexpr std::uint64_t kGrowth = 4;  // of the journal, until it is cut again

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

constexpr std::array kCounts{
    &TicketCounts::generation,  &TicketCounts::issued,      &TicketCounts::admitted,
    &TicketCounts::stale,       &TicketCounts::rejected,    &TicketCounts::dropped,
    &TicketCounts::lost,        &TicketCounts::outstanding, &TicketCounts::retained,
    &TicketCounts::rolled_back, &TicketCounts::late,        &TicketCounts::duplicates};
static_assert(sizeof(TicketCounts) == kCounts.size() * sizeof(std::uint64_t));

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
    case Journal::kSnapshot:
      return restore(record.payload);
    case kGeneration: {
      std::string run;
      unpack(record.payload, number, run);
      require_own(run);
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

void Ledger::require_own(const std::string& run) const {
  if (run == run_id_) return;
  throw WireError(WireFault::kJournal, "the journal belongs to run " + run + ", not to " + run_id_, "journal",
                  "use the run folder of that run, or a new one");
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

/// By the states alone, so that a replay forgets what was forgotten.
void Ledger::forget_states() {
  if (states_.size() < 2 * kKnownStates || states_.size() % kKnownStates != 0) return;
  const auto end = states_.begin() + kKnownStates;
  if (std::find(states_.begin(), end, 0) != end) return;
  states_.erase(states_.begin(), end);
  first_id_ += kKnownStates;
}

void Ledger::apply_issue(const Ticket& ticket) {
  next_id_ = ticket.id + 1;
  forget_states();
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
  if (mark.offset > journal_.end()) refuse("the journal ends before the checkpoint's mark");
  if (mark.offset > 0 && mark.offset < oldest_mark_)
    refuse("the checkpoint is older than all that the journal was kept for");
  journal_.append_synced(kRollback, pack(mark.offset));
  apply_rollback(mark.offset);
}

void Ledger::apply_rollback(std::uint64_t offset) {
  if (offset == 0) {
    for (TicketCounts& counts : ticket_counts_.generations)
      counts.rolled_back += std::exchange(counts.retained, 0);
    admissions_.clear();
  }
  while (!admissions_.empty() && admissions_.back().end > offset) {
    TicketCounts& counts = ticket_counts_.generations[admissions_.back().generation_index];
    --counts.retained;
    ++counts.rolled_back;
    admissions_.pop_back();
  }
}

void Ledger::forget_before(const JournalMark& oldest, std::uint64_t least_bytes) {
  const MutexLock lock(mutex_);
  oldest_mark_ = std::max(oldest_mark_, oldest.offset);
  std::erase_if(admissions_, [end = oldest_mark_](const Admission& one) { return one.end <= end; });
  if (journal_.file_bytes() < std::max(least_bytes, kGrowth * cut_to_)) return;
  journal_.compact(snapshot());
  cut_to_ = journal_.file_bytes();
}

std::vector<std::byte> Ledger::snapshot() const {
  std::vector<std::uint64_t> ends, indices;
  for (const Admission& one : admissions_) {
    ends.push_back(one.end);
    indices.push_back(one.generation_index);
  }
  std::vector<std::vector<std::uint64_t>> counts;
  for (const TicketCounts& of : ticket_counts_.generations) {
    counts.emplace_back();
    for (const auto count : kCounts) counts.back().push_back(of.*count);
  }
  return pack(run_id_, generation_, next_id_, first_id_, states_, ends, indices, oldest_mark_, counts);
}

void Ledger::restore(std::span<const std::byte> snapshot) {
  std::string run;
  std::vector<std::uint64_t> ends, indices;
  std::vector<std::vector<std::uint64_t>> counts;
  unpack(snapshot, run, generation_, next_id_, first_id_, states_, ends, indices, oldest_mark_, counts);
  require_own(run);
  const auto require = [](bool holds) {
    if (!holds) throw WireError(WireFault::kJournal, "its snapshot contradicts itself", "journal", "");
  };
  require(ends.size() == indices.size() && first_id_ + states_.size() == next_id_ && !counts.empty());
  for (const std::vector<std::uint64_t>& numbers : counts) {
    require(numbers.size() == kCounts.size());
    TicketCounts& of = ticket_counts_.generations.emplace_back();
    for (std::size_t i = 0; i < kCounts.size(); ++i) of.*kCounts[i] = numbers[i];
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    require(indices[i] < counts.size());
    admissions_.push_back({ends[i], static_cast<std::size_t>(indices[i])});
  }
}

JobTicketCounts Ledger::ticket_counts() const {
  const MutexLock lock(mutex_);
  return ticket_counts_;
}

}
