#include "core/proof/exact/field.h"

#include <gtest/gtest.h>

#include "core/base/rng.h"

namespace regraft::proof {
namespace {

TEST(Field, ComputesAsIntegersDo) {
  constexpr std::uint64_t seed = 7;
  SCOPED_TRACE(seed);
  Rng rng(seed, "field");
  for (int i = 0; i < 1000; ++i) {
    const auto a = static_cast<std::int64_t>(rng.below(1u << 29)) - (1 << 28);
    const auto b = static_cast<std::int64_t>(rng.below(1u << 29)) - (1 << 28);
    EXPECT_EQ(Field::add(Field::of(a), Field::of(b)), Field::of(a + b));
    EXPECT_EQ(Field::sub(Field::of(a), Field::of(b)), Field::of(a - b));
    EXPECT_EQ(Field::multiply(Field::of(a), Field::of(b)), Field::of(a * b));
    if (b != 0) {
      EXPECT_EQ(Field::multiply(Field::invert(Field::of(b)), Field::of(b)), 1u);
    }
  }
}

TEST(Field, HoldsDoublesExactly) {
  EXPECT_EQ(Field::of(3.0), 3u);
  EXPECT_EQ(Field::multiply(Field::of(0.375), 8), 3u);
  EXPECT_EQ(Field::add(Field::of(-0.1), Field::of(0.1)), 0u);
  EXPECT_EQ(Field::of(1e300), Field::multiply(Field::of(0x1p-200 * 1e300), Field::of(0x1p200)));
  EXPECT_EQ(Field::of(0.0), 0u);
}

}  // namespace
}
