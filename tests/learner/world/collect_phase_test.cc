#include "learner/world/collect_phase.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/base/file.h"
#include "learner/job/learner_error.h"
#include "learner/world/world_folder.h"
#include "replay/rollout/replay_error.h"
#include "support/manual_clock.h"
#include "tests/learner/world/synthetic_world.h"

namespace regraft::learner {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr std::size_t kRound = 16;  // tickets of a round, in lock step

/// A phase, and actors that play its tickets.
class CollectPhaseTest : public ::testing::Test {
 protected:
  CollectPhaseTest() {
    setup.job.folder.root = dir.path() / "run";
    setup.job.options.deterministic = true;
    setup.world.collect_steps = 600;
    setup.context = world.context();
    setup.models = {"synthetic"};
  }
  /// The phase of a new run.
  std::unique_ptr<Phase> begun() {
    auto phase = std::make_unique<CollectPhase>(setup, clock);
    phase->restore(nullptr, 0);
    return phase;
  }
  /// Nothing where there is no ticket.
  std::optional<wire::Delivery> play(Phase& phase) {
    const auto spec = phase.next_ticket({}, 0);
    if (!spec) return std::nullopt;
    wire::Delivery delivery;
    static_cast<wire::TicketSpec&>(delivery.ticket) = *spec;
    delivery.parts.emplace_back();
    delivery.parts.back().frames.push_back(
        wire::Frame::adopt(replay::encode_rollout(world.play(spec->seed, spec->sequence))));
    return delivery;
  }
  std::vector<wire::Delivery> play_round(Phase& phase) {
    std::vector<wire::Delivery> round;
    while (round.size() < kRound) {
      auto delivery = play(phase);
      if (!delivery) break;
      round.push_back(std::move(*delivery));
    }
    return round;
  }
  static PhaseSummary summary_of(const Phase& phase) {
    JobFigures job;
    job.finished = true;
    return phase.summary(job, {});
  }
  static void take(Phase& phase, const wire::Delivery& delivery) { phase.admit(phase.judge(delivery), 0); }
  replay::RolloutFile stored() const {
    return replay::load_rollouts(WorldFolder(setup.job.folder).rollouts());
  }

