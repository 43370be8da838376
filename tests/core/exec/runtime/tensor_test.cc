#include "core/exec/runtime/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/exec/equivalence/compare.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Tensor floats(const std::vector<float>& values) {
  return Tensor::of<float>(DType::float32, {static_cast<std::int64_t>(values.size())}, values);
}

TEST(Tensor, NudgeMovesEachFiniteFloatToANeighbour) {
  const std::vector<float> values{1.0f, -1.0f, 3.5e-42f, 65504.0f, std::numeric_limits<float>::max()};
  Tensor tensor = floats(values);
  Rng rng(7, "nudge");
  nudge_one_ulp(tensor, rng);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float moved = tensor.as<float>()[i];
    EXPECT_TRUE(moved == std::nextafterf(values[i], kInfinity) ||
                moved == std::nextafterf(values[i], -kInfinity) ||
                values[i] == std::numeric_limits<float>::max())
        << "seed 7, " << values[i] << " became " << moved;
    EXPECT_TRUE(std::isfinite(moved));
  }
}

TEST(Tensor, NudgeLeavesNaNInfinityAndIntegers) {
  Tensor special = floats({kNaN, kInfinity, -kInfinity});
  Tensor integers = Tensor::of<std::int64_t>(DType::int64, {1}, std::vector<std::int64_t>{5});
  const Tensor before = special, before_integers = integers;
  Rng rng(7, "nudge");
  nudge_one_ulp(special, rng);
  nudge_one_ulp(integers, rng);
  EXPECT_EQ(special, before);
  EXPECT_EQ(integers, before_integers);
}

TEST(Tensor, NudgeGoesBothWaysFromZero) {
  Tensor tensor = floats(std::vector<float>(64, 0.0f));
  Rng rng(7, "nudge");
  nudge_one_ulp(tensor, rng);
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_THAT(tensor.as<float>(), ::testing::Each(::testing::AnyOf(tiny, -tiny)));
  EXPECT_THAT(tensor.as<float>(), ::testing::Contains(tiny));
  EXPECT_THAT(tensor.as<float>(), ::testing::Contains(-tiny));
}

TEST(Tensor, HalvesGoThroughDoublesExactly) {
  const std::vector<double> values{0, 1, -2.5, 65504, 6e-8};
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    const Tensor once = from_doubles(dtype, {5}, values);
    EXPECT_EQ(from_doubles(dtype, {5}, to_doubles(once)), once) << graph::dtype_name(dtype);
    EXPECT_NEAR(to_doubles(once)[3], 65504, 300) << graph::dtype_name(dtype);
  }
  EXPECT_THROW(to_doubles({DType::int64, {0}, {}, {}}), ExecError);
}

TEST(Compare, IsTheLargestDifferenceOverTheLargestValue) {
  EXPECT_DOUBLE_EQ(compare(floats({1, 2, -4}), floats({1, 2.5, -4})).relative_error, 0.125);
  EXPECT_EQ(compare(floats({1, 2}), floats({1, 2})).relative_error, 0);
}

TEST(Compare, MeasuresAbsolutelyWhereTheReferenceIsZero) {
  EXPECT_DOUBLE_EQ(compare(floats({0, 0}), floats({0, 0.5})).relative_error, 0.5);
}

TEST(Compare, NaNAndInfinityMustAgreeInPlace) {
  EXPECT_EQ(compare(floats({kNaN, kInfinity, 1}), floats({kNaN, kInfinity, 1})).problem, "");
  EXPECT_NE(compare(floats({kNaN, 1}), floats({1, kNaN})).problem, "");
  EXPECT_NE(compare(floats({kInfinity}), floats({-kInfinity})).problem, "");
  EXPECT_NE(compare(floats({1}), floats({kNaN})).problem, "");
}

TEST(Compare, SequencesAreComparedItemByItem) {
  const auto sequence = [](std::vector<Tensor> items) {
    return Tensor{DType::float32, {}, {}, {}, Container::sequence, std::move(items)};
  };
  const Tensor own = sequence({floats({1, 2}), floats({4})});
  EXPECT_DOUBLE_EQ(compare(own, sequence({floats({1, 2}), floats({5})})).relative_error, 0.25);
  EXPECT_EQ(compare(own, own).relative_error, 0);
  EXPECT_NE(compare(own, sequence({floats({1, 2})})).problem, "") << "one is missing";
  EXPECT_NE(compare(own, sequence({floats({1}), floats({4})})).problem, "") << "one has another shape";
  EXPECT_NE(compare(own, sequence({floats({1, 2}), floats({kNaN})})).problem, "");
  EXPECT_NE(compare(own, {DType::float32, {}, {}, {}, Container::nothing}).problem, "");
}

TEST(Tensor, NudgeMovesWhatASequenceHolds) {
  Tensor sequence{DType::float32, {}, {}, {}, Container::sequence, {floats({1}), floats({2})}};
  Rng rng(7, "nudge");
  nudge_one_ulp(sequence, rng);
  EXPECT_NE(sequence.items[0], floats({1}));
  EXPECT_NE(sequence.items[1], floats({2}));
}

TEST(Compare, NamesTheElementOfPackedTypes) {
  const auto packed = [](int first) {
    return Tensor{DType::int4, {3}, {static_cast<std::byte>(first), std::byte{1}}, {}};
  };
  EXPECT_EQ(compare(packed(1), packed(1)).problem, "");
  EXPECT_EQ(compare(packed(1), packed(2)).problem, "int4 values differ at element 0");
}

TEST(Compare, IntegersStringsAndShapesAreExact) {
  const auto integers = [](std::vector<std::int64_t> v) {
    return Tensor::of<std::int64_t>(DType::int64, {2}, v);
  };
  EXPECT_EQ(compare(integers({1, 2}), integers({1, 2})).problem, "");
  EXPECT_EQ(compare(integers({1, 2}), integers({1, 3})).problem, "int64 values differ at element 1");
  EXPECT_NE(compare({DType::string, {1}, {}, {"a"}}, {DType::string, {1}, {}, {"b"}}).problem, "");
  EXPECT_EQ(compare(floats({1}), floats({1, 2})).problem, "float32[1] against float32[2]");
}

}  // namespace
}
