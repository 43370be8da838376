#include "learner/job/job_runner.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "learner/job/fake_job.h"
#include "support/event_reader.h"
#include "support/manual_clock.h"

namespace regraft::learner {
namespace {

using ::testing::ElementsAre;
using testing::FakeHub;
using testing::FakePhase;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kMinuteNs = 60 * nanoseconds_per_second;

/// A job of a fake phase; whoever plays is asked whenever no result is left.
class JobRunnerTest : public ::testing::Test {
 protected:
  JobRunnerTest() {
    setup.folder.root = dir.path();
    setup.options.checkpoint_minutes = 1;
    setup.options.staleness = 1;
    setup.show_progress = false;
    write_file_atomic(setup.folder.run_id(), std::string("0123456789abcdef\n"));
  }
  JobRunner& start() {
    runner.reset();
    auto made = std::make_unique<FakePhase>(options);
    phase = made.get();
    runner = std::make_unique<JobRunner>(
        setup, std::move(made), clock, [&](wire::Ledger& ledger, wire::TicketSource source, const Clock&) {
          auto made_hub = std::make_unique<FakeHub>(ledger, std::move(source));
          hub = made_hub.get();
          hub->when_empty = [&] { hub->play(); };
          return made_hub;
        });
    return *runner;
  }
  JobSummary run() { return runner->run(stop.get_token()); }
  /// Ends the job once nothing is left to take.
  void stop_when_empty() {
    hub->when_empty = [&] { stop.request_stop(); };
  }
  std::vector<std::uint64_t> saved() const { return CheckpointStore(setup.folder.checkpoints(), 3).list(); }
  /// The next start is a run's first.
  void begin_anew() {
    runner.reset();
    for (const auto& path : {setup.folder.checkpoints(), setup.folder.journal(), setup.folder.events()})
      std::filesystem::remove_all(path);
  }

