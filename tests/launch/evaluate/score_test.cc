#include "launch/evaluate/score.h"

#include <gmock/gmock.h>

namespace regraft::launch {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

class ScoreTest : public ::testing::Test {
 protected:
  ScoreTest() { workload_.models = {"synthetic:4:1:1:7"}; }

  Score played(bool draw, std::uint64_t seed) const {
    const auto task = task::load_task(workload_, 0);
    search::UniformPrior prior;
    return play(*task, workload_, prior, draw, 5, seed, "random", "random");
  }
  task::WorkloadOptions workload_;
};

TEST_F(ScoreTest, EpisodesFollowTheSeedAlone) {
  const Score one = played(true, 3), same = played(true, 3), other = played(true, 4);
  EXPECT_THAT(one.returns, SizeIs(5));
  EXPECT_EQ(one.returns, same.returns);
  EXPECT_EQ(one.candidates_costed, same.candidates_costed);
  EXPECT_NE(one.returns, other.returns);
}

TEST_F(ScoreTest, TheMostProbableCandidatesAreTheSameEachTime) {
  const Score score = played(false, 3);
  EXPECT_THAT(score.returns, Each(score.returns.front()));
}

TEST_F(ScoreTest, TheBestGraphIsNoWorseThanTheLast) {
  const Score score = played(true, 3);
  for (std::size_t i = 0; i < score.returns.size(); ++i) EXPECT_GE(score.best[i], score.returns[i]) << i;
  const nlohmann::json json = to_json(score);
  EXPECT_EQ(json.at("kind"), "random");
  EXPECT_EQ(json.at("candidates_costed"), score.candidates_costed);
  EXPECT_FALSE(json.contains("improvements")) << "of searches alone";
}

}  // namespace
}
