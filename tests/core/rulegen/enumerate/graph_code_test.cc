#include "core/rulegen/enumerate/graph_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/base/rng.h"
#include "core/rulegen/enumerate/enumerator.h"

namespace regraft::rulegen {
namespace {

// Slow and obvious: all orders of the nodes, all renumberings.
TEST(GraphCode, CanonicalFormIsOneForAllOrders) {
  const OpTable table = op_table({"taso"});
  const PointEvaluator evaluator(table, 1);
  const std::uint64_t seed = 5;
  Rng rng(seed, "orders");
  Enumerator enumerator(table, evaluator, 3, {});
  std::size_t compared = 0;
  for (std::size_t unit = 0; unit < enumerator.units(); unit += 37) {
    const std::vector<GraphRecord> found = enumerator.run(unit).value();
    for (const GraphRecord& record : found) {
      if (record.code.count != 3 || rng.below(50) != 0) continue;
      std::array<std::size_t, 3> order = {0, 1, 2};
      do {
        GraphCode moved;
        moved.count = 3;
        bool fits = true;
        for (std::size_t at = 0; at < 3; ++at) {
          GraphCode::Node node = record.code.nodes[order[at]];
          for (std::int8_t& input : node.inputs) {
            if (input < 0 || input == GraphCode::kNoInput) continue;
            const auto producer = static_cast<std::size_t>(
                std::find(order.begin(), order.end(), static_cast<std::size_t>(input / 2)) - order.begin());
            fits = fits && producer < at;
            input = static_cast<std::int8_t>(2 * static_cast<int>(producer) + input % 2);
          }
          moved.nodes[at] = node;
        }
        if (!fits) continue;
        EXPECT_EQ(canonical(moved, table), record.code) << "seed " << seed;
        ++compared;
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
  EXPECT_GT(compared, 500u);
}

}  // namespace
}
