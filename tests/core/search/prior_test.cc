#include "core/search/prior.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/search/search.h"

namespace regraft::search {
namespace {

TEST(UniformPrior, SharesAreOfRulesThenLocations) {
  env::Observation seen;
  seen.candidate_rules = {0, 0, 2, 3};
  seen.candidate_locations = {0, 1, 0, 0};
  seen.location_counts = {2, 0, 1, 1};
  UniformPrior prior(0.2);
  History history;
  const std::vector<float> got = prior.log_probabilities(seen, history);
  const std::vector<double> expected = {0.2, 0.2, 0.4, 0.2};
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(std::exp(got[i]), expected[i], 1e-6);
}

/// Answers with so many numbers, and counts how often it was asked.
class CountingPrior : public Prior {
 public:
  explicit CountingPrior(std::size_t numbers) : numbers_(numbers) {}
  std::string name() const override { return "counting"; }
  std::vector<float> log_probabilities(const env::Observation&, History&) override {
    ++asked;
    return std::vector<float>(numbers_, -1);
  }
  int asked = 0;

 private:
  std::size_t numbers_;
};

TEST(Prior, IsNotAskedWhereNoOpAloneIsLeft) {
  env::Observation seen;
  seen.candidate_rules = {1};
  CountingPrior prior(7);
  History history;
  EXPECT_EQ(ask(prior, seen, history), std::vector<float>{0});
  EXPECT_EQ(prior.asked, 0);
  seen.candidate_rules = {0, 1};
  EXPECT_THROW(ask(prior, seen, history), SearchError) << "seven numbers for two candidates";
  CountingPrior fits(2);
  EXPECT_EQ(ask(fits, seen, history), (std::vector<float>{-1, -1}));
}

}  // namespace
}
