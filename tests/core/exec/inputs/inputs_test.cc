#include "core/exec/inputs/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

TEST(RandomInputs, FillSymbolsAndAreReproducible) {
  const std::vector<ValueInfo> infos{{"x", DType::float32, {{-1, "batch"}, {3, ""}}}};
  Rng first(3, "inputs"), second(3, "inputs");
  const auto a = RandomInputs().draw(infos, {{"batch", 5}}, first);
  const auto b = RandomInputs().draw(infos, {{"batch", 5}}, second);
  EXPECT_THAT(a[0].dims, ElementsAre(5, 3));
  EXPECT_EQ(a[0].bytes.size(), 15 * sizeof(float));
  EXPECT_EQ(a, b);
  Rng third(3, "inputs");
  EXPECT_THAT(RandomInputs().draw(infos, {}, third)[0].dims, ElementsAre(1, 3));
}

TEST(RandomInputs, IntegersStayInTheirRangeAndReachItsEnds) {
  const std::vector<ValueInfo> infos{{"ids", DType::int64, {{400, ""}}}};
  Rng rng(3, "inputs");
  InputMeaning meaning;
  meaning.meaning = Meaning::index;
  meaning.limits = {{6, ""}, {-1, "rows"}};
  const auto drawn = RandomInputs({{"ids", meaning}}).draw(infos, {{"rows", 4}}, rng);
  EXPECT_THAT(drawn[0].as<std::int64_t>(), Each(AllOf(Ge(0), Le(3))));
  EXPECT_THAT(drawn[0].as<std::int64_t>(), ::testing::Contains(0));
  EXPECT_THAT(drawn[0].as<std::int64_t>(), ::testing::Contains(3));
}

TEST(RandomInputs, AreAllOneNumberWhereThatIsAskedFor) {
  const std::vector<ValueInfo> infos{{"n", DType::int32, {{3, ""}}}, {"yes", DType::boolean, {}}};
  Rng rng(3, "inputs");
  const auto drawn = RandomInputs({}, 1).draw(infos, {}, rng);
  EXPECT_THAT(drawn[0].as<std::int32_t>(), Each(1));
  EXPECT_THAT(drawn[1].as<std::uint8_t>(), Each(1));
}

TEST(RandomInputs, ScoresAreMaskedAsPeopleDo) {
  InputMeaning meaning;
  meaning.meaning = Meaning::score_mask;
  const RandomInputs inputs({{"m", meaning}});
  std::set<double> hidden;
  for (const std::vector<AxisInfo>& dims :
       {std::vector<AxisInfo>{{4, ""}, {32, ""}}, {{1, ""}, {32, ""}, {1, ""}}}) {
    const std::vector<ValueInfo> infos{{"m", DType::float32, dims}};
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      Rng rng(seed, "inputs");
      const std::vector<double> values = to_doubles(inputs.draw(infos, {}, rng)[0]);
      EXPECT_EQ(values[0], 0);
      std::set<double> others(values.begin(), values.end());
      others.erase(0);
      EXPECT_LE(others.size(), 1u);
      hidden.merge(others);
    }
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(hidden, ElementsAre(-kInfinity, std::numeric_limits<float>::lowest(), -1e9, -1e4));
}

TEST(RandomInputs, MasksAreOnesThenZerosInEachRow) {
  for (const DType dtype : {DType::int64, DType::int32, DType::boolean, DType::float32}) {
    const std::vector<ValueInfo> infos{{"attention_Mask", dtype, {{20, ""}, {9, ""}}}};
    Rng rng(3, "inputs");
    const Tensor mask = RandomInputs().draw(infos, {}, rng)[0];
    std::vector<double> values;
    if (dtype == DType::float32) values = to_doubles(mask);
    if (dtype == DType::int64) values.assign(mask.as<std::int64_t>().begin(), mask.as<std::int64_t>().end());
    if (dtype == DType::int32) values.assign(mask.as<std::int32_t>().begin(), mask.as<std::int32_t>().end());
    if (dtype == DType::boolean)
      values.assign(mask.as<std::uint8_t>().begin(), mask.as<std::uint8_t>().end());
    ASSERT_EQ(values.size(), 180u);
    for (std::size_t row = 0; row < 20; ++row) {
      EXPECT_EQ(values[row * 9], 1);
      for (std::size_t i = 1; i < 9; ++i) EXPECT_LE(values[row * 9 + i], values[row * 9 + i - 1]);
    }
  }
}

TEST(RandomInputs, RefuseWhatTheyCannotFill) {
  const std::vector<ValueInfo> infos{{"z", DType::complex64, {{1, ""}}}};
  Rng rng(3, "inputs");
  EXPECT_THROW(RandomInputs().draw(infos, {}, rng), ExecError);
}

}  // namespace
}
