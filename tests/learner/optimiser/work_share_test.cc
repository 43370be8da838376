#include "learner/optimiser/work_share.h"

#include <numeric>

#include "tests/learner/learners.h"

namespace regraft::learner {
namespace {

constexpr std::uint32_t kLearners = 3;

std::vector<float> to_list(const torch::Tensor& tensor) {
  const torch::Tensor whole = tensor.contiguous();
  return {whole.data_ptr<float>(), whole.data_ptr<float>() + whole.numel()};
}

/// Each learner's share, in a group or alone.
void share_out(std::uint32_t learners, const std::function<void(const WorkShare&)>& work) {
  test::run_learners(learners, [&](std::uint32_t rank, const JoinLearners& join) {
    WorkShare share;
    if (join) share.share_with(join());
    EXPECT_EQ(share.rank(), rank);
    EXPECT_EQ(share.learners(), learners);
    work(share);
  });
}

// Integers, so that sums are exact in any order.
TEST(WorkShare, SumsOfPartsAreThoseOfOneProcess) {
  const torch::Tensor all = torch::arange(28, torch::kFloat32).view({7, 4});
  for (const std::uint32_t learners : {1U, kLearners})
    share_out(learners, [&](const WorkShare& share) {
      const torch::Tensor rows = share.part_of(all, 0), columns = share.part_of(all, 1);
      torch::Tensor sum = rows.sum(0), wide = torch::zeros({2, 4});
      wide.t().copy_(torch::stack({rows.square().sum(0), torch::ones(4)}, 1));
      const torch::Tensor turned = wide.t();  // its elements do not lie in order
      torch::Tensor total = columns.sum();
      share.add_up({sum, turned, total});
      EXPECT_EQ(to_list(sum), to_list(all.sum(0)));
      EXPECT_EQ(to_list(wide[0]), to_list(all.square().sum(0)));
      EXPECT_EQ(wide[1][3].item<float>(), static_cast<float>(learners));
      EXPECT_EQ(total.item<float>(), all.sum().item<float>());
      std::vector<float> values{1, static_cast<float>(share.rank())};
      share.add_up(values);
      EXPECT_EQ(values, (learners == 1 ? std::vector<float>{1, 0} : std::vector<float>{3, 3}));
    });
}

TEST(WorkShare, PartsJoinToAllRowsHoweverFewThereAre) {
  for (const std::uint32_t learners : {1U, kLearners})
    share_out(learners, [&](const WorkShare& share) {
      for (std::size_t rows = 0; rows < 3 * kLearners; ++rows) {
        std::vector<float> all(rows), owners(rows);
        std::iota(all.begin(), all.end(), 1.0F);
        const auto [first, count] = share.part_of(rows);
        EXPECT_LE(count, rows / learners + 1);
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
        EXPECT_EQ(share.joined({begin, begin + static_cast<std::ptrdiff_t>(count)}, rows), all);
        for (std::size_t row = 0; row < rows; ++row) owners[row] = share.has(row) ? 1 : 0;
        share.add_up(owners);
        EXPECT_EQ(owners, std::vector<float>(rows, 1)) << "each has one owner";
      }
    });
}

}  // namespace
}
