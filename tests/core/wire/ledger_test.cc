#include "core/wire/ledger.h"

#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/wire/run_fixture.h"

namespace regraft::wire {
namespace {

namespace fs = std::filesystem;

// The obvious reference: a list of all that happened, counted anew at every question.
class Reference {
 public:
  struct Entry {
    std::uint64_t id = 0, generation = 0, closed_at = 0;
    std::optional<Verdict> state;
    bool rolled_back = false;
  };

  void restart() {
    ++generation_;
    for (Entry& entry : entries_) {
      if (!entry.state) entry.state = Verdict::kLost;
    }
  }
  void issue(const Ticket& ticket) { entries_.push_back({ticket.id, ticket.generation, 0, {}, false}); }
  Verdict close(std::uint64_t id, Verdict wanted, std::uint64_t at) {
    for (Entry& entry : entries_) {
      if (entry.id != id || entry.generation != generation_) continue;
      if (entry.state) return shown(*entry.state);
      entry.state = wanted;
      entry.closed_at = at;
      return wanted;
    }
    return Verdict::kLate;
  }
  void extra(std::uint64_t generation, Verdict counted) { extras_.emplace_back(generation, counted); }
  void roll_back(std::uint64_t offset) {
    for (Entry& entry : entries_) {
      if (entry.state == Verdict::kAdmitted && entry.closed_at > offset) entry.rolled_back = true;
    }
  }
  static Verdict shown(Verdict state) {
    return state == Verdict::kLost || state == Verdict::kDropped ? Verdict::kLate : state;
  }
  const std::vector<Entry>& entries() const { return entries_; }

  JobTicketCounts ticket_counts() const {
    JobTicketCounts job;
    for (std::uint64_t g = 1; g <= generation_; ++g) {
      TicketCounts counts{.generation = g};
      for (const Entry& entry : entries_) {
        if (entry.generation != g) continue;
        ++counts.issued;
        const auto is = [&](Verdict d) { return entry.state == d ? 1u : 0u; };
        counts.admitted += is(Verdict::kAdmitted);
        counts.stale += is(Verdict::kStale);
        counts.rejected += is(Verdict::kRejected);
        counts.dropped += is(Verdict::kDropped);
        counts.lost += is(Verdict::kLost);
        counts.outstanding += entry.state ? 0 : 1;
        counts.retained += is(Verdict::kAdmitted) && !entry.rolled_back ? 1 : 0;
        counts.rolled_back += entry.rolled_back ? 1 : 0;
      }
      for (const auto& [generation, counted] : extras_) {
        if (generation == g) ++(counted == Verdict::kLate ? counts.late : counts.duplicates);
      }
      job.generations.push_back(counts);
    }
    return job;
  }

 private:
  std::uint64_t generation_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::pair<std::uint64_t, Verdict>> extras_;
};

// Random events on a ledger and on the reference, restarts included.
class Walk {
 public:
  Walk(fs::path path, std::uint64_t seed) : path_(std::move(path)), rng_(seed, "ledger") { restart(); }

  void step() {
    const std::uint64_t choice = rng_.below(100);
    if (choice < 40) {
      reference_.issue(ledger_->issue({.seed = rng_.next()}));
    } else if (choice < 75) {
      close();
    } else if (choice < 90) {
      extra();
    } else if (choice < 94) {
      marks_.push_back(ledger_->mark());
    } else if (choice < 96 && !marks_.empty()) {
      forget();
    } else if (choice < 98) {
      if (rng_.below(2) == 0) drop_all();
      restart();
      if (!marks_.empty()) roll_back();
    }
  }
  Ledger& ledger() { return *ledger_; }
  Reference& reference() { return reference_; }
  /// Those of the file which were on the disk before it had its name; 0: none.
  std::uint64_t snapshot_bytes() const { return snapshot_bytes_; }

 private:
  void restart() {
    ledger_.reset();
    ledger_ = std::make_unique<Ledger>(path_, "run");
    reference_.restart();
  }
  void drop_all() {
    for (const auto& entry : reference_.entries()) {
      if (!entry.state) reference_.close(entry.id, Verdict::kDropped, 0);
    }
    ledger_->drop_outstanding();
  }
  void roll_back() {
    const JournalMark mark = marks_[rng_.below(marks_.size())];
    ledger_->roll_back(mark);
    reference_.roll_back(mark.offset);
  }
  /// Marks before one that was drawn, and most often the records that have come to be.
  void forget() {
    marks_.erase(marks_.begin(), marks_.begin() + static_cast<std::ptrdiff_t>(rng_.below(marks_.size())));
    const std::uint64_t end = cut_off_ + fs::file_size(path_);
    ledger_->forget_before(marks_.front(), rng_.below(4) == 0 ? 1 << 20 : 0);
    if (fs::file_size(path_) == end - cut_off_) return;
    snapshot_bytes_ = fs::file_size(path_);
    cut_off_ = ledger_->mark().offset - fs::file_size(path_);
  }
  void close() {
    const auto& all = reference_.entries();
    if (all.empty()) return;
    const std::uint64_t id = all[rng_.below(all.size())].id;
    const auto wanted = static_cast<Verdict>(1 + rng_.below(5));
    const Verdict got = ledger_->close(id, wanted);
    EXPECT_EQ(got, reference_.close(id, wanted, cut_off_ + fs::file_size(path_)));
  }
  void extra() {
    const auto& all = reference_.entries();
    if (all.empty()) return;
    const auto entry = all[rng_.below(all.size())];
    if (!entry.state) {
      EXPECT_THROW(ledger_->count_extra_result(entry.id, entry.generation), WireError);
      return;
    }
    const bool old = entry.generation != ledger_->generation();
    const Verdict expected = old ? Verdict::kLate : Reference::shown(*entry.state);
    EXPECT_EQ(ledger_->count_extra_result(entry.id, entry.generation), expected);
    reference_.extra(entry.generation, expected);
  }

