#include "core/rulegen/enumerate/enumerator.h"

#include <gtest/gtest.h>

namespace regraft::rulegen {
namespace {

TEST(Enumerator, AUnitIsWholeOrNotThere) {
  const OpTable table = op_table({"matmul", "add"});
  const PointEvaluator evaluator(table, 1);
  Enumerator roomy(table, evaluator, 3, {});
  std::size_t unit = 0, largest = 0;
  for (std::size_t u = 0; u < roomy.units(); ++u) {
    const std::size_t size = roomy.run(u).value().size();
    if (size > largest) unit = u, largest = size;
  }
  const auto wanted = roomy.run(unit).value();
  std::size_t polls = 0;
  Enumerator timed(table, evaluator, 3, {.is_over = [&] { return ++polls == 2; }});
  EXPECT_FALSE(timed.run(unit).has_value());
  EXPECT_EQ(timed.end(), Enumerator::End::time);
  EXPECT_EQ(polls, 2u);
  EXPECT_EQ(timed.run(unit).value(), wanted);  // the same enumerator, once more
  Enumerator narrow(table, evaluator, 3, {.bytes = largest * sizeof(GraphRecord) / 2});
  EXPECT_FALSE(narrow.run(unit).has_value());
  EXPECT_EQ(narrow.end(), Enumerator::End::memory);
  // In as many parts as there are looks at the clock.
  Enumerator hurried(table, evaluator, 3, {.is_over = [] { return true; }});
  UnitPart part;
  std::size_t parts = 0;
  auto found = hurried.run(unit);
  for (; !found; ++parts) {
    ASSERT_EQ(hurried.end(), Enumerator::End::time);
    const std::vector<std::uint32_t> before = part.way;
    part = hurried.part();
    ASSERT_GT(part.way, before) << "no further than before";
    found = hurried.run(unit, part);
  }
  EXPECT_GE(parts, 3u);
  EXPECT_EQ(*found, wanted);
  // Room for few results to be remembered, and for each record just so.
  Enumerator tight(table, evaluator, 3, {.bytes = 4 * largest * sizeof(GraphRecord) + 64});
  EXPECT_EQ(tight.run(unit).value(), wanted);
}

// Records that take all the room that they can get leave some for what is remembered.
TEST(Enumerator, ResultsAreRememberedWhateverTheLimitIs) {
  const OpTable table = op_table({"matmul", "add"});
  const PointEvaluator evaluator(table, 1);
  std::size_t runs = 0;
  for (std::size_t bytes = std::size_t{1} << 12; bytes <= std::size_t{1} << 24; bytes *= 2) {
    for (const std::size_t limit : {bytes - 1, bytes, bytes + bytes / 2}) {
      Enumerator enumerator(table, evaluator, 3, {.bytes = limit});
      for (std::size_t unit = 0; unit < enumerator.units(); unit += 5) {
        runs += enumerator.run(unit) ? 1 : 0;
        EXPECT_GE(enumerator.most_memo(), limit / 4 / 128) << limit;
      }
    }
  }
  EXPECT_GT(runs, 20u);
}

}  // namespace
}
