#include "core/rulegen/enumerate/linker.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/rulegen/enumerate/enumerator.h"

namespace regraft::rulegen {
namespace {

// What rules make of a graph computes the same.
TEST(Linker, RewritesKeepValues) {
  const OpTable table = op_table({"matmul", "add"});
  const PointEvaluator evaluator(table, 3);
  const auto form = [&](const std::string& name) {
    const auto at =
        std::find_if(table.forms.begin(), table.forms.end(), [&](const Form& f) { return f.name == name; });
    return static_cast<std::uint8_t>(at - table.forms.begin());
  };
  const std::uint8_t matmul = form("matmul");
  CodeRule associativity;  // (x0 x3) x4 = x0 (x3 x4), over leaves as they are numbered
  associativity.left.count = associativity.right.count = 2;
  associativity.left.nodes = {GraphCode::Node{matmul, {-1, -4}}, GraphCode::Node{matmul, {0, -5}}};
  associativity.right.nodes = {GraphCode::Node{matmul, {-4, -5}}, GraphCode::Node{matmul, {-1, 0}}};
  associativity.right_roots = {2};
  Linker linker(table);
  linker.add(associativity);
  Enumerator enumerator(table, evaluator, 3, {});
  std::size_t reached_graphs = 0;
  for (std::size_t unit = 0; unit < enumerator.units(); ++unit) {
    const std::vector<GraphRecord> found = enumerator.run(unit).value();
    for (const GraphRecord& record : found) {
      linker.visit(record.code, 0, [&](const GraphCode& reached) {
        if (!evaluator.well_typed(reached)) return;  // leaves of patterns have no shape
        auto before = evaluator.root_prints(record.code), after = evaluator.root_prints(reached);
        std::sort(before.begin(), before.end());
        std::sort(after.begin(), after.end());
        EXPECT_EQ(before, after);
        ++reached_graphs;
      });
    }
  }
  EXPECT_GT(reached_graphs, 100u);
}

}  // namespace
}
