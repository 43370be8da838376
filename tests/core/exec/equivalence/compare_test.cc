#include "core/exec/equivalence/compare.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <utility>

namespace regraft::exec {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor reals(const std::vector<double>& values) {
  return from_doubles(DType::float64, {static_cast<std::int64_t>(values.size())}, values);
}

Difference compare_reals(const std::vector<double>& a, const std::vector<double>& b) {
  return compare(reals(a), reals(b));
}

TEST(Compare, AnErrorIsRelativeToTheLargestElement) {
  EXPECT_EQ(compare_reals({1, -4}, {1, -4}).relative_error, 0);
  EXPECT_DOUBLE_EQ(compare_reals({1, -4}, {1.5, -4}).relative_error, 0.125);
  EXPECT_EQ(compare_reals({0, 0}, {0, 3}).relative_error, 3) << "where all of it is zero, absolute";
  EXPECT_EQ(compare_reals({}, {}).relative_error, 0);
}

TEST(Compare, WhatIsNotFiniteMustBeTheSame) {
  EXPECT_EQ(compare_reals({kNaN, kInfinity, 2}, {kNaN, kInfinity, 1}).relative_error, 0.5);
  const std::vector<std::pair<double, double>> unlike{
      {kNaN, 1}, {1, kInfinity}, {kInfinity, -kInfinity}, {kNaN, kInfinity}};
  for (const auto& [a, b] : unlike) {
    const Difference difference = compare_reals({1, a}, {1, b});
    EXPECT_EQ(difference.relative_error, Difference::kUnbounded) << a << " " << b;
    EXPECT_TRUE(difference.problem.starts_with("element 1 is ")) << difference.problem;
  }
}

TEST(Compare, OtherTypesAreExact) {
  const auto integers = [](std::array<std::int64_t, 2> values) {
    return Tensor::of<std::int64_t>(DType::int64, {2}, values);
  };
  EXPECT_EQ(compare(integers({1, 2}), integers({1, 2})).relative_error, 0);
  EXPECT_EQ(compare(integers({1, 2}), integers({1, 258})).problem, "int64 values differ at element 1");
  const auto strings = [](std::vector<std::string> values) {
    Tensor tensor{DType::string, {2}, {}, {}};
    tensor.strings = std::move(values);
    return tensor;
  };
  EXPECT_EQ(compare(strings({"a", "b"}), strings({"a", "b"})).problem, "");
  EXPECT_EQ(compare(strings({"a", "b"}), strings({"a", "c"})).problem, "strings differ at element 1");
}

TEST(Compare, FormsMustBeTheSame) {
  EXPECT_EQ(compare_reals({1}, {1, 2}).problem, "float64[1] against float64[2]");
  Tensor other = from_doubles(DType::float32, {1}, std::array{1.0});
  EXPECT_FALSE(compare(reals({1}), other).problem.empty());
}

TEST(Compare, OfContainersTheLargestErrorOfAnItemCounts) {
  const auto sequence = [](const std::vector<double>& a, const std::vector<double>& b) {
    Tensor tensor{DType::float64, {}, {}, {}, Container::sequence};
    tensor.items = {reals(a), reals(b)};
    return tensor;
  };
  EXPECT_EQ(compare(sequence({1}, {2}), sequence({1}, {1})).relative_error, 0.5);
  EXPECT_TRUE(
      compare(sequence({1}, {2}), sequence({1}, {kNaN})).problem.starts_with("item 1: element 0 is "));
}

}  // namespace
}