  TempDir dir;
  ManualClock clock;
  JobSetup setup;
  FakePhase::Options options;
  std::stop_source stop;
  std::unique_ptr<JobRunner> runner;
  FakePhase* phase = nullptr;
  FakeHub* hub = nullptr;
};

TEST_F(JobRunnerTest, GathersUpdatesAndPublishesUntilTheLimit) {
  setup.options.updates = 3;
  setup.options.export_every = 2;
  start();
  EXPECT_TRUE(hub->announced);
  EXPECT_THAT(hub->published, ElementsAre(1)) << "actors have weights before the first update";
  const JobSummary summary = run();
  EXPECT_EQ(summary.updates, 3u);
  EXPECT_TRUE(summary.finished);
  EXPECT_TRUE(summary.sound) << summary.text;
  EXPECT_THAT(hub->published, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(phase->exported, ElementsAre("update-2", "latest"));
  EXPECT_EQ(summary.ticket_counts.total().admitted, 3 * FakePhase::kResults);
  const auto curves = read_scalars(setup.folder.events());
  EXPECT_EQ(curves.at("fake/learned").size(), 3u);
  EXPECT_TRUE(curves.contains("ledger/admitted")) << "that every job has";
  const auto json = nlohmann::json::parse(read_file(setup.folder.summary()));
  EXPECT_EQ(json.at("updates"), 3);
  EXPECT_EQ(json.at("ticket_counts_balance"), true);
  EXPECT_EQ(json.at("tickets").at("admitted"), 3 * FakePhase::kResults);
}

TEST_F(JobRunnerTest, WhatLagsTooFarIsStaleAndWhatCannotBeReadIsRejected) {
  setup.options.updates = 3;
  start();
  bool sent = false;
  hub->when_empty = [&] {
    if (hub->published.back() == 3 && !std::exchange(sent, true)) {
      hub->play(0);
      hub->play(1, 1);  // two updates ago
      hub->play(1, 2);
    }
    hub->play();
  };
  const wire::TicketCounts ticket_counts = run().ticket_counts.total();
  EXPECT_EQ(ticket_counts.rejected, 1u);
  EXPECT_EQ(ticket_counts.stale, 1u) << "the staleness is 1";
  EXPECT_EQ(ticket_counts.admitted, 3 * FakePhase::kResults);
}

TEST_F(JobRunnerTest, InLockStepAResultThatCannotBeReadEndsTheJob) {
  options.traits.lock_step = true;
  start();
  hub->play(0);
  EXPECT_THROW(run(), replay::ReplayError);
}

TEST_F(JobRunnerTest, SavesWhenTheTimeHasCome) {
  setup.options.checkpoint_minutes = 5;
  start();
  int played = 0;
  hub->when_empty = [&] {
    if (played == 6) {
      EXPECT_THAT(saved(), ElementsAre(2)) << "neither before five minutes nor again after";
      return void(stop.request_stop());
    }
    if (played == 4) {
      EXPECT_THAT(saved(), ElementsAre(2));
    } else if (played == 3) {
      EXPECT_THAT(saved(), IsEmpty());
    }
    ++played;
    clock.advance_ns(kMinuteNs + kMinuteNs / 2);
    hub->play();
  };
  run();
  EXPECT_EQ(played, 6);
  EXPECT_THAT(saved(), ElementsAre(2, 3)) << "and at the end";
}

TEST_F(JobRunnerTest, SavesWhenAskedAndWhenAnUpdateIsWorthIt) {
  options.save_after = 1;
  setup.options.updates = 3;
  start();
  hub->when_empty = [&] {
    if (hub->published.back() == 3) runner->save();
    hub->play();
  };
  run();
  EXPECT_THAT(saved(), ElementsAre(1, 2, 3));
}

TEST_F(JobRunnerTest, AResumedJobEndsAsOneWithoutABreak) {
  for (const bool lock_step : {false, true}) {
    SCOPED_TRACE(lock_step ? "in lock step what was gathered comes again" : "it is in the checkpoint");
    options.traits.lock_step = lock_step;
    options.keeps_gathered = !lock_step;
    setup.options.updates = 4;
    start();
    run();
    const std::uint64_t expected = phase->learned();
    begin_anew();
    int played = 0;
    start();
    hub->when_empty = [&] {
      if (++played > 5) return void(stop.request_stop());
      hub->play();
    };
    EXPECT_FALSE(run().finished) << "two updates and a half";
    stop = {};
    start();
    EXPECT_EQ(runner->generation(), 2u);
    EXPECT_THAT(hub->published, ElementsAre(3));
    const JobSummary summary = run();
    EXPECT_EQ(phase->learned(), expected);
    EXPECT_EQ(summary.updates, 4u);
    EXPECT_TRUE(summary.sound) << summary.text;
    EXPECT_EQ(summary.ticket_counts.total().rolled_back, lock_step ? 1u : 0u);
    begin_anew();
  }
}

TEST_F(JobRunnerTest, ALongJobsJournalIsCutToWhatItsCheckpointsNeed) {
  constexpr std::uint64_t kLeast = 4 << 20;  // bytes; Ledger::forget_before()
  std::uintmax_t longest = 0, last = 0;
  bool cut = false;
  options.keeps_gathered = true;
  start();
  hub->when_empty = [&] {
    for (int i = 0; i < 2000; ++i) hub->play();
    clock.advance_ns(kMinuteNs / 3);
    last = std::filesystem::file_size(setup.folder.journal());
    cut = cut || last < longest;
    longest = std::max(longest, last);
    if (cut && last > kLeast / 8) stop.request_stop();
  };
  run();
  EXPECT_GT(longest, kLeast);
  EXPECT_LT(longest, 2 * kLeast);
  const std::uint64_t learned = phase->learned();
  stop = {};
  start();
  stop_when_empty();
  const JobSummary summary = run();
  EXPECT_EQ(phase->learned(), learned);
  EXPECT_TRUE(summary.sound) << summary.text;
  EXPECT_EQ(summary.ticket_counts.total().rolled_back, 0u);
}

TEST_F(JobRunnerTest, ACheckpointBetweenUpdatesGoesBackToTheLastOne) {
  options.traits.lock_step = true;
  start();
  int played = 0;
  hub->when_empty = [&] {
    if (++played == 3) runner->save();
    if (played == 4) throw std::runtime_error("killed");
    hub->play();
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_THAT(saved(), ElementsAre(1));
  start();
  stop_when_empty();
  EXPECT_EQ(run().ticket_counts.total().rolled_back, 1u) << "what came behind the first update";
}

TEST_F(JobRunnerTest, AGenerationThatDiedBeforeItsFirstCheckpointIsRolledBack) {
  start();
  hub->when_empty = [&] { throw std::runtime_error("killed"); };
  hub->play();
  EXPECT_THROW(run(), std::runtime_error);
  start();
  stop_when_empty();
  EXPECT_EQ(run().ticket_counts.total().rolled_back, 1u);
}

TEST_F(JobRunnerTest, LooksWhatElseIsDueEveryFifthOfASecondAndOnceNoResultComes) {
  constexpr std::chrono::milliseconds kPatience{200};
  options.results = 1000;
  start();
  int asked = 0;
  hub->when_empty = [&] {
    clock.advance_ns(std::chrono::nanoseconds(kPatience / 4).count());
    if (++asked <= 10) hub->play();
    if (asked == 12) stop.request_stop();
  };
  run();
  EXPECT_THAT(phase->looks, ElementsAre(4, 8, 10, 10));
  EXPECT_EQ(hub->longest_wait, kPatience);
}

TEST_F(JobRunnerTest, WithoutResultsItStillStops) {
  start();
  stop_when_empty();
  const JobSummary summary = run();
  EXPECT_FALSE(summary.finished);
  EXPECT_EQ(summary.updates, 0u);
  EXPECT_THAT(phase->exported, ElementsAre("latest"));
  EXPECT_THAT(saved(), ElementsAre(0));
  EXPECT_TRUE(std::filesystem::exists(setup.folder.summary()));
}

TEST_F(JobRunnerTest, WithoutResultsItsMinutesPassAndAreCountedOverGenerations) {
  setup.options.minutes = 10;
  start();
  int asked = 0;
  hub->when_empty = [&] {
    clock.advance_ns(kMinuteNs);
    if (++asked == 4) stop.request_stop();
  };
  EXPECT_FALSE(run().finished);
  stop = {};
  start();
  asked = 10;
  hub->when_empty = [&] {
    clock.advance_ns(kMinuteNs);
    ++asked;
  };
  EXPECT_TRUE(run().finished);
  EXPECT_EQ(asked, 16) << "six more";
}

TEST_F(JobRunnerTest, APhaseWithoutLimitsEndsWhenItIsDone) {
  options.traits.limited = false;
  options.last_update = 4;
  setup.options.updates = 2;
  setup.options.export_every = 1;
  start();
  const JobSummary summary = run();
  EXPECT_EQ(summary.updates, 4u);
  EXPECT_TRUE(summary.finished);
  EXPECT_THAT(phase->exported, ElementsAre("latest"));
}

TEST_F(JobRunnerTest, ThePhaseTakesItsLeaveOnceTheSummaryIsWritten) {
  setup.options.updates = 1;
  options.sound = false;
  int said = 0;
  options.farewell = [&] {
    ++said;
    EXPECT_TRUE(std::filesystem::exists(setup.folder.summary()));
  };
  start();
  EXPECT_FALSE(run().sound) << "the phase found a contradiction";
  EXPECT_EQ(said, 1);
}

TEST_F(JobRunnerTest, ACheckpointOfAnotherPhaseIsRefused) {
  setup.options.updates = 1;
  start();
  run();
  options.traits.name = "another";
  try {
    start();
    FAIL() << "it was taken";
  } catch (const CheckpointError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is of the phase fake"));
  }
}

}  // namespace
}
