#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/wire/journal.h"
#include "core/wire/ticket_book.h"
#include "core/wire/ticket_counts.h"

namespace regraft::wire {

/// A place in the journal, kept in a checkpoint.
struct JournalMark {
  std::string run_id;
  std::uint64_t generation = 0;
  std::uint64_t offset = 0;  // bytes; 0: before everything
};

/// All tickets of a run and their states, on a write-ahead journal: each call writes its record before it
/// changes anything or returns. So what a caller sends or acknowledges afterwards still holds after a
/// restart. A ticket reaches exactly one final state.
///
/// Opening begins a new generation: what the one before had outstanding is lost.
/// Thread-safe. Errors: WireError(kJournal); the counts are then as before the call.
class Ledger : public TicketBook {
 public:
  /// Opens or creates the journal. Throws if it belongs to another run.
  Ledger(const std::filesystem::path& journal, std::string run_id);

  const std::string& run_id() const override { return run_id_; }
  std::uint64_t generation() const override { return generation_; }

  /// Records a new outstanding ticket; send it afterwards.
  Ticket issue(const TicketSpec& spec) override;

  /// Brings a ticket of this generation into a final state (not kLate) and returns the state it is in now:
  /// `wanted`; or, if it had one already, that one, and kLate for a lost or dropped one. Who admits must look
  /// at the answer.
  Verdict close(std::uint64_t id, Verdict wanted) override;

  /// A result came although its ticket is closed or of an older generation: counts it as late or as a
  /// duplicate, and returns what to acknowledge. Throws WireError(kMisuse) for an outstanding ticket.
  Verdict count_extra_result(std::uint64_t id, std::uint64_t generation) override;

  bool is_outstanding(std::uint64_t id, std::uint64_t generation) const override;
  std::uint64_t outstanding() const override;

  /// At the end of a run: what is still outstanding is dropped, and the journal synced.
  void drop_outstanding() override;

  /// For a checkpoint: everything recorded so far is on the disk, and in the checkpoint.
  JournalMark mark();
  /// After resuming from a checkpoint: what was admitted behind its mark is rolled back. Throws
  /// WireError(kJournal) if the mark is of another run, beyond the journal, or older than the oldest kept
  /// one.
  void roll_back(const JournalMark& mark);
  /// No mark but those from `oldest` on is needed any more, and the first of all. A journal that has grown to
  /// `least_bytes`, and to four times what it was cut to, is cut to what all its records come to. Throws
  /// FileError where that cannot be written; the journal is then as before.
  void forget_before(const JournalMark& oldest, std::uint64_t least_bytes = 4 << 20);

  /// One entry a generation, in order.
  JobTicketCounts ticket_counts() const;

 private:
  struct Admission {
    std::uint64_t end = 0;  // journal offset behind the record
    std::size_t generation_index = 0;
  };

  void replay(const Journal::Record& record) REQUIRES(mutex_);
  std::vector<std::byte> snapshot() const REQUIRES(mutex_);
  void restore(std::span<const std::byte> snapshot) REQUIRES(mutex_);
  void require_own(const std::string& run) const;
  void begin_generation(std::uint64_t generation) REQUIRES(mutex_);
  void forget_states() REQUIRES(mutex_);
  void apply_issue(const Ticket& ticket) REQUIRES(mutex_);
  void apply_close(std::uint64_t id, Verdict verdict, std::uint64_t end) REQUIRES(mutex_);
  void apply_extra(std::uint64_t generation, Verdict counted) REQUIRES(mutex_);
  void apply_rollback(std::uint64_t offset) REQUIRES(mutex_);
  void append_close(std::uint64_t id, Verdict verdict) REQUIRES(mutex_);
  std::optional<Verdict> final_state(std::uint64_t id, std::uint64_t generation) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::string run_id_;
  std::uint64_t generation_ = 0;
  std::uint64_t next_id_ GUARDED_BY(mutex_) = 1;
  std::uint64_t first_id_ GUARDED_BY(mutex_) = 1;        // of this generation, or the first that is known
  std::vector<std::uint8_t> states_ GUARDED_BY(mutex_);  // by id - first_id_: 0 outstanding, else a Verdict
  std::map<std::uint64_t, Ticket> outstanding_ GUARDED_BY(mutex_);
  std::vector<Admission> admissions_
      GUARDED_BY(mutex_);                             // behind the oldest mark, not rolled back, ascending
  std::uint64_t oldest_mark_ GUARDED_BY(mutex_) = 0;  // offset
  std::uint64_t cut_to_ GUARDED_BY(mutex_) = 0;       // bytes of the journal when it was cut last
  JobTicketCounts ticket_counts_ GUARDED_BY(mutex_);
  Journal journal_ GUARDED_BY(mutex_);  // last: its constructor replays into the members above
};

}