  TempDir dir;
  ManualClock clock;
  test::SyntheticWorld world;
  CollectSetup setup;
};

TEST_F(CollectPhaseTest, StoresWhatItCollectedOnceItIsDone) {
  const auto phase = begun();
  EXPECT_EQ(phase->traits().name, "collect");
  while (!phase->status(0).ready) {
    const auto delivery = play(*phase);
    ASSERT_TRUE(delivery);
    EXPECT_EQ(delivery->ticket.weight_version, 0u) << "who plays at random needs no weights";
    take(*phase, *delivery);
  }
  EXPECT_FALSE(play(*phase)) << "there is enough";
  phase->export_as("latest", {});
  EXPECT_FALSE(std::filesystem::exists(WorldFolder(setup.job.folder).rollouts())) << "it is not done";
  EXPECT_TRUE(phase->update({}).save_now);
  EXPECT_TRUE(phase->status(1).done);
  EXPECT_FALSE(phase->status(1).ready);
  phase->export_as("latest", {});
  const replay::RolloutFile file = stored();
  EXPECT_EQ(file.models, setup.models);
  const PhaseSummary summary = summary_of(*phase);
  EXPECT_EQ(summary.figures.at("episodes"), file.rollouts.size());
  EXPECT_GE(summary.figures.at("steps"), setup.world.collect_steps);
  EXPECT_THAT(summary.text, HasSubstr("done: " + std::to_string(file.rollouts.size()) + " episodes"));
}

TEST_F(CollectPhaseTest, InLockStepTheFileIsTheSameInAnyOrderInterruptedOrNot) {
  const auto whole = begun();
  while (!whole->status(0).ready)
    for (const wire::Delivery& delivery : play_round(*whole)) take(*whole, delivery);
  whole->update({});
  whole->export_as("latest", {});
  const replay::RolloutFile expected = stored();
  ASSERT_GT(expected.rollouts.size(), kRound) << "more than one round";

  auto phase = begun();
  std::optional<PhaseState> saved;
  while (!phase->status(0).ready) {
    std::vector<wire::Delivery> round = play_round(*phase);
    ASSERT_EQ(round.size(), kRound);
    std::ranges::reverse(round);
    for (const wire::Delivery& delivery : round) take(*phase, delivery);
    EXPECT_TRUE(phase->status(0).settled);
    if (saved) continue;
    saved = phase->save({}, {});
    take(*phase, *play(*phase));
    EXPECT_FALSE(phase->status(0).settled) << "of the next round";
    phase = std::make_unique<CollectPhase>(setup, clock);
    phase->restore(&*saved, 0);
  }
  phase->update({});
  phase->export_as("latest", {});
  EXPECT_EQ(stored() == expected, true);
}

TEST_F(CollectPhaseTest, GoesOnBehindTheRolloutsOfAnEarlierRun) {
  const auto first = begun();
  while (!first->status(0).ready)
    for (const wire::Delivery& delivery : play_round(*first)) take(*first, delivery);
  first->update({});
  first->export_as("latest", {});
  const std::size_t episodes = stored().rollouts.size();
  setup.world.rollouts = WorldFolder(setup.job.folder).rollouts().string();
  EXPECT_TRUE(begun()->status(0).ready) << "the earlier ones are enough";
  setup.world.collect_steps += 1'000'000;
  const auto second = begun();
  const auto delivery = play(*second);
  ASSERT_TRUE(delivery);
  EXPECT_EQ(delivery->ticket.sequence, episodes);
  setup.models = {"another"};
  EXPECT_THROW(begun(), UsageError);
}

TEST_F(CollectPhaseTest, AResultOfAnotherTicketIsRejectedAndEndsALockStepJob) {
  for (const bool lock_step : {false, true}) {
    setup.job.options.deterministic = lock_step;
    const auto phase = begun();
    auto delivery = play(*phase);
    ASSERT_TRUE(delivery);
    ++delivery->ticket.seed;
    if (lock_step)
      EXPECT_THROW(phase->judge(*delivery), LearnerError);
    else
      EXPECT_THROW(phase->judge(*delivery), replay::ReplayError);
  }
}

TEST_F(CollectPhaseTest, EndsWithItsMinutesWhereThereIsAHeldOutEpisode) {
  setup.job.options.deterministic = false;
  setup.job.options.minutes = 1;
  setup.world.collect_steps = 1'000'000;
  setup.world.held_out_every = 4;
  const auto phase = begun();
  take(*phase, *play(*phase));
  clock.advance_ns(61 * nanoseconds_per_second);
  for (std::size_t episodes = 2; episodes <= 4; ++episodes) {
    EXPECT_FALSE(phase->status(0).ready);
    take(*phase, *play(*phase));
  }
  EXPECT_TRUE(phase->status(0).ready);
  phase->update({});
  EXPECT_THAT(summary_of(*phase).text,
              HasSubstr("train.minutes ended the collecting: world.collect_steps asks for 1000000 steps"));
}

TEST_F(CollectPhaseTest, ACheckpointHoldsWhatIsCollectedUnderANumberOfItsOwn) {
  const auto phase = begun();
  for (const std::uint64_t number : {1u, 2u}) EXPECT_EQ(phase->save({}, {}).number, number);
  const PhaseState state = phase->save({}, {});
  std::vector<std::string> parts;
  for (const auto& [name, bytes] : state.parts) parts.push_back(name);
  EXPECT_THAT(parts, UnorderedElementsAre("replay")) << "there is no fit";
}

TEST_F(CollectPhaseTest, AReplayThatForgetsBeforeItHoldsEnoughIsFound) {
  replay::SequenceReplay replay({});
  world.collect(replay, 10);
  EXPECT_NO_THROW(require_room(replay, replay.steps() + 1)) << "more may come";
  replay::SequenceReplay::Options tight;
  tight.memory_bytes = 64;
  replay::SequenceReplay small(tight);
  world.collect(small, 10);
  ASSERT_GT(small.forgotten(), 0u);
  EXPECT_NO_THROW(require_room(small, small.steps()));
  EXPECT_THROW(require_room(small, small.steps() + 1), UsageError);
}

}  // namespace
}