  fs::path path_;
  Rng rng_;
  Reference reference_;
  std::unique_ptr<Ledger> ledger_;
  std::vector<JournalMark> marks_;
  std::uint64_t snapshot_bytes_ = 0;
  std::uint64_t cut_off_ = 0;  // an offset in the journal, less its place in the file
};

void expect_balanced(const JobTicketCounts& counts) {
  EXPECT_THAT(counts.check(), testing::IsEmpty()) << counts.table();
}

TEST(Ledger, AgreesWithTheSlowReferenceOverRandomEvents) {
  const std::uint64_t first_seed = std::random_device{}();
  for (std::uint64_t seed = first_seed; seed < first_seed + 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TempDir folder;
    Walk walk(folder.path() / "journal", seed);
    for (int i = 0; i < 400; ++i) {
      walk.step();
      ASSERT_EQ(walk.ledger().ticket_counts(), walk.reference().ticket_counts())
          << walk.ledger().ticket_counts().table();
      expect_balanced(walk.ledger().ticket_counts());
    }
  }
}

class LedgerTest : public testing::Test {
 protected:
  const TempDir folder_;
  const fs::path path_ = folder_.path() / "journal";
};

TEST_F(LedgerTest, BalancesAfterACrashAtEveryByteAndAdmitsNothingTwice) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::vector<std::uint64_t> admitted;  // acknowledged before the crash
  std::size_t shortest = 0;
  {
    Walk walk(path_, seed);
    for (int i = 0; i < 30; ++i) walk.step();
    for (const auto& entry : walk.reference().entries()) {
      if (entry.state == Verdict::kAdmitted) admitted.push_back(entry.id);
    }
    shortest = walk.snapshot_bytes();
  }
  const std::string whole = read_file(path_);
  const auto crashed = folder_.path() / "crashed";
  for (std::size_t length = shortest; length <= whole.size(); ++length) {
    std::ofstream(crashed, std::ios::binary | std::ios::trunc)
        .write(whole.data(), static_cast<std::streamsize>(length));
    std::uint64_t generation = 0;
    TicketCounts before;
    {
      Ledger ledger(crashed, "run");
      generation = ledger.generation();
      before = ledger.ticket_counts().total();
      expect_balanced(ledger.ticket_counts());
      EXPECT_EQ(before.outstanding, 0u) << "what was open at the crash is lost";
      // Every result that may still be on its way comes again: none is admitted a second time.
      for (const std::uint64_t id : admitted) {
        EXPECT_NE(ledger.close(id, Verdict::kAdmitted), Verdict::kAdmitted) << "cut at " << length;
      }
      EXPECT_EQ(ledger.ticket_counts().total().admitted, before.admitted);
      const Ticket fresh = ledger.issue({});
      EXPECT_EQ(ledger.close(fresh.id, Verdict::kAdmitted), Verdict::kAdmitted);
      EXPECT_EQ(ledger.close(fresh.id, Verdict::kAdmitted), Verdict::kAdmitted);
      expect_balanced(ledger.ticket_counts());
    }
    Ledger again(crashed, "run");
    EXPECT_EQ(again.generation(), generation + 1);
    EXPECT_EQ(again.ticket_counts().total().admitted, before.admitted + 1);
    if (testing::Test::HasFailure()) FAIL() << "cut at " << length;
  }
}

TEST_F(LedgerTest, RollsBackWhatWasAdmittedBehindTheCheckpoint) {
  JournalMark mark;
  {
    Ledger ledger(path_, "run");
    for (int i = 0; i < 3; ++i) ledger.close(ledger.issue({}).id, Verdict::kAdmitted);
    mark = ledger.mark();
    for (int i = 0; i < 2; ++i) ledger.close(ledger.issue({}).id, Verdict::kAdmitted);
    ledger.issue({});
  }
  Ledger resumed(path_, "run");
  resumed.roll_back(mark);
  resumed.roll_back(mark);
  const TicketCounts old = resumed.ticket_counts().generations.at(0);
  EXPECT_EQ(old.retained, 3u);
  EXPECT_EQ(old.rolled_back, 2u);
  EXPECT_EQ(old.lost, 1u);
  expect_balanced(resumed.ticket_counts());
  EXPECT_THAT(resumed.ticket_counts().table(), testing::HasSubstr("the ticket counts balance"));
}

TEST_F(LedgerTest, ForgetsMarksThatNobodyNeeds) {
  JournalMark first, second;
  {
    Ledger ledger(path_, "run");
    for (int i = 0; i < 3; ++i) ledger.close(ledger.issue({}).id, Verdict::kAdmitted);
    first = ledger.mark();
    for (int i = 0; i < 2; ++i) ledger.close(ledger.issue({}).id, Verdict::kAdmitted);
    second = ledger.mark();
    const Ticket open = ledger.issue({});
    ledger.forget_before(second, 0);
    EXPECT_EQ(ledger.close(open.id, Verdict::kAdmitted), Verdict::kAdmitted);
  }
  Ledger resumed(path_, "run");
  EXPECT_THROW(resumed.roll_back(first), WireError);
  resumed.roll_back(second);
  const TicketCounts kept = resumed.ticket_counts().generations.at(0);
  EXPECT_EQ(kept.retained, 5u);
  EXPECT_EQ(kept.rolled_back, 1u);
  expect_balanced(resumed.ticket_counts());
  resumed.roll_back({});  // training begins anew
  EXPECT_EQ(resumed.ticket_counts().total().retained, 0u);
  EXPECT_EQ(resumed.ticket_counts().total().rolled_back, 6u);
  expect_balanced(resumed.ticket_counts());
}

/// A long job: what is kept of its tickets, on the disk and in memory, does not grow.
TEST_F(LedgerTest, AMillionTicketsLeaveAShortJournal) {
  constexpr int kTickets = 1'000'000, kCheckpoint = 50'000;
  std::uint64_t longest = 0;
  {
    Ledger ledger(path_, "run");
    const Ticket never_closed = ledger.issue({});
    std::uint64_t behind = 0;  // its result comes late
    JournalMark before = ledger.mark();
    for (int i = 1; i <= kTickets; ++i) {
      const Ticket ticket = ledger.issue({.sequence = static_cast<std::uint64_t>(i)});
      if (behind != 0) ledger.close(behind, i % 7 == 0 ? Verdict::kStale : Verdict::kAdmitted);
      behind = ticket.id;
      if (i % kCheckpoint != 0) continue;
      ledger.forget_before(before);
      before = ledger.mark();
      longest = std::max<std::uint64_t>(longest, fs::file_size(path_));
      if (i == kTickets / 2) ledger.close(never_closed.id, Verdict::kLost);
    }
    EXPECT_EQ(ledger.outstanding(), 1u);
  }
  EXPECT_LT(longest, 20u << 20);
  Ledger again(path_, "run");
  const TicketCounts all = again.ticket_counts().total();
  EXPECT_EQ(all.issued, kTickets + 1u);
  EXPECT_EQ(all.admitted + all.stale, kTickets - 1u);
  EXPECT_EQ(all.lost, 2u);
  expect_balanced(again.ticket_counts());
}

TEST_F(LedgerTest, RefusesTheMarkAndTheJournalOfAnotherRun) {
  {
    Ledger ledger(path_, "run");
    JournalMark mark = ledger.mark();
    mark.offset += 1000;
    EXPECT_THROW(ledger.roll_back(mark), WireError);
    mark = ledger.mark();
    mark.run_id = "other";
    EXPECT_THROW(ledger.roll_back(mark), WireError);
  }
  EXPECT_THROW(Ledger(path_, "other"), WireError);
}

TEST_F(LedgerTest, AFullDiskChangesNothing) {
  Ledger ledger(path_, "run");
  const Ticket ticket = ledger.issue({});
  const JobTicketCounts before = ledger.ticket_counts();
  {
    const testing_support::FullDisk full(fs::file_size(path_) + 3);
    EXPECT_THROW(ledger.close(ticket.id, Verdict::kAdmitted), WireError);
    EXPECT_THROW(ledger.issue({}), WireError);
  }
  EXPECT_EQ(ledger.ticket_counts(), before);
  EXPECT_EQ(ledger.close(ticket.id, Verdict::kAdmitted), Verdict::kAdmitted);
}

TEST(TicketCounts, SaysWhatDoesNotBalance) {
  JobTicketCounts job{{TicketCounts{.generation = 1, .issued = 3, .admitted = 2, .retained = 1}}};
  EXPECT_EQ(job.check().size(), 2u);
  EXPECT_THAT(job.table(), testing::HasSubstr("DO NOT BALANCE"));
}

}  // namespace
}
