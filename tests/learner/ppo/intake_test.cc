#include "learner/ppo/intake.h"

#include <gtest/gtest.h>

#include "core/base/rng.h"
#include "core/wire/run_fixture.h"
#include "replay/random_observation.h"
#include "replay/segment_codec.h"

namespace regraft::learner {
namespace {

using wire::testing_support::kLong;
using wire::testing_support::TestRun;

constexpr std::uint64_t kSeed = 5102;

/// A hub, an actor that sends what a test wants, and the learner's intake.
class IntakeTest : public ::testing::Test {
 protected:
  IntakeTest() : run_(TestRun::Over::kIpc), hub_(run_.start()), actor_(run_.actor("actor"), run_.clock()) {}

  void start(bool hierarchical) {
    intake_.emplace(hub_, run_.ledger(), latest_, Intake::Options{.hierarchical = hierarchical});
  }
  /// Plays a ticket of one step and says what became of it.
  wire::Disposition play(bool hierarchical, const std::function<void(replay::Segment&)>& change = {}) {
    const auto ticket = actor_.next_ticket(kLong);
    if (!ticket) throw std::runtime_error("no ticket");
    replay::Segment segment;
    segment.ticket = ticket->id;
    segment.generation = ticket->generation;
    segment.weight_version = 1;
    segment.hierarchical = hierarchical;
    segment.model = ticket->model;
    segment.seed = ticket->seed;
    segment.final_cost_ratio = segment.best_cost_ratio = 1;
    replay::Step step;
    step.observation = replay::testing::observation_on({1, 4, 5}, 3, rng_);
    step.log_probability = -0.5F;
    step.terminated = true;
    segment.steps.push_back(step);
    if (change) change(segment);
    wire::PartInfo part;
    part.weight_version = 1;
    part.steps = 1;
    std::vector<wire::Frame> frames;
    for (replay::Bytes& bytes : replay::encode_segment(segment))
      frames.push_back(wire::Frame::adopt(std::move(bytes)));
    actor_.send(*ticket, part, std::move(frames));
    const auto ack = actor_.next_ack(kLong);
    if (!ack) throw std::runtime_error("no acknowledgement");
    return ack->disposition;
  }
  IntakeCounts counts() const { return intake_->counts(); }

  Rng rng_{kSeed, "intake"};
  TestRun run_;
  wire::Hub& hub_;
  wire::Link actor_;
  std::atomic<std::uint64_t> latest_{1};
  std::optional<Intake> intake_;
};

TEST_F(IntakeTest, AnEpisodeOfAnotherHeadIsRejectedAndCounted) {
  for (const bool trained : {false, true}) {
    SCOPED_TRACE(trained ? "a hierarchical policy is trained" : "a pointer policy is trained");
    start(trained);
    EXPECT_EQ(play(!trained), wire::Disposition::kRejected);
    EXPECT_EQ(play(trained), wire::Disposition::kAdmitted);
    const auto episode = intake_->next(kLong);
    ASSERT_TRUE(episode);
    EXPECT_EQ(episode->hierarchical(), trained);
    EXPECT_EQ(counts().other_head, 1u);
    EXPECT_EQ(counts().malformed, 0u);
    EXPECT_EQ(counts().rejected, 1u);
    EXPECT_EQ(counts().played_steps, 1u) << "of the good one alone";
    intake_.reset();
  }
}

TEST_F(IntakeTest, AnEpisodeWithActionsOfAnotherKindIsRejectedAndCounted) {
  const auto everywhere = [](replay::Segment& segment) { segment.steps[0].observation.everywhere = true; };
  for (const bool trained : {false, true}) {
    intake_.emplace(hub_, run_.ledger(), latest_, Intake::Options{.everywhere = trained});
    EXPECT_EQ(play(false), trained ? wire::Disposition::kRejected : wire::Disposition::kAdmitted);
    EXPECT_EQ(play(false, everywhere), trained ? wire::Disposition::kAdmitted : wire::Disposition::kRejected);
    EXPECT_EQ(counts().other_head, 1u);
    EXPECT_EQ(counts().malformed, 0u);
    intake_.reset();
  }
}

TEST_F(IntakeTest, AnEpisodeOfAnotherTicketIsRejectedAndCounted) {
  start(false);
  EXPECT_EQ(play(false, [](replay::Segment& segment) { ++segment.seed; }), wire::Disposition::kRejected);
  EXPECT_EQ(counts().malformed, 1u);
  EXPECT_EQ(counts().other_head, 0u);
  EXPECT_EQ(counts().rejected, 1u);
}

// Where updates count episodes, no number of steps fills the queue.
TEST_F(IntakeTest, AQueueOfEpisodesTakesThem) {
  intake_.emplace(hub_, run_.ledger(), latest_, Intake::Options{.queued_steps = 0, .queued_episodes = 2});
  EXPECT_EQ(play(false), wire::Disposition::kAdmitted);
  EXPECT_EQ(play(false), wire::Disposition::kAdmitted);
  EXPECT_TRUE(intake_->next(kLong));
  EXPECT_EQ(play(false), wire::Disposition::kAdmitted);
}

TEST_F(IntakeTest, AnEpisodeThatLagsIsStale) {
  start(false);
  latest_ = 6;
  EXPECT_EQ(play(false), wire::Disposition::kStale);
  latest_ = 5;
  EXPECT_EQ(play(false), wire::Disposition::kAdmitted);
  EXPECT_EQ(counts().stale, 1u);
}

}  // namespace
}  // namespace regraft::learner
